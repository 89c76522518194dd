/** Watches for a request to cancel a running job, on this or another replica. */
import type { JobDependencies } from '../dependencies.ts';

/** How often the record is read, because notifications between replicas may be lost. */
const CHECK_EVERY_MS = 1_000;

export interface CancelWatch extends Disposable {
  /** Aborts when the job is cancelled or the process shuts down. */
  readonly signal: AbortSignal;
  /** The person who cancelled it. */
  readonly cancelledBy: string | undefined;
}

/** Watches until disposed. Calls `onCancel` at most once. Never rejects. */
export type WatchForCancel = (
  job: string,
  shutdown: AbortSignal,
  onCancel?: (by: string) => void,
) => Promise<CancelWatch>;

export function createWatchForCancel({
  storage,
  sleep,
  log,
}: Pick<JobDependencies, 'storage' | 'sleep' | 'log'>): WatchForCancel {
  return async (job, shutdown, onCancel) => {
    const cancel = new AbortController();
    const disposed = new AbortController();
    let cancelledBy: string | undefined;
    const check = async (): Promise<void> => {
      try {
        const requestedBy = (await storage.jobs.read(job))?.cancelRequestedBy;
        // Another check may have finished during the read.
        if (requestedBy === undefined || cancelledBy !== undefined || disposed.signal.aborted) return;
        cancelledBy = requestedBy;
        cancel.abort();
        onCancel?.(requestedBy);
      } catch (error) {
        log.debug({ job, err: error }, 'Could not check for a cancellation');
      }
    };
    const unsubscribe = storage.notifications.subscribe(job, () => void check());
    const checkRegularly = async (): Promise<void> => {
      while (!disposed.signal.aborted) {
        await sleep(CHECK_EVERY_MS, disposed.signal);
        if (!disposed.signal.aborted) await check();
      }
    };
    void checkRegularly();
    // The request may be older than the subscription.
    await check();
    return {
      signal: AbortSignal.any([cancel.signal, shutdown]),
      get cancelledBy() {
        return cancelledBy;
      },
      [Symbol.dispose]() {
        disposed.abort();
        unsubscribe();
      },
    };
  };
}
