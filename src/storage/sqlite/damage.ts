/** Whether the database file is whole. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../core/thread-environment.ts';
import { StorageError } from '../storage.ts';
import { DAMAGED, isDamage } from './errors.ts';

/** Reads the whole file in a thread of its own. Resolves to what is wrong with it; undefined if nothing is, or if it cannot be read. */
export async function findDamage(path: string, signal: AbortSignal): Promise<StorageError | undefined> {
  const worker = new Worker(new URL('./damage-worker.ts', import.meta.url), {
    workerData: path,
    env: threadEnvironment(),
  });
  try {
    const [isWhole] = await once(worker, 'message', { signal });
    return isWhole === true ? undefined : damaged(undefined);
  } catch (error) {
    return isDamage(error) ? damaged(error) : undefined;
  } finally {
    await worker.terminate();
  }
}

function damaged(cause: unknown): StorageError {
  return new StorageError('schema', DAMAGED, cause);
}
