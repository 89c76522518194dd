/** A request to cancel a job that is running, made on this replica or on another. */
import type { JobDependencies } from '../dependencies.ts';

/** Notifications between replicas may be lost; the record is read this often all the same. */
const CHECK_EVERY_MS = 1_000;

export interface CancelWatch extends Disposable {
  /** Aborts when the job is cancelled, and when the process shuts down. */
  readonly signal: AbortSignal;
  /** The person who cancelled it. */
  readonly cancelledBy: string | undefined;
}

/** Watches until it is disposed. `onCancel` is called once. Never rejects. */
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
    const over = new AbortController();
    let cancelledBy: string | undefined;
    const check = async (): Promise<void> => {
      try {
        const requestedBy = (await storage.jobs.read(job))?.cancelRequestedBy;
        // Several reads may be on their way.
        if (requestedBy === undefined || cancelledBy !== undefined || over.signal.aborted) return;
        cancelledBy = requestedBy;
        cancel.abort();
        onCancel?.(requestedBy);
      } catch (error) {
        log.debug({ job, err: error }, 'Could not check for a cancellation');
      }
    };
    const unsubscribe = storage.notifications.subscribe(job, () => void check());
    const checkOften = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await sleep(CHECK_EVERY_MS, over.signal);
        if (!over.signal.aborted) await check();
      }
    };
    void checkOften();
    // The request may be older than the subscription.
    await check();
    return {
      signal: AbortSignal.any([cancel.signal, shutdown]),
      get cancelledBy() {
        return cancelledBy;
      },
      [Symbol.dispose]() {
        over.abort();
        unsubscribe();
      },
    };
  };
}
