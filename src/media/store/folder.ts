import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import PQueue from 'p-queue';
import { systemErrorCode } from '../../core/errors.ts';
import { contentTypeOf } from '../content/types.ts';
import { fromFileSystem } from '../errors.ts';
import {
  isStoredName,
  type KeptEntry,
  KeptIndex,
  type MediaStore,
  type RetentionOptions,
  removeAbandoned,
  removeExpendable,
  resolveRange,
  stage,
} from './store.ts';

/** File systems round times of change. */
const MTIME_GRAIN_MS = 2_000;

export interface FolderStoreOptions extends RetentionOptions {
  /** Made when it is not there. Files lie in it by name; `incoming/` holds what is being written. */
  directory: string;
  now: () => number;
  /** Opens temporary files; replaced in tests. */
  openForWriting?: (path: string) => Writable;
}

/**
 * Keeps files in a folder. A file is written under a temporary name, flushed, and renamed: under its own name
 * it is whole, whatever happened. Its time of last change is when it was kept.
 */
export function createFolderStore(options: FolderStoreOptions): MediaStore {
  const { directory, quotaBytes, retentionMs, now, openForWriting } = options;
  const isBounded = quotaBytes !== undefined || retentionMs !== undefined;
  const incoming = join(directory, 'incoming');
  // One change at a time: no file is removed between being found and being renewed.
  const changes = new PQueue({ concurrency: 1 });
  let known: KeptIndex | undefined;

  async function scan(): Promise<KeptIndex> {
    const found: KeptEntry[] = [];
    for (const name of (await readdir(directory).catch(undefinedWhenMissing)) ?? []) {
      if (!isStoredName(name)) continue;
      // A file that cannot be read must not keep the others from being kept.
      const file = await stat(join(directory, name)).catch(() => undefined);
      if (file?.isFile()) found.push({ name, bytes: file.size, keptAt: file.mtimeMs });
    }
    return new KeptIndex(found);
  }

  async function removeKept(name: string): Promise<void> {
    await rm(join(directory, name), { force: true });
    known?.delete(name);
  }

  /** Replicas that share the folder may have kept the file anew. */
  async function removeIfAsOld({ name, keptAt }: KeptEntry): Promise<boolean> {
    const file = await stat(join(directory, name)).catch(undefinedWhenMissing);
    if (file && file.mtimeMs > keptAt + MTIME_GRAIN_MS) {
      known?.add({ name, bytes: file.size, keptAt: file.mtimeMs });
      return false;
    }
    await removeKept(name);
    return true;
  }

  /** What is kept stays kept, also when nothing old can be found or removed for it: the next round of pruning tells. */
  async function makeSpaceFor(entry: KeptEntry): Promise<void> {
    try {
      known ??= await scan();
      known.add(entry);
      await removeExpendable(known, options, removeIfAsOld, entry.name);
    } catch {
      known = undefined;
    }
  }

  function change<Result>(work: () => Promise<Result>): Promise<Result> {
    return changes.add(work).catch((error: unknown) => {
      throw fromFileSystem(error);
    });
  }

  return {
    put: (source, { extension }) =>
      stage(
        source,
        { directory: incoming, extension, maximumBytes: quotaBytes, openForWriting },
        (path, { name, bytes }) =>
          change(async () => {
            await rename(path, join(directory, name));
            const keptAt = now();
            await utimes(join(directory, name), keptAt / 1000, keptAt / 1000);
            await syncDirectory(directory);
            if (!isBounded) return;
            const space = () => makeSpaceFor({ name, bytes, keptAt });
            // Listing a large folder for the first time takes seconds, which no song waits for.
            if (known) await space();
            else void change(space);
          }),
      ),

    async open(name, range) {
      if (!isStoredName(name)) return undefined;
      const file = await open(join(directory, name), 'r').catch(undefinedWhenMissing);
      if (file === undefined) return undefined;
      try {
        const { size } = await file.stat();
        const part = range === undefined ? {} : resolveRange(range, size);
        return {
          stream: file.createReadStream(part),
          bytes: size,
          contentType: contentTypeOf(name),
        };
      } catch (error) {
        await file.close();
        throw fromFileSystem(error);
      }
    },

    async stat(name) {
      if (!isStoredName(name)) return undefined;
      const file = await stat(join(directory, name)).catch(undefinedWhenMissing);
      return file?.isFile() ? { name, bytes: file.size, contentType: contentTypeOf(name) } : undefined;
    },

    async remove(name) {
      if (isStoredName(name)) await change(() => removeKept(name));
    },

    prune: () =>
      change(async () => {
        await removeAbandoned(incoming, now());
        if (!isBounded) return { removed: 0, removedBytes: 0 };
        known = await scan();
        return removeExpendable(known, options, removeIfAsOld);
      }),

    close: () => changes.onIdle(),
  };
}

/** A rename is on the disk only when its directory is; Windows cannot open directories and needs none of it. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined);
  try {
    await handle?.sync();
  } catch {
    // Some network file systems cannot flush a directory: the file itself is flushed all the same.
  } finally {
    await handle?.close();
  }
}

function undefinedWhenMissing(error: unknown): undefined {
  if (systemErrorCode(error) !== 'ENOENT') throw fromFileSystem(error);
}
