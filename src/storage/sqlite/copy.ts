/** Copies of a database file while a bot may be writing it. */
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { systemErrorCode } from '../../core/errors.ts';
import { StorageError } from '../storage.ts';
import { asStorageError } from './errors.ts';

/** All in one step: a copy in several steps starts over with each commit of another process. */
const EVERY_PAGE = 2 ** 31 - 1;

/** Writes the database as it is at one instant to `target`, a new file. Throws StorageError. */
export async function copyDatabase(path: string, target: string): Promise<void> {
  assertDatabase(path);
  try {
    const source = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    try {
      await backup(source, target, { rate: EVERY_PAGE });
    } finally {
      source.close();
    }
  } catch (error) {
    throw asStorageError(error, path);
  }
}

/** Throws StorageError if the file is missing (opening it would create an empty one) or not readable. */
export function assertDatabase(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw asStorageError(error, path);
    throw new StorageError('unavailable', `There is no database at ${path}. Check DATA_DIR.`);
  }
}

/** Why no database can be put at `path`, as a sentence for the operator; undefined where it can. */
export function whyOccupied(path: string): string | undefined {
  if (isInUse(path)) return `A running bot uses ${path}. Stop it first.`;
  const left = ['', '-wal', '-shm', '-journal']
    .map((end) => `${path}${end}`)
    .find((file) => existsSync(file));
  if (left === undefined) return undefined;
  return left === path
    ? `There is a database at ${path} already. Move its folder elsewhere, or set DATA_DIR to an empty one.`
    : `${left} is left over from another database and would damage the restored one. Move its folder elsewhere, or set DATA_DIR to an empty one.`;
}

/** Whether a process holds the lock next to the database (see `SqliteDatabase`). */
function isInUse(path: string): boolean {
  const lockPath = `${existsSync(path) ? realpathSync(path) : path}-lock`;
  if (!existsSync(lockPath)) return false;
  const lock = new DatabaseSync(lockPath, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return false;
  } catch (error) {
    const cause = asStorageError(error, lockPath);
    if (cause instanceof StorageError && cause.code === 'locked') return true;
    throw cause;
  } finally {
    lock.close();
  }
}
