/** Whether the database file is whole. */
import { answerOfThread } from '../../core/thread.ts';
import { StorageError } from '../storage.ts';
import { DAMAGED, isDamage } from './errors.ts';

/** Reads the whole file in a thread of its own. Resolves to what is wrong with it; undefined if nothing is, or if it cannot be read. */
export async function findDamage(path: string, signal: AbortSignal): Promise<StorageError | undefined> {
  try {
    const isWhole = await answerOfThread(new URL('./damage-worker.ts', import.meta.url), path, { signal });
    return isWhole === true ? undefined : damaged(undefined);
  } catch (error) {
    return isDamage(error) ? damaged(error) : undefined;
  }
}

function damaged(cause: unknown): StorageError {
  return new StorageError('schema', DAMAGED, cause);
}
