/** The layout of a backup: `minstrel.jsonl` is an export of the storage, `media/` contains the stored files. */
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { OperatorError, systemErrorCode } from '../../core/errors.ts';
import { isStoredName } from '../../media/store/media-store.ts';

export const EXPORT_FILE = 'minstrel.jsonl';
export const PARTIAL_FILE = `${EXPORT_FILE}.partial`;
export const MEDIA_FOLDER = 'media';
/** Temporary folder for the export of a database. */
export const SNAPSHOT_FOLDER = 'snapshot';

/** A backup or restore failed. The message is for the operator. */
export class BackupError extends OperatorError {
  override readonly name = 'BackupError';
}

export interface CopiedFiles {
  readonly files: number;
  readonly bytes: number;
  /** Files whose content does not match their name; skipped. */
  readonly damaged: readonly string[];
}

/**
 * Copies stored files missing from `to`, with their times. Files deleted meanwhile are skipped. With `verified`, so are
 * files whose content does not match the hash in their name.
 */
export async function copyMedia(from: string, to: string, { verified = false } = {}): Promise<CopiedFiles> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  let files = 0;
  let bytes = 0;
  const damaged: string[] = [];
  for (const name of await mediaIn(from)) {
    const source = join(from, name);
    const stats = await stat(source).catch(undefinedWhenMissing);
    if (!stats?.isFile()) continue;
    files += 1;
    bytes += stats.size;
    const existing = await stat(join(to, name)).catch(undefinedWhenMissing);
    if (existing?.size === stats.size) continue;
    const partial = join(to, `${name}.partial`);
    try {
      if (verified && !name.startsWith(`${await hashOf(source)}.`)) {
        damaged.push(name);
        continue;
      }
      await copyFile(source, partial, constants.COPYFILE_FICLONE);
      await chmod(partial, 0o600);
      await sync(partial);
      await utimes(partial, stats.atime, stats.mtime);
      await rename(partial, join(to, name));
    } catch (error) {
      await rm(partial, { force: true });
      undefinedWhenMissing(error);
    }
  }
  return { files, bytes, damaged };
}

/** Names of stored files; empty without a folder. */
export async function mediaIn(folder: string): Promise<string[]> {
  return ((await readdir(folder).catch(undefinedWhenMissing)) ?? []).filter(isStoredName);
}

/** Flushes a file, or a folder's entries, to disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Wraps system errors in a BackupError; returns others unchanged. */
export function asBackupError(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  const reason = error.code === 'ENOSPC' ? 'the disk is full' : `system error ${String(error.code)}`;
  const path = 'path' in error && typeof error.path === 'string' ? error.path : folder;
  return new BackupError(`${path} could not be read or written: ${reason}.`, { cause: error });
}

export function undefinedWhenMissing(error: unknown): undefined {
  if (systemErrorCode(error) !== 'ENOENT') throw error;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
