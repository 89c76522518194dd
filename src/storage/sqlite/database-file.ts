/** The path of the database, and errors about it. */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemErrorCode } from '../../core/errors.ts';
import { StorageError } from '../storage.ts';

const DATA_DIR = 'DATA_DIR';

/** Returns the path of the database in a data directory. It is absolute, because errors contain it. */
export const databaseFile = (directory: string): string => resolve(directory, 'minstrel.sqlite');

/** Like `mkdir -p`. Node's `recursive` never returns where folders cannot be created, such as in /proc. */
export function makeFolder(folder: string): void {
  if (isThere(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/**
 * Writes and removes an empty file in the folder of a setting, or in its nearest existing parent. Returns the folder it wrote to.
 * Throws StorageError.
 */
export function tryFolder(folder: string, setting = DATA_DIR): string {
  const existing = nearest(folder);
  const probe = join(existing, `.minstrel-${randomUUID()}`);
  try {
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
    rmSync(probe);
    return existing;
  } catch (error) {
    throw asFolderError(error, setting);
  }
}

/** Converts a file system error to a StorageError with a sentence for the operator. Returns other errors unchanged. */
export function asFolderError(error: unknown, setting = DATA_DIR): unknown {
  const code = systemErrorCode(error);
  if (code === undefined || !(error instanceof Error && 'path' in error)) return error;
  const place = nearest(String(error.path));
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new StorageError('full', `There is no space left in ${place}.`, error);
  const what = refusal(code, place, setting);
  return new StorageError('unavailable', `${what}, or set ${setting} to another folder.`, error);
}

function refusal(code: string, place: string, setting: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return forbidden(code, place, setting);
    case 'EROFS':
      return `${place} is on a read-only file system: make it writable`;
    case 'EEXIST':
    case 'ENOTDIR':
      return `${place} is not a folder: move it elsewhere`;
    case 'EISDIR':
      return `${place} is a folder, but must be a file: move it elsewhere`;
    default:
      return `Cannot write to ${place} (${code}): make it writable`;
  }
}

/** Usually, the first start ran as another user, such as root. */
function forbidden(code: string, place: string, setting: string): string {
  // Undefined on Windows.
  const user = process.geteuid?.();
  const owner = ownerOf(place);
  if (user === undefined || owner === undefined)
    return `Minstrel has no permission to use ${place} (${code}): change its permissions`;
  return user === owner
    ? `Even its owner, ${nameOf(owner)}, has no permission to use ${place} (${code}): change its permissions`
    : `${place} belongs to ${nameOf(owner)}, but Minstrel runs as ${nameOf(user)}: make ${nameOf(user)} the owner of ${setting} and everything in it`;
}

const nameOf = (user: number): string => (user === 0 ? 'root' : `user ${user}`);

/** Returns undefined for a link to a path that this user cannot access. */
function ownerOf(place: string): number | undefined {
  try {
    return statSync(place).uid;
  } catch {
    return undefined;
  }
}

/** Returns the path, or its nearest existing parent. */
function nearest(path: string): string {
  return isThere(path) ? path : nearest(dirname(path));
}

/** Also true for a broken link, and for the root of a missing drive. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return dirname(path) === path;
  }
}
