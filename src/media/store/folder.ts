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
  type MediaStore,
  type RetentionOptions,
  removeAbandoned,
  removeExpendable,
  resolveRange,
  stage,
} from './media-store.ts';

export interface FolderStoreOptions extends RetentionOptions {
  /** Made when it is not there. Files lie in it by name; `incoming/` holds what is being written. */
  readonly directory: string;
  readonly now: () => number;
  /** Opens temporary files; replaced in tests. */
  readonly openForWriting?: (path: string) => Writable;
}

/**
 * Keeps files in a folder. A file is written under a temporary name, flushed, and renamed: under its own name
 * it is whole, whatever happened. Its time of last change is when it was kept.
 */
export function createFolderStore(options: FolderStoreOptions): MediaStore {
  const { directory, quotaBytes, now, openForWriting } = options;
  const incoming = join(directory, 'incoming');
  // One change at a time: no file is removed between being found and being renewed.
  const changes = new PQueue({ concurrency: 1 });

  async function scan(): Promise<KeptEntry[]> {
    const found: KeptEntry[] = [];
    for (const name of (await readdir(directory).catch(undefinedWhenMissing)) ?? []) {
      if (!isStoredName(name)) continue;
      // A file that cannot be read must not keep the others from being kept.
      const file = await stat(join(directory, name)).catch(() => undefined);
      if (file?.isFile()) found.push({ name, bytes: file.size, keptAt: file.mtimeMs });
    }
    return found;
  }

  /** The list is seconds old by then, and the file may have been kept again, also by another replica. */
  async function removeIfAsOld({ name, keptAt }: KeptEntry): Promise<boolean> {
    const path = join(directory, name);
    const file = await stat(path).catch(undefinedWhenMissing);
    if (file && file.mtimeMs > keptAt) return false;
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
      stage(
        source,
        { directory: incoming, extension, maximumBytes: quotaBytes, openForWriting },
        (path, { name }) =>
          change(async () => {
            await rename(path, join(directory, name));
            const keptAt = now();
            await utimes(join(directory, name), keptAt / 1000, keptAt / 1000);
            await syncDirectory(directory);
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
      if (isStoredName(name)) await change(() => rm(join(directory, name), { force: true }));
    },

    async prune() {
      await removeAbandoned(incoming, now());
      // No song waits for the list, which takes seconds of a large folder.
      return removeExpendable(await scan(), options, (entry) => change(() => removeIfAsOld(entry)));
    },

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
