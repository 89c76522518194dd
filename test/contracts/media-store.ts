import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { MediaStore, RetentionOptions } from '../../src/media/store/media-store.ts';
import { bytesOf, chunks, mp3 } from '../media/helpers.ts';

interface MediaStoreHarness {
  store: MediaStore;
  /** Names of everything that lies there, whole or not. */
  everything(): Promise<string[]>;
  /** Moves the time a file was kept. */
  setKeptAt(name: string, time: number): Promise<void>;
}

type MediaStoreUnderTest = (options: RetentionOptions & { now: () => number }) => Promise<MediaStoreHarness>;

const now = Date.UTC(2031, 4, 5);
const hour = 3_600_000;

/** What every store of files has to do. */
export function mediaStoreContract(implementation: string, open: MediaStoreUnderTest): void {
  const fresh = (options: RetentionOptions = {}) => open({ now: () => now, ...options });
  const keep = (store: MediaStore, content: string, extension = 'txt') =>
    store.put(chunks(content), { extension });

  describe(`${implementation} keeps files`, () => {
    test('under the hash of their content, whole, with the type of their extension', async () => {
      const { store } = await fresh();
      const song = mp3(300);

      const kept = await store.put(chunks(song.subarray(0, 1000), song.subarray(1000)), { extension: 'mp3' });

      const sha256 = createHash('sha256').update(song).digest('hex');
      expect(kept).toEqual({ name: `${sha256}.mp3`, bytes: song.length, contentType: 'audio/mpeg' });
      expect(await store.stat(kept.name)).toEqual(kept);
      const opened = await store.open(kept.name);
      expect(opened).toMatchObject({ bytes: song.length, contentType: 'audio/mpeg' });
      expect(opened && (await bytesOf(opened.stream)).equals(song)).toBe(true);
    });

    test('once, however often they come, and at the same moment too', async () => {
      const { store, everything } = await fresh();

      const kept = await Promise.all(Array.from({ length: 5 }, () => keep(store, 'the same')));

      expect(new Set(kept.map(({ name }) => name)).size).toBe(1);
      expect(await everything()).toEqual([kept[0]?.name]);
    });

    test('of no bytes at all', async () => {
      const { store } = await fresh();
      const { name } = await keep(store, '');
      const opened = await store.open(name);
      expect(opened?.bytes).toBe(0);
      expect(opened && (await bytesOf(opened.stream)).length).toBe(0);
    });

    test('of many megabytes, byte for byte', async () => {
      const { store } = await fresh();
      const part = randomBytes(1 << 20);
      const kept = await store.put(chunks(...Array.from({ length: 12 }, () => part)), { extension: 'bin' });
      const opened = await store.open(kept.name);
      const hash = createHash('sha256');
      for await (const chunk of opened?.stream ?? []) hash.update(chunk);
      expect(`${hash.digest('hex')}.bin`).toBe(kept.name);
    });
  });

  describe(`${implementation} gives parts of files`, () => {
    test.each([
      { range: { start: 0 }, part: 'rain on tin' },
      { range: { start: 0, end: 3 }, part: 'rain' },
      { range: { start: 8, end: 10 }, part: 'tin' },
      { range: { start: 8 }, part: 'tin' },
      { range: { start: 8, end: 999 }, part: 'tin' },
      { range: { start: 10, end: 10 }, part: 'n' },
    ])('$range is "$part"', async ({ range, part }) => {
      const { store } = await fresh();
      const { name } = await keep(store, 'rain on tin');
      const opened = await store.open(name, range);
      expect(opened?.bytes).toBe(11);
      expect(opened && String(await bytesOf(opened.stream))).toBe(part);
    });

    test('and refuses those that do not lie within', async () => {
      const { store } = await fresh();
      const { name } = await keep(store, 'rain on tin');
      await expect(store.open(name, { start: 11 })).rejects.toThrow(RangeError);
      await expect(store.open(name, { start: 5, end: 3 })).rejects.toThrow(RangeError);
      const empty = await keep(store, '');
      await expect(store.open(empty.name, { start: 0 })).rejects.toThrow(RangeError);
    });
  });

  describe(`${implementation} does not keep`, () => {
    test('half a file when its source fails, whose error is passed on', async () => {
      const { store, everything } = await fresh();
      async function* broken() {
        yield Buffer.from('half a ');
        throw Object.assign(new Error('the line went dead'), { code: 'CANCELLED' });
      }
      await expect(store.put(broken(), { extension: 'txt' })).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await everything()).toEqual([]);
    });

    test('a file that is larger than all the space there is', async () => {
      const { store, everything } = await fresh({ quotaBytes: 5 });
      await expect(keep(store, 'longer than that')).rejects.toMatchObject({
        code: 'too-large',
        retryable: false,
      });
      expect(await everything()).toEqual([]);
    });

    test('anything under a name that is a path', async () => {
      const { store } = await fresh();
      for (const extension of ['../../etc/passwd', 'a/b', '', 'mp3\0', '.mp3']) {
        await expect(keep(store, 'content', extension)).rejects.toThrow(TypeError);
      }
    });
  });

  describe(`${implementation} knows nothing of`, () => {
    const unknown = `${'0'.repeat(64)}.mp3`;
    test.each([
      unknown,
      '../secret',
      '/etc/passwd',
      '..',
      '',
      'incoming',
      `${unknown}/..`,
      `..%2f${unknown}`,
    ])('%j', async (name) => {
      const { store } = await fresh();
      await keep(store, 'something');
      expect(await store.stat(name)).toBeUndefined();
      expect(await store.open(name)).toBeUndefined();
      await store.remove(name);
    });

    test('a file that was removed', async () => {
      const { store } = await fresh();
      const { name } = await keep(store, 'gone soon');
      await store.remove(name);
      await store.remove(name);
      expect(await store.stat(name)).toBeUndefined();
    });
  });

  describe(`${implementation} lets go`, () => {
    test('of what is older than the retention', async () => {
      const { store, everything, setKeptAt } = await fresh({ retentionMs: 24 * hour });
      const old = await keep(store, 'old');
      const young = await keep(store, 'young');
      await setKeptAt(old.name, now - 25 * hour);
      await setKeptAt(young.name, now - 23 * hour);

      expect(await store.prune()).toEqual({ removed: 1, removedBytes: 3 });
      expect(await everything()).toEqual([young.name]);
    });

    test('of the oldest first when there is too much', async () => {
      let time = now;
      const { store, everything, setKeptAt } = await open({ now: () => time, quotaBytes: 10 });
      const keepAnHourLater = async (content: string) => {
        time += hour;
        const { name } = await keep(store, content);
        await setKeptAt(name, time);
        return name;
      };
      const first = await keepAnHourLater('aaa');
      const second = await keepAnHourLater('bbb');
      const third = await keepAnHourLater('ccc');
      // Kept again, the first is the youngest.
      await keepAnHourLater('aaa');
      const last = await keepAnHourLater('dddd');

      await store.prune();

      expect((await everything()).sort()).toEqual([first, third, last].sort());
      expect(await store.stat(second)).toBeUndefined();
    });

    test('of nothing when operators set no bounds', async () => {
      const { store, setKeptAt } = await fresh();
      const { name } = await keep(store, 'for ever');
      await setKeptAt(name, now - 100_000 * hour);
      expect(await store.prune()).toEqual({ removed: 0, removedBytes: 0 });
      expect(await store.stat(name)).toBeDefined();
    });
  });
}
