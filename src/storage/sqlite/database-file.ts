/** Where the database lies, and why it cannot lie there. */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemErrorCode } from '../../core/errors.ts';
import { StorageError } from '../storage.ts';

const DATA_DIR = 'DATA_DIR';

/** The path of the database in a data directory, absolute since errors name it. */
export const databaseFile = (directory: string): string => resolve(directory, 'minstrel.sqlite');

/** As `mkdir -p`. Node's own `recursive` never returns where the system makes no folders, such as in /proc. */
export function makeFolder(folder: string): void {
  if (isThere(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/**
 * Writes an empty file into the folder of a setting, or the nearest one above it that exists, and removes it. Returns the folder
 * that it wrote into. Throws StorageError.
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

/** What the file system refuses as a StorageError with a sentence for the operator; anything else stays as it is. */
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
      return `Cannot write to ${place} (${code}): fix this`;
  }
}

/** The usual cause is a first start as another user, such as root. */
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

/** Undefined where a link leads to what this user may not see. */
function ownerOf(place: string): number | undefined {
  try {
    return statSync(place).uid;
  } catch {
    return undefined;
  }
}

/** The path itself, or the nearest one above it that exists. */
function nearest(path: string): string {
  return isThere(path) ? path : nearest(dirname(path));
}

/** Also true of a link that leads nowhere, and of the root of a drive that is away. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return dirname(path) === path;
  }
}
