import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import PQueue from 'p-queue';
import { systemErrorCode } from '../../core/errors.ts';
import { contentTypeOf } from '../content/types.ts';
import { fromFileSystem } from '../errors.ts';
import {
  isStoredName,
  type MediaStore,
  type RetentionOptions,
  removeAbandoned,
  removeOldest,
  resolveRange,
  type StoredEntry,
  stage,
} from './media-store.ts';

export interface FolderStoreOptions extends RetentionOptions {
  /** Created if missing. Contains the files by name; `incoming/` contains unfinished ones. */
  readonly directory: string;
  readonly now: () => number;
  /** Opens temporary files; replaced in tests. */
  readonly openForWriting?: (path: string) => Writable;
}

/**
 * Stores files in a folder. A file is written under a temporary name, flushed and renamed, so that its final name always
 * refers to a complete file. Its modification time is the time it was stored.
 */
export function createFolderStore(options: FolderStoreOptions): MediaStore {
  const { directory, quotaBytes, now, openForWriting } = options;
  const incoming = join(directory, 'incoming');
  // One change at a time, so that no file is removed between its check and its renewal.
  const changes = new PQueue({ concurrency: 1 });
  /** Unbounded: only for waiting until the last file is complete. */
  const writes = new PQueue();

  async function scan(): Promise<StoredEntry[]> {
    const found: StoredEntry[] = [];
    for (const name of (await readdir(directory).catch(undefinedWhenMissing)) ?? []) {
      if (!isStoredName(name)) continue;
      // An unreadable file must not stop the others.
      const file = await stat(join(directory, name)).catch(() => undefined);
      if (file?.isFile()) found.push({ name, bytes: file.size, storedAt: file.mtimeMs });
    }
    return found;
  }

  /** The list is seconds old, and another replica may have stored the file again. */
  async function removeIfUnchanged({ name, storedAt }: StoredEntry): Promise<boolean> {
    const path = join(directory, name);
    const file = await stat(path).catch(undefinedWhenMissing);
    if (file && file.mtimeMs > storedAt) return false;
    await rm(path, { force: true });
    return true;
  }

  function change<Result>(work: () => Promise<Result>): Promise<Result> {
    return changes.add(work).catch((error: unknown) => {
      throw fromFileSystem(error);
    });
  }

  return {
    put: (source, { extension }) =>
      writes.add(() =>
        stage(
          source,
          { directory: incoming, extension, maximumBytes: quotaBytes, openForWriting },
          (path, { name }) =>
            change(async () => {
              await rename(path, join(directory, name));
              const storedAt = now();
              await utimes(join(directory, name), storedAt / 1000, storedAt / 1000);
              await syncDirectory(directory);
            }),
        ),
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
      if (isStoredName(name)) await change(() => rm(join(directory, name), { force: true }));
    },

    async prune() {
      await removeAbandoned(incoming, now());
      // Listed outside the queue, because a large folder takes seconds.
      return removeOldest(await scan(), options, (entry) => change(() => removeIfUnchanged(entry)));
    },

    async close() {
      await writes.onIdle();
      await changes.onIdle();
    },
  };
}

/** A rename is durable only after a flush of its directory. Windows cannot open directories and doesn't need this. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined);
  try {
    await handle?.sync();
  } catch {
    // Some network file systems cannot flush a directory. The file itself is flushed.
  } finally {
    await handle?.close();
  }
}

function undefinedWhenMissing(error: unknown): undefined {
  if (systemErrorCode(error) !== 'ENOENT') throw fromFileSystem(error);
}
