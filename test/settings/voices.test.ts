import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVoices, type Voices } from '../../src/settings/voices.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { memoryStorage } from './memory-storage.ts';

const SERVER = { platform: 'discord', guild: 'guild', channel: 'music' };
const voice = (personaId: string, name: string) => ({
  personaId,
  name,
  savedBy: { id: 'ada', displayName: 'Ada' },
  savedAt: 1,
});
let storage: Storage;
let voices: Voices;

beforeEach(async () => {
  ({ storage } = await memoryStorage());
  voices = createVoices(storage);
});
afterEach(() => storage.close());

describe('voices', () => {
  it('belong to all channels of one server', async () => {
    await voices.save(SERVER, voice('p2', 'Warm'));
    await voices.save(SERVER, voice('p1', 'Cold'));
    const names = async (where: Parameters<Voices['list']>[0]) =>
      (await voices.list(where)).map(({ name }) => name);
    expect(await names({ ...SERVER, channel: 'other' })).toEqual(['Cold', 'Warm']);
    expect(await names({ ...SERVER, guild: 'another' })).toEqual([]);
    expect(await names({ ...SERVER, platform: 'slack' })).toEqual([]);
  });

  it('of direct messages stay in their conversation', async () => {
    const talk = { platform: 'discord', channel: 'dm-ada' };
    await voices.save(talk, voice('p1', 'Cold'));
    expect(await voices.list(talk)).toHaveLength(1);
    expect(await voices.list({ ...talk, channel: 'dm-bob' })).toEqual([]);
    expect(await voices.list({ ...talk, guild: 'dm-ada' })).toEqual([]);
  });

  it('saved twice are stored once, and taken names get a number', async () => {
    await voices.save(SERVER, voice('p1', 'Rainy'));
    await voices.save(SERVER, voice('p1', 'Renamed'));
    await voices.save(SERVER, voice('p2', 'rainy'));
    await voices.save(SERVER, voice('p3', 'Rainy'));
    expect((await voices.list(SERVER)).map(({ name }) => name)).toEqual(['Rainy', 'rainy 2', 'Rainy 3']);
  });

  it('saved at the same moment are all stored', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => voices.save(SERVER, voice(`p${n}`, 'Choir'))));
    expect(new Set((await voices.list(SERVER)).map(({ name }) => name)).size).toBe(20);
  });

  it('can be removed, once', async () => {
    await voices.save(SERVER, voice('p1', 'Rainy'));
    expect(await voices.remove(SERVER, 'p1')).toBe(true);
    expect(await voices.remove(SERVER, 'p1')).toBe(false);
    expect(await voices.list(SERVER)).toEqual([]);
  });

  it('can be saved again from the same audio after they were removed', async () => {
    await voices.save(SERVER, { ...voice('p1', 'Rainy'), audioId: 'audio' });
    await voices.remove(SERVER, 'p1');
    expect(await voices.removed(SERVER)).toEqual([{ personaId: 'p1', audioId: 'audio' }]);
    await voices.save(SERVER, { ...voice('p1', 'Rainy again'), audioId: 'audio' });
    expect(await voices.removed(SERVER)).toEqual([]);
    expect((await voices.list(SERVER)).map(({ name }) => name)).toEqual(['Rainy again']);
  });

  it('are never dropped for newer ones', async () => {
    const many = Array.from({ length: 500 }, (_, n) => voice(`p${n}`, `Voice ${n}`));
    await storage.settings.set('voices:discord:server:guild', { version: 1, voices: many });
    await voices.save(SERVER, voice('one more', 'One more'));
    expect(await voices.list(SERVER)).toHaveLength(501);
  });

  it('of a forgotten person are removed on that platform only', async () => {
    const slack = { ...SERVER, platform: 'slack' };
    await voices.save(SERVER, voice('p1', 'Rainy'));
    await voices.save(SERVER, { ...voice('p2', 'Sunny'), savedBy: { id: 'bob', displayName: 'Bob' } });
    await voices.save(slack, voice('p3', 'Windy'));
    await voices.forget('discord', 'ada');
    expect((await voices.list(SERVER)).map(({ name }) => name)).toEqual(['Sunny']);
    expect(await voices.list(slack)).toHaveLength(1);
  });

  it('of others lose the titles of a forgotten person’s songs', async () => {
    const bob = { id: 'bob', displayName: 'Bob' };
    const of = (personaId: string, songBy: string, description: string) => ({
      ...voice(personaId, personaId),
      description,
      savedFrom: '“Secret rain”, take 1',
      songBy,
      savedBy: bob,
    });
    const [song, own, otherVoice] = [
      of('p1', 'ada', 'The voice of “Secret rain”, take 1'),
      of('p2', 'ada', 'Warm and low'),
      of('p3', 'cy', 'The voice of “Secret rain”, take 1'),
    ];
    for (const each of [song, own, otherVoice]) await voices.save(SERVER, each);
    await voices.forget('discord', 'ada');
    expect(await voices.list(SERVER)).toEqual([
      { ...voice('p1', 'p1'), description: 'The voice of a song', savedBy: bob },
      { ...voice('p2', 'p2'), description: 'Warm and low', savedBy: bob },
      otherVoice,
    ]);
  });

  it('of a newer version are neither misread nor overwritten', async () => {
    const key = 'voices:discord:server:guild';
    await storage.settings.set(key, { version: 2, voices: {} });
    await expect(voices.list(SERVER)).rejects.toThrow(/This version cannot read the settings/);
    await expect(voices.save(SERVER, voice('p1', 'Rainy'))).rejects.toThrow();
    expect(await storage.settings.get(key)).toEqual({ version: 2, voices: {} });
  });
});
