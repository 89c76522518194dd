/** A request to stop an answer, made on this replica or on another. */
import type { JobDependencies } from '../dependencies.ts';

/** Notifications between replicas may be lost; the record is read this often all the same. */
const CHECK_EVERY_MS = 1_000;
/** Within one process none is lost, but the record could be unreadable when it came. */
const CHECK_ALONE_EVERY_MS = 10_000;

export interface CancelWatch extends Disposable {
  /** Aborts when the answer is to stop, and when the process shuts down. */
  readonly signal: AbortSignal;
  /** The person who asked for it. */
  readonly cancelledBy: string | undefined;
}

export async function watchForCancel(
  job: string,
  shutdown: AbortSignal,
  { storage, sleep, log, alone = false }: Pick<JobDependencies, 'storage' | 'sleep' | 'log' | 'alone'>,
): Promise<CancelWatch> {
  const cancel = new AbortController();
  let cancelledBy: string | undefined;
  const check = async (): Promise<void> => {
    try {
      const requestedBy = (await storage.jobs.read(job))?.cancelRequestedBy;
      // An earlier read may be answered after a later one.
      if (requestedBy === undefined) return;
      cancelledBy = requestedBy;
      cancel.abort();
    } catch (error) {
      log.debug({ job, err: error }, 'Whether an answer is to stop cannot be read right now');
    }
  };
  const unsubscribe = storage.notifications.subscribe(job, () => void check());
  const over = new AbortController();
  const checkOften = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await sleep(alone ? CHECK_ALONE_EVERY_MS : CHECK_EVERY_MS, over.signal);
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
}
