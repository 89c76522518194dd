import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MediaError } from '../../../src/media/errors.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import { removeOldest } from '../../../src/media/store/media-store.ts';
import { mediaStoreContract } from '../../contracts/media-store.ts';
import { bytesOf, chunks, temporaryFolder } from '../helpers.ts';

mediaStoreContract('the folder', async (options) => {
  const directory = await temporaryFolder();
  return {
    store: createFolderStore({ directory, ...options }),
    everything: async () => {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    setStoredAt: (name, time) => utimes(join(directory, name), time / 1000, time / 1000),
  };
});

describe('the folder', () => {
  const now = () => Date.UTC(2031, 4, 5);

  test('counts a file that another replica has stored again as new', async () => {
    const directory = await temporaryFolder();
    let time = now();
    const store = createFolderStore({ directory, now: () => time, quotaBytes: 12 });
    const shared = await store.put(chunks('aaaaaa'), { extension: 'txt' });
    time += 60_000;
    const other = await store.put(chunks('bbbb'), { extension: 'txt' });
    time += 60_000;
    await createFolderStore({ directory, now: () => time }).put(chunks('aaaaaa'), { extension: 'txt' });
    time += 60_000;
    const third = await store.put(chunks('cccccc'), { extension: 'txt' });
    await store.prune();
    expect(await store.stat(shared.name)).toBeDefined();
    expect(await store.stat(other.name)).toBeUndefined();
    expect(await store.stat(third.name)).toBeDefined();
  });

  test('stores files that other users of the machine cannot read', async () => {
    const directory = join(await temporaryFolder(), 'media');
    const { name } = await createFolderStore({ directory, now }).put(chunks('a song'), { extension: 'txt' });
    const modes = [directory, join(directory, name)].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  test('closes once the file that is being stored is complete', async () => {
    const directory = await temporaryFolder();
    const store = createFolderStore({ directory, now });
    const { promise: rest, resolve } = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from('first ');
      await rest;
      yield Buffer.from('second');
    }
    const put = store.put(slow(), { extension: 'txt' });
    const closing = store.close().then(() => 'closed');
    const stored = put.then(() => 'stored');
    resolve();
    expect(await Promise.race([stored, closing])).toBe('stored');
    expect(await closing).toBe('closed');
  });

  test('removes old files next to one that cannot be removed, and throws its error', async () => {
    const entries = ['stubborn', 'old', 'young'].map((name, storedAt) => ({ name, bytes: 10, storedAt }));
    const tried: string[] = [];
    const pruned = removeOldest(entries, { quotaBytes: 10, now }, async ({ name }) => {
      tried.push(name);
      if (name === 'stubborn') throw new MediaError('store', 'It stays');
      return true;
    });
    await expect(pruned).rejects.toThrow('It stays');
    expect(tried).toEqual(['stubborn', 'old', 'young']);
  });

  test('reads a file to its end although it is removed meanwhile', async () => {
    const store = createFolderStore({ directory: await temporaryFolder(), now });
    const content = 'x'.repeat(500_000);
    const { name } = await store.put(chunks(content), { extension: 'txt' });
    const opened = await store.open(name);
    await store.remove(name);
    expect(opened && (await bytesOf(opened.stream)).length).toBe(content.length);
  });

  test('deletes unfinished files of processes that died, and no others', async () => {
    const directory = await temporaryFolder();
    const incoming = join(directory, 'incoming');
    await mkdir(incoming);
    await writeFile(join(incoming, 'abandoned'), 'half');
    await writeFile(join(incoming, 'under-way'), 'half');
    await utimes(join(incoming, 'abandoned'), now() / 1000 - 2 * 86_400, now() / 1000 - 2 * 86_400);
    await utimes(join(incoming, 'under-way'), now() / 1000, now() / 1000);
    await createFolderStore({ directory, now }).prune();
    expect(await readdir(incoming)).toEqual(['under-way']);
  });

  test("ignores other programs' files", async () => {
    const directory = await temporaryFolder();
    await writeFile(join(directory, 'notes.txt'), 'mine');
    const store = createFolderStore({ directory, now, retentionMs: 1, quotaBytes: 1 });
    await utimes(join(directory, 'notes.txt'), 1, 1);
    await store.prune();
    expect(await readdir(directory)).toContain('notes.txt');
  });

  // Every write to this device fails with a full disk.
  test.runIf(existsSync('/dev/full'))(
    'throws if the disk is full, and works again with free space',
    async () => {
      const directory = await temporaryFolder();
      let full = true;
      const openForWriting = (path: string) =>
        createWriteStream(full ? '/dev/full' : path, { flags: full ? 'w' : 'wx', flush: !full });
      const store = createFolderStore({ directory, now, openForWriting });

      const refused = store.put(chunks('a song'), { extension: 'txt' });
      await expect(refused).rejects.toMatchObject({ code: 'disk-full', retryable: true });

      full = false;
      expect(await store.put(chunks('a song'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
    },
  );

  test('throws if the folder cannot be used, and works again once it can', async () => {
    const directory = join(await temporaryFolder(), 'media');
    await writeFile(directory, 'a file where the folder should be');
    const store = createFolderStore({ directory, now });
    const refused = store.put(chunks('a song'), { extension: 'txt' });
    await expect(refused).rejects.toMatchObject({ code: 'store', retryable: true });

    await rm(directory);
    expect(await store.put(chunks('a song'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
  });
});
