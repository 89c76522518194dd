import { expect, test } from 'vitest';
import type { StorageUnderTest } from './storage.ts';

/** Concurrent changes, and listing for a move to another storage. */
export function settingsContract(current: StorageUnderTest): void {
  const settings = () => current.storage.settings;

  test('loses no concurrent update', async () => {
    const add = (name: string) =>
      settings().update('discord:guild', (value) => [...(Array.isArray(value) ? value : []), name]);
    const names = Array.from({ length: 20 }, (_, index) => `edit ${index}`);
    await Promise.all(names.map(add));
    const stored = await settings().get('discord:guild');
    expect(stored).toHaveLength(20);
    expect(new Set(stored as string[])).toEqual(new Set(names));
  });

  test('an update receives the current value and stores its result', async () => {
    await settings().set('a', { count: 1 });
    const stored = await settings().update('a', (value) => ({ before: value }));
    expect(stored).toEqual({ before: { count: 1 } });
    await current.reopen();
    expect(await settings().get('a')).toEqual({ before: { count: 1 } });
  });

  test('an update that returns its input writes nothing', async () => {
    expect(await settings().update('nothing', (value) => value)).toBeUndefined();
    expect(await Array.fromAsync(settings().keys())).toEqual([]);
  });

  test('an update that throws changes nothing', async () => {
    await settings().set('a', 1);
    const refusal = settings().update('a', () => {
      throw new RangeError('no');
    });
    await expect(refusal).rejects.toThrow(RangeError);
    expect(await settings().get('a')).toBe(1);
  });

  test('lists all keys', async () => {
    await settings().set('discord:guild', { text: 'Sei kurz 🎵' });
    await settings().set('discord:guild:channel', [1, null]);
    expect((await Array.fromAsync(settings().keys())).sort()).toEqual([
      'discord:guild',
      'discord:guild:channel',
    ]);
    expect(await Array.fromAsync(settings().keys('discord:guild:'))).toEqual(['discord:guild:channel']);
    expect(await settings().get('discord:guild')).toEqual({ text: 'Sei kurz 🎵' });
    expect(await settings().get('discord:guild:channel')).toEqual([1, null]);
  });

  test.each(['', '{"value":{"rul', 'no JSON', 'null', '7'])(
    'the damaged value %j counts as not set, is logged once, and can be overwritten',
    async (text) => {
      await settings().set('discord:guild', { rules: [] });
      await current.damageSetting('discord:guild', text);
      expect(await settings().get('discord:guild')).toBeUndefined();
      expect(await settings().get('discord:guild')).toBeUndefined();
      expect(current.log.lines.filter(({ level }) => level === 'error')).toEqual([
        expect.objectContaining({ fields: { key: 'discord:guild' } }),
      ]);
      await settings().update('discord:guild', (before) => before ?? { rules: ['new'] });
      expect(await settings().get('discord:guild')).toEqual({ rules: ['new'] });
    },
  );
}
