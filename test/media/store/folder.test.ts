import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import { removeExpendable } from '../../../src/media/store/store.ts';
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
    setKeptAt: (name, time) => utimes(join(directory, name), time / 1000, time / 1000),
  };
});

describe('the folder', () => {
  const now = () => Date.UTC(2031, 4, 5);

  test('makes space for a new file at once, and never lets the new one go', async () => {
    let time = now();
    const store = createFolderStore({ directory: await temporaryFolder(), now: () => time, quotaBytes: 10 });
    const first = await store.put(chunks('aaaaaa'), { extension: 'txt' });
    time += 1000;
    const second = await store.put(chunks('bbbbbbbbbb'), { extension: 'txt' });
    expect(await store.stat(first.name)).toBeUndefined();
    expect(await store.stat(second.name)).toBeDefined();
  });

  test('keeps what another replica has kept anew since this one looked', async () => {
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
    expect(await store.stat(shared.name)).toBeDefined();
    expect(await store.stat(other.name)).toBeUndefined();
    expect(await store.stat(third.name)).toBeDefined();
  });

  test('keeps files where no one else on the machine reads them', async () => {
    const directory = join(await temporaryFolder(), 'media');
    const { name } = await createFolderStore({ directory, now }).put(chunks('a song'), { extension: 'txt' });
    const modes = [directory, join(directory, name)].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  test('keeps a file also where an old one cannot be looked at or removed', async () => {
    const directory = await temporaryFolder();
    const unreadable = `${'0'.repeat(64)}.txt`;
    await symlink(unreadable, join(directory, unreadable));
    // A folder of such a name cannot be removed as a file.
    const stubborn = `${'1'.repeat(64)}.txt`;
    const store = createFolderStore({ directory, now, quotaBytes: 10 });
    expect(await store.put(chunks('aaaaaa'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
    const first = await store.put(chunks('bbbbbb'), { extension: 'txt' });
    await rm(join(directory, first.name));
    await mkdir(join(directory, first.name));
    await writeFile(join(directory, first.name, stubborn), 'x');
    const second = await store.put(chunks('cccccccc'), { extension: 'txt' });
    expect(await store.stat(second.name)).toBeDefined();
  });

  test('keeps files, and makes space for them, after one look at the folder failed', async () => {
    const directory = join(await temporaryFolder(), 'media');
    let time = now();
    const store = createFolderStore({ directory, now: () => time, quotaBytes: 10 });
    await writeFile(directory, 'a file where the folder should be');
    await expect(store.prune()).rejects.toMatchObject({ code: 'store' });
    await rm(directory);

    const first = await store.put(chunks('aaaaaa'), { extension: 'txt' });
    time += 1000;
    const second = await store.put(chunks('bbbbbb'), { extension: 'txt' });
    expect(await store.stat(first.name)).toBeUndefined();
    expect(await store.stat(second.name)).toMatchObject({ bytes: 6 });
  });

  test('knows after a restart how full it is', async () => {
    const directory = await temporaryFolder();
    let time = now();
    const options = { directory, now: () => time, quotaBytes: 10 };
    const before = await createFolderStore(options).put(chunks('aaaaaa'), { extension: 'txt' });
    time += 1000;
    const restarted = createFolderStore(options);
    await restarted.put(chunks('bbbbbb'), { extension: 'txt' });
    await restarted.close();
    expect(await restarted.stat(before.name)).toBeUndefined();
  });

  test('looks at no more files than it removes, and one', async () => {
    const looked: string[] = [];
    const oldestFirst = function* () {
      for (const keptAt of [1, 2, 3, 4, 5]) {
        looked.push(`file ${keptAt}`);
        yield { name: `file ${keptAt}`, bytes: 10, keptAt };
      }
    };
    const kept = { bytes: 50, oldestFirst: oldestFirst() };
    const report = await removeExpendable(kept, { quotaBytes: 30, now }, async () => true);
    expect(report).toEqual({ removed: 2, removedBytes: 20 });
    expect(looked).toEqual(['file 1', 'file 2', 'file 3']);
  });

  test('lets a file be read to its end although it is removed meanwhile', async () => {
    const store = createFolderStore({ directory: await temporaryFolder(), now });
    const content = 'x'.repeat(500_000);
    const { name } = await store.put(chunks(content), { extension: 'txt' });
    const opened = await store.open(name);
    await store.remove(name);
    expect(opened && (await bytesOf(opened.stream)).length).toBe(content.length);
  });

  test('clears away what a process that died was writing, and leaves what is being written', async () => {
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

  test("leaves other programs' files alone", async () => {
    const directory = await temporaryFolder();
    await writeFile(join(directory, 'notes.txt'), 'mine');
    const store = createFolderStore({ directory, now, retentionMs: 1, quotaBytes: 1 });
    await utimes(join(directory, 'notes.txt'), 1, 1);
    await store.prune();
    expect(await readdir(directory)).toContain('notes.txt');
  });

  // The device whose every write fails for lack of space.
  test.runIf(existsSync('/dev/full'))(
    'says so when the disk is full, and works again when it is not',
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

  test('says so when the folder cannot be used, and works again when it can', async () => {
    const directory = join(await temporaryFolder(), 'media');
    await writeFile(directory, 'a file where the folder should be');
    const store = createFolderStore({ directory, now });
    const refused = store.put(chunks('a song'), { extension: 'txt' });
    await expect(refused).rejects.toMatchObject({ code: 'store', retryable: true });

    await rm(directory);
    expect(await store.put(chunks('a song'), { extension: 'txt' })).toMatchObject({ bytes: 6 });
  });
});
