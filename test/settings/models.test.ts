import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Moderation } from '../../src/moderation.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { type Administered, administer } from './administration.ts';
import { memoryStorage } from './memory-storage.ts';
import { HERE, MOD } from './places.ts';

let storage: Storage;
let house: Administered;
let mod: Moderation;

beforeEach(async () => {
  const opened = await memoryStorage();
  storage = opened.storage;
  house = administer(opened);
  house.list.offer(['chat-small', 'Chat Large=chat-large', 'canvas-plus', 'seer']);
  mod = house.moderation(HERE, MOD);
});
afterEach(() => storage.close());

const ELSEWHERE = { ...HERE, channel: 'elsewhere' };
const THREAD = { ...HERE, channel: 'thread', parent: HERE.channel };
const resolve = (where = HERE, named?: string) => house.models.resolve('ask', named, where);
const inForce = async (where: typeof HERE = HERE) =>
  (await house.models.inForce(where)).find(({ family }) => family === 'ask');

describe('which model is used', () => {
  test('the named one, else the channel’s, else the server’s, else the deployment’s', async () => {
    expect(await resolve()).toBe('chat:chat-small');
    await mod.models.choose('ask', 'msg:seer', 'server');
    expect(await resolve()).toBe('msg:seer');
    await mod.models.choose('ask', 'chat-large', 'channel');
    expect(await resolve()).toBe('chat-large');
    expect(await house.models.resolve('ask', undefined, ELSEWHERE)).toBe('msg:seer');
    expect(await resolve(HERE, 'gen:chat-small')).toBe('gen:chat-small');
    expect(await house.models.resolve('song', undefined, HERE)).toBe('V5');
  });

  test('a thread belongs to its channel, for reading and for choosing', async () => {
    await mod.models.choose('ask', 'chat-large', 'channel');
    expect(await house.models.resolve('ask', undefined, THREAD)).toBe('chat-large');
    await house.moderation(THREAD, MOD).models.choose('ask', 'seer', 'channel');
    expect(await resolve()).toBe('seer');
  });

  test('another server and another platform are not touched', async () => {
    await mod.models.choose('ask', 'chat-large', 'server');
    for (const where of [
      { ...HERE, guild: 'another' },
      { ...HERE, platform: 'slack' },
      { platform: 'discord', channel: 'channel', person: 'ada' },
    ]) {
      expect(await house.models.resolve('ask', undefined, where)).toBe('chat:chat-small');
    }
  });

  test('show says what is in force and why', async () => {
    expect(await inForce()).toEqual({
      family: 'ask',
      model: 'chat:chat-small',
      from: 'deployment',
      gone: [],
    });
    await mod.models.choose('ask', 'chat-large', 'server');
    expect(await inForce()).toMatchObject({ from: 'server', chosenBy: { displayName: 'Mod' } });
    await mod.models.choose('ask', 'seer', 'channel');
    expect(await inForce()).toMatchObject({ model: 'seer', from: 'channel' });
    expect((await house.models.inForce(HERE)).find(({ family }) => family === 'video')).toEqual({
      family: 'video',
      from: 'nobody',
      gone: [],
    });
  });

  test('taking a choice back lets the next one decide', async () => {
    await mod.models.choose('ask', 'chat-large', 'server');
    await mod.models.choose('ask', 'seer', 'channel');
    expect(await mod.models.reset('ask', 'channel')).toBe(true);
    expect(await resolve()).toBe('chat-large');
    expect(await mod.models.reset('ask', 'channel')).toBe(false);
  });
});

describe('choosing', () => {
  test('an id that the account may not use is refused with the nearest, and nothing changes', async () => {
    await expect(mod.models.choose('ask', 'chat-smalll', 'channel')).rejects.toThrow(
      'This account has no model “chat-smalll”. Did you mean “chat-small” or “chat-large”?',
    );
    expect(await inForce()).toMatchObject({ from: 'deployment' });
  });

  test('a display name is answered with its id, also behind a route', async () => {
    expect(await mod.models.choose('ask', 'chat large', 'channel')).toEqual({
      model: 'chat-large',
      label: 'chat large',
      checked: true,
    });
    expect(await mod.models.choose('ask', 'msg:Chat Large', 'channel')).toMatchObject({
      model: 'msg:chat-large',
    });
    expect(await resolve()).toBe('msg:chat-large');
  });

  test('a route that the family does not have is part of the name, and refused as such', async () => {
    await expect(mod.models.choose('video', 'msg:seer', 'channel')).rejects.toThrow('no model “msg:seer”');
    await expect(mod.models.choose('image', 'chat:seer', 'channel')).rejects.toThrow('no model');
    expect(await mod.models.choose('image', 'gen:seer', 'channel')).toMatchObject({ model: 'gen:seer' });
  });

  test('song models are the contract’s', async () => {
    expect(await mod.models.choose('song', 'v4_5', 'server')).toMatchObject({ model: 'V4_5' });
    await expect(mod.models.choose('song', 'V9', 'server')).rejects.toThrow('The song models are V4');
  });

  test('without a list nothing is refused, and it says that nothing was checked', async () => {
    house.list.offered = undefined;
    expect(await mod.models.choose('ask', 'brand-new', 'channel')).toMatchObject({ checked: false });
  });
});

describe('a chosen model that disappears', () => {
  beforeEach(async () => {
    await mod.models.choose('ask', 'seer', 'server');
    await mod.models.choose('ask', 'msg:chat-large', 'channel');
    house.list.offer(['chat-small', 'seer']);
  });

  test('falls back to the next choice, and whoever chose it is told, once', async () => {
    expect(await resolve()).toBe('seer');
    expect(await resolve()).toBe('seer');
    expect(house.told).toHaveLength(1);
    expect(house.told[0]?.address).toMatchObject({ guild: 'guild', channel: 'channel', person: 'mod' });
    expect(house.told[0]?.message.text).toContain('chosen for answers in this channel');
    expect(house.told[0]?.message.text).toContain('seer');
    expect(house.log.lines).toContainEqual(expect.objectContaining({ level: 'warn' }));
  });

  test('many who ask at once make one telling', async () => {
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => resolve())))).toEqual(
      new Set(['seer']),
    );
    expect(house.told).toHaveLength(1);
  });

  test('falls back to the deployment’s when all choices are gone; show says it', async () => {
    house.list.offer(['chat-small']);
    expect(await resolve()).toBe('chat:chat-small');
    expect(house.told).toHaveLength(2);
    expect(await inForce()).toEqual({
      family: 'ask',
      model: 'chat:chat-small',
      from: 'deployment',
      gone: [
        { model: 'msg:chat-large', from: 'channel' },
        { model: 'seer', from: 'server' },
      ],
    });
  });

  test('is used again when it comes back, and a new choice can be lost and told anew', async () => {
    await resolve();
    house.list.offer(['chat-small', 'seer', 'chat-large']);
    expect(await resolve()).toBe('msg:chat-large');
    await mod.models.choose('ask', 'chat-large', 'channel');
    house.list.offer(['seer']);
    await resolve();
    expect(house.told).toHaveLength(2);
  });

  test('an old list is looked at again before anybody is told', async () => {
    house.list.refresh = async () => {
      house.list.offer(['chat-small', 'seer', 'chat-large']);
      return house.list.list();
    };
    expect(await resolve()).toBe('msg:chat-large');
    expect(house.told).toEqual([]);
  });

  test('a moderator who cannot be reached keeps nothing from working', async () => {
    const deaf = administer({ storage, clock: { now: () => 0 } });
    deaf.list.offer(['seer']);
    deaf.told.push = () => {
      throw new TypeError('away');
    };
    expect(await deaf.models.resolve('ask', undefined, HERE)).toBe('seer');
    expect(deaf.log.lines.map(({ sentence }) => sentence)).toContain(
      'Nobody could be told that a model is gone; /models show says it',
    );
  });
});

test('how questions are answered: the channel’s over the server’s over the default', async () => {
  expect(await mod.answers.inForce()).toEqual({
    assistant: { on: false, from: 'deployment' },
    footer: { on: true, from: 'deployment' },
  });
  await mod.answers.change({ systemPrompt: 'Be brief.', assistant: true }, 'server');
  await mod.answers.change({ systemPrompt: 'Speak like a pirate.', footer: false }, 'channel');
  expect(await mod.answers.inForce()).toEqual({
    systemPrompt: { text: 'Speak like a pirate.', from: 'channel' },
    assistant: { on: true, from: 'server' },
    footer: { on: false, from: 'channel' },
  });
  expect(await mod.answers.reset('systemPrompt', 'channel')).toBe(true);
  expect((await mod.answers.inForce()).systemPrompt).toEqual({ text: 'Be brief.', from: 'server' });
});
