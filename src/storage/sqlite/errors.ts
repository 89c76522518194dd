import { StorageError, type StorageErrorCode } from '../storage.ts';
import { asFolderError } from './database-file.ts';

type Described = readonly [code: StorageErrorCode, detail: (path: string) => string];

const DAMAGED: Described = [
  'schema',
  (path) => `The database file ${path} is damaged. Stop the bot and restore a backup.`,
];

// Primary result codes, https://www.sqlite.org/rescode.html
const CODES: ReadonlyMap<number, Described> = new Map<number, Described>([
  [5, ['locked', (path) => `Another process is using the database file ${path}.`]],
  [6, ['locked', (path) => `Another connection has locked a table in ${path}.`]],
  [8, ['unavailable', (path) => `The database file ${path} is read-only.`]],
  [10, ['unavailable', (path) => `Disk error while reading or writing ${path}.`]],
  [11, DAMAGED],
  [13, ['full', (path) => `The disk that holds ${path} is full.`]],
  [14, ['unavailable', (path) => `The database file ${path} cannot be opened.`]],
  [
    26,
    ['schema', (path) => `${path} is not a database: move it elsewhere, or set DATA_DIR to another folder.`],
  ],
]);

/** True if SQLite reports malformed pages. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
  return code === 11 || code === 26;
}

/**
 * Converts errors of node:sqlite and the file system to a StorageError that names the file. Returns other errors unchanged, because
 * they are bugs.
 */
export function asStorageError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error && typeof error.errcode === 'number') {
    // The low byte of an extended code is the primary code.
    const known = CODES.get(error.errcode & 0xff);
    return known === undefined ? error : new StorageError(known[0], known[1](path), error);
  }
  // The database is closed.
  if (error.code === 'ERR_INVALID_STATE') {
    return new StorageError('unavailable', 'The storage is closed.', error);
  }
  return asFolderError(error);
}

export function damagedFile(path: string): StorageError {
  const [code, detail] = DAMAGED;
  return new StorageError(code, detail(path));
}
