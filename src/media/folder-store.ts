import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import PQueue from 'p-queue';
import { fromFileSystem, systemErrorCode } from './errors.ts';
import { contentTypeOf } from './kinds.ts';
import { abandonedAfterMs, spool, sweepSpool } from './spool.ts';
import {
  expendable,
  isStoredName,
  type KeptEntry,
  type MediaStore,
  type PruneReport,
  type RetentionOptions,
  resolveRange,
  storedNameOf,
} from './store.ts';

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
  const { directory, quotaBytes, now, openForWriting } = options;
  const incoming = join(directory, 'incoming');
  // Renaming and removing take turns, so that no file leaves between being found and being touched.
  const turns = new PQueue({ concurrency: 1 });
  const known = new Map<string, KeptEntry>();
  let scanned: Promise<void> | undefined;

  async function scan(): Promise<void> {
    const found = new Map<string, KeptEntry>();
    for (const name of await readdir(directory).catch(emptyWhenMissing)) {
      if (!isStoredName(name)) continue;
      const file = await stat(join(directory, name)).catch(undefinedWhenMissing);
      if (file?.isFile()) found.set(name, { name, bytes: file.size, keptAt: file.mtimeMs });
    }
    known.clear();
    for (const [name, entry] of found) known.set(name, entry);
  }

  async function removeExpendable(spare?: string): Promise<PruneReport> {
    const leaving = expendable(known.values(), options, now(), spare);
    for (const { name } of leaving) {
      await rm(join(directory, name), { force: true });
      known.delete(name);
    }
    return { removed: leaving.length, removedBytes: leaving.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return turns.add(work).catch((error: unknown) => {
      throw fromFileSystem(error);
    });
  }

  async function statKept(name: string) {
    if (!isStoredName(name)) return undefined;
    const file = await stat(join(directory, name)).catch(undefinedWhenMissing);
    return file?.isFile() ? { name, bytes: file.size, contentType: contentTypeOf(name) } : undefined;
  }

  return {
    async put(source, { extension }) {
      const spooled = await spool(source, { directory: incoming, maximumBytes: quotaBytes, openForWriting });
      try {
        const name = storedNameOf(spooled.sha256, extension);
        await inTurn(async () => {
          scanned ??= scan();
          await scanned;
          await rename(spooled.path, join(directory, name));
          const keptAt = now();
          await utimes(join(directory, name), keptAt / 1000, keptAt / 1000);
          await syncDirectory(directory);
          known.set(name, { name, bytes: spooled.bytes, keptAt });
          await removeExpendable(name);
        });
        return { name, bytes: spooled.bytes, contentType: contentTypeOf(name) };
      } finally {
        await rm(spooled.path, { force: true });
      }
    },

    async open(name, range) {
      if (!isStoredName(name)) return undefined;
      const file = await open(join(directory, name), 'r').catch(undefinedWhenMissing);
      if (file === undefined) return undefined;
      try {
        const { size } = await file.stat();
        const part = range === undefined ? {} : resolveRange(range, size);
        return { stream: file.createReadStream(part), bytes: size, contentType: contentTypeOf(name) };
      } catch (error) {
        await file.close();
        throw fromFileSystem(error);
      }
    },

    stat: statKept,

    async remove(name) {
      if (!isStoredName(name)) return;
      await inTurn(async () => {
        await rm(join(directory, name), { force: true });
        known.delete(name);
      });
    },

    prune: () =>
      inTurn(async () => {
        await sweepSpool(incoming, abandonedAfterMs, now());
        scanned = scan();
        await scanned;
        return removeExpendable();
      }),

    async close() {
      await turns.onIdle();
    },
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

function isMissing(error: unknown): boolean {
  return systemErrorCode(error) === 'ENOENT';
}

function undefinedWhenMissing(error: unknown): undefined {
  if (!isMissing(error)) throw fromFileSystem(error);
}

function emptyWhenMissing(error: unknown): string[] {
  if (!isMissing(error)) throw error;
  return [];
}
