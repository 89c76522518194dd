import { answerOfThread } from '../../core/thread.ts';
import { StorageError, type StorageErrorCode } from '../storage.ts';

/** For the operator: /readyz and the log show it. */
const DAMAGED =
  'The database file is damaged: stop the bot, and put a copy in its place that was made before.';

// Primary result codes, https://www.sqlite.org/rescode.html
const CODES: ReadonlyMap<number, { readonly code: StorageErrorCode; readonly detail: string }> = new Map([
  [5, { code: 'locked', detail: 'Another process holds the database file.' }],
  [6, { code: 'locked', detail: 'Another connection holds a table of the database.' }],
  [8, { code: 'unavailable', detail: 'The database file may not be written.' }],
  [10, { code: 'unavailable', detail: 'The disk failed while the database was read or written.' }],
  [11, { code: 'schema', detail: DAMAGED }],
  [13, { code: 'full', detail: 'The disk is full.' }],
  [14, { code: 'unavailable', detail: 'The database file cannot be opened.' }],
  [26, { code: 'schema', detail: 'The file is not a database.' }],
]);

/** Whether SQLite found pages that are none. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
  return code === 11 || code === 26;
}

/** What node:sqlite throws as a StorageError; anything else stays as it is, since it is a mistake of ours. */
export function asStorageError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error && typeof error.errcode === 'number') {
    // The low byte of an extended code is the primary one.
    const known = CODES.get(error.errcode & 0xff);
    return known === undefined ? error : new StorageError(known.code, known.detail, error);
  }
  // Thrown for a closed database.
  if (error.code === 'ERR_INVALID_STATE') {
    return new StorageError('unavailable', 'The storage is closed.', error);
  }
  return error;
}

/** Reads the whole file in a thread of its own. Resolves to what is wrong with it; undefined if nothing is, or if it cannot be read. */
export async function findDamage(path: string, signal: AbortSignal): Promise<StorageError | undefined> {
  const damaged = (cause?: unknown) => new StorageError('schema', DAMAGED, cause);
  try {
    const isWhole = await answerOfThread(new URL('./damage-worker.ts', import.meta.url), path, { signal });
    return isWhole === true ? undefined : damaged();
  } catch (error) {
    return isDamage(error) ? damaged(error) : undefined;
  }
}
