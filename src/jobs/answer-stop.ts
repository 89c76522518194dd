/** Somebody's wish to stop an answer, made on this replica or on another. */
import type { JobDependencies } from './dependencies.ts';

/** Notices between replicas may be lost; the record is looked at this often all the same. */
const LOOK_EVERY_MS = 1_000;

export interface StopWatch extends Disposable {
  /** Aborts when the answer is to stop, and when the process shuts down. */
  readonly signal: AbortSignal;
  /** A person wished it. */
  readonly stopped: boolean;
}

type Watching = Pick<JobDependencies, 'storage' | 'log'>;

export async function watchForStop(
  job: string,
  shutdown: AbortSignal,
  { storage, log }: Watching,
): Promise<StopWatch> {
  const wish = new AbortController();
  const look = async (): Promise<void> => {
    try {
      const current = await storage.jobs.read(job);
      if (current?.cancelRequestedBy !== undefined) wish.abort();
    } catch (error) {
      log.debug({ job, err: error }, 'Whether an answer is to stop cannot be read right now');
    }
  };
  const stopListening = storage.notices.listen(job, () => void look());
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  // The wish may be older than the listening.
  await look();
  return {
    signal: AbortSignal.any([wish.signal, shutdown]),
    get stopped() {
      return wish.signal.aborted;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      stopListening();
    },
  };
}
