import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { MediaStore, RetentionOptions } from '../../src/media/store/media-store.ts';
import { bytesOf, chunks, mp3 } from '../media/helpers.ts';

interface MediaStoreHarness {
  store: MediaStore;
  /** Names of all stored files, including incomplete ones. */
  everything(): Promise<string[]>;
  /** Changes the time a file was stored. */
  setStoredAt(name: string, time: number): Promise<void>;
}

type MediaStoreUnderTest = (options: RetentionOptions & { now: () => number }) => Promise<MediaStoreHarness>;

const now = Date.UTC(2031, 4, 5);
const hour = 3_600_000;

/** The contract of every media store. */
export function mediaStoreContract(implementation: string, open: MediaStoreUnderTest): void {
  const openStore = (options: RetentionOptions = {}) => open({ now: () => now, ...options });
  const put = (store: MediaStore, content: string, extension = 'txt') =>
    store.put(chunks(content), { extension });

  describe(`${implementation} stores files`, () => {
    test('under the hash of their content, with the content type of their extension', async () => {
      const { store } = await openStore();
      const song = mp3(300);

      const stored = await store.put(chunks(song.subarray(0, 1000), song.subarray(1000)), {
        extension: 'mp3',
      });

      const sha256 = createHash('sha256').update(song).digest('hex');
      expect(stored).toEqual({ name: `${sha256}.mp3`, bytes: song.length, contentType: 'audio/mpeg' });
      expect(await store.stat(stored.name)).toEqual(stored);
      const opened = await store.open(stored.name);
      expect(opened).toMatchObject({ bytes: song.length, contentType: 'audio/mpeg' });
      expect(opened && (await bytesOf(opened.stream)).equals(song)).toBe(true);
    });

    test('once, even if the same content is stored concurrently', async () => {
      const { store, everything } = await openStore();

      const stored = await Promise.all(Array.from({ length: 5 }, () => put(store, 'the same')));

      expect(new Set(stored.map(({ name }) => name)).size).toBe(1);
      expect(await everything()).toEqual([stored[0]?.name]);
    });

    test('without bytes', async () => {
      const { store } = await openStore();
      const { name } = await put(store, '');
      const opened = await store.open(name);
      expect(opened?.bytes).toBe(0);
      expect(opened && (await bytesOf(opened.stream)).length).toBe(0);
    });

    test('of many megabytes, byte for byte', async () => {
      const { store } = await openStore();
      const part = randomBytes(1 << 20);
      const stored = await store.put(chunks(...Array.from({ length: 12 }, () => part)), { extension: 'bin' });
      const opened = await store.open(stored.name);
      const hash = createHash('sha256');
      for await (const chunk of opened?.stream ?? []) hash.update(chunk);
      expect(`${hash.digest('hex')}.bin`).toBe(stored.name);
    });
  });

  describe(`${implementation} reads ranges`, () => {
    test.each([
      { range: { start: 0 }, part: 'rain on tin' },
      { range: { start: 0, end: 3 }, part: 'rain' },
      { range: { start: 8, end: 10 }, part: 'tin' },
      { range: { start: 8 }, part: 'tin' },
      { range: { start: 8, end: 999 }, part: 'tin' },
      { range: { start: 10, end: 10 }, part: 'n' },
    ])('$range is "$part"', async ({ range, part }) => {
      const { store } = await openStore();
      const { name } = await put(store, 'rain on tin');
      const opened = await store.open(name, range);
      expect(opened?.bytes).toBe(11);
      expect(opened && String(await bytesOf(opened.stream))).toBe(part);
    });

    test('and rejects ranges outside the file', async () => {
      const { store } = await openStore();
      const { name } = await put(store, 'rain on tin');
      await expect(store.open(name, { start: 11 })).rejects.toThrow(RangeError);
      await expect(store.open(name, { start: 5, end: 3 })).rejects.toThrow(RangeError);
      const empty = await put(store, '');
      await expect(store.open(empty.name, { start: 0 })).rejects.toThrow(RangeError);
    });
  });

  describe(`${implementation} does not store`, () => {
    test('part of a file when its source fails, and passes on the error', async () => {
      const { store, everything } = await openStore();
      async function* broken() {
        yield Buffer.from('half a ');
        throw Object.assign(new Error('the line went dead'), { code: 'CANCELLED' });
      }
      await expect(store.put(broken(), { extension: 'txt' })).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await everything()).toEqual([]);
    });

    test('a file that is larger than the quota', async () => {
      const { store, everything } = await openStore({ quotaBytes: 5 });
      await expect(put(store, 'longer than that')).rejects.toMatchObject({
        code: 'too-large',
        retryable: false,
      });
      expect(await everything()).toEqual([]);
    });

    test('a file with a path as its extension', async () => {
      const { store } = await openStore();
      for (const extension of ['../../etc/passwd', 'a/b', '', 'mp3\0', '.mp3']) {
        await expect(put(store, 'content', extension)).rejects.toThrow(TypeError);
      }
    });
  });

  describe(`${implementation} does not find`, () => {
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
      const { store } = await openStore();
      await put(store, 'something');
      expect(await store.stat(name)).toBeUndefined();
      expect(await store.open(name)).toBeUndefined();
      await store.remove(name);
    });

    test('a removed file', async () => {
      const { store } = await openStore();
      const { name } = await put(store, 'gone soon');
      await store.remove(name);
      await store.remove(name);
      expect(await store.stat(name)).toBeUndefined();
    });
  });

  describe(`${implementation} prunes`, () => {
    test('files older than the retention', async () => {
      const { store, everything, setStoredAt } = await openStore({ retentionMs: 24 * hour });
      const old = await put(store, 'old');
      const young = await put(store, 'young');
      await setStoredAt(old.name, now - 25 * hour);
      await setStoredAt(young.name, now - 23 * hour);

      expect(await store.prune()).toEqual({ removed: 1, removedBytes: 3, storedBytes: 5 });
      expect(await everything()).toEqual([young.name]);
    });

    test('the oldest files when the quota is exceeded', async () => {
      let time = now;
      const { store, everything, setStoredAt } = await open({ now: () => time, quotaBytes: 10 });
      const storeAnHourLater = async (content: string) => {
        time += hour;
        const { name } = await put(store, content);
        await setStoredAt(name, time);
        return name;
      };
      const first = await storeAnHourLater('aaa');
      const second = await storeAnHourLater('bbb');
      const third = await storeAnHourLater('ccc');
      // Storing it again makes the first one the newest.
      await storeAnHourLater('aaa');
      const last = await storeAnHourLater('dddd');

      await store.prune();

      expect((await everything()).sort()).toEqual([first, third, last].sort());
      expect(await store.stat(second)).toBeUndefined();
    });

    test('nothing without limits', async () => {
      const { store, setStoredAt } = await openStore();
      const { name } = await put(store, 'for ever');
      await setStoredAt(name, now - 100_000 * hour);
      expect(await store.prune()).toEqual({ removed: 0, removedBytes: 0, storedBytes: 8 });
      expect(await store.stat(name)).toBeDefined();
    });
  });
}
