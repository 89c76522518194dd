/** Copies of a database file while a bot may be writing it. */
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { systemErrorCode } from '../../core/errors.ts';
import { StorageError } from '../storage.ts';
import { asStorageError } from './errors.ts';

/** Copies in one step, because a copy in steps restarts with each commit of another process. */
const EVERY_PAGE = 2 ** 31 - 1;

/** Writes a consistent snapshot of the database to `target`, a new file. Throws StorageError. */
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

/** Throws StorageError if the file is missing or unreadable. Opening a missing file would create an empty one. */
export function assertDatabase(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw asStorageError(error, path);
    throw new StorageError('unavailable', `There is no database at ${path}. Check DATA_DIR.`);
  }
}

/** Returns why a database cannot be restored to `path`, as a sentence for the operator; undefined if it can. */
export function restoreObstacle(path: string): string | undefined {
  if (isInUse(path)) return `A running bot uses ${path}. Stop it first.`;
  const left = ['', '-wal', '-shm', '-journal']
    .map((end) => `${path}${end}`)
    .find((file) => existsSync(file));
  if (left === undefined) return undefined;
  return left === path
    ? `There is already a database at ${path}. Move its folder elsewhere, or set DATA_DIR to an empty one.`
    : `${left} belongs to another database and would damage the restored one. Move its folder elsewhere, or set DATA_DIR to an empty one.`;
}

/** True if a process holds the lock file of the database (see `SqliteDatabase`). */
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
