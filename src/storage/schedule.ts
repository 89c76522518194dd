/** The port of the schedule (when each job runs next), its clock, and the run of a job, the same on every storage. */
import { backoff } from '../core/backoff.ts';
import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';

/** What the schedule knows of one run. */
export interface RunLease {
  /** The run before this one failed or died, and may have done more than it stored. */
  readonly interrupted: boolean;
  /** False once another replica may run the job: this one was suspended, or lost its storage, for longer than its lease. */
  readonly isHeld: () => boolean;
}

/** Runs a job. Resolves to the time of the next run (milliseconds since the epoch), or undefined for none. */
export type WakeHandler = (job: string, signal: AbortSignal, lease: RunLease) => Promise<number | undefined>;

export interface Schedule {
  /**
   * Schedules a run of the job at `at`, in milliseconds since the epoch. Durable when it resolves. The earliest time wins;
   * a time that is set while the job runs is kept for the next run. Throws RangeError for a time that is no number.
   */
  wake(job: string, at: number): Promise<void>;
  /** Those of the jobs that neither run nor are scheduled: without a wake they never run again. */
  unscheduled(jobs: readonly string[]): Promise<string[]>;
  /**
   * Begins to run jobs. One replica at a time runs a job, and another one runs it again if that replica dies: at its
   * start on SQLite, within about 25 s on Redis. A handler that throws is called again after 1 s, doubling to a minute,
   * or at the time of the next `wake`. A replica that lost Redis for longer may run a job while another one does: writes
   * compare versions.
   */
  start(handler: WakeHandler, options: { concurrency: number }): Promise<void>;
  /**
   * Starts nothing new, aborts the signal of running handlers, and resolves when they ended, however long they take.
   * Scheduled times are kept; a handler that throws after the signal is called again by the next start.
   */
  stop(): Promise<void>;
}

export function checkTime(at: number): void {
  if (!Number.isFinite(at)) throw new RangeError(`Cannot wake at ${at}: not a time.`);
}

/** Milliseconds before storage that failed is tried again. */
export const STORAGE_PAUSE = 1_000;
const AFTER_FAILURE = { firstMs: 1_000, longestMs: 60_000 } as const;

/** A job that is due, since when, and how many runs of it failed or died in a row. */
export interface DueJob {
  readonly job: string;
  readonly at: number;
  readonly failures: number;
}

/** A run that is due, under a lease of its own. */
export interface DueRun extends DueJob, Pick<RunLease, 'isHeld'> {}

export interface RunTools extends Pick<System, 'random' | 'log'> {
  readonly clock: Clock;
  /** For operators' numbers; left out, nothing is measured. */
  readonly measure?: Measure;
}

/** A job that was due then, in milliseconds since the epoch, begins to run. */
export function measureLateness(
  dueAt: number,
  { clock, measure }: Pick<RunTools, 'clock' | 'measure'>,
): void {
  measure?.('minstrel_schedule_lateness_seconds', {}, Math.max(0, clock.now() - dueAt) / 1000);
}

/**
 * Runs a job, and stores its next run for as long as that takes. A failure is tried again after 1 s, doubling to 1 min, give
 * or take a quarter; after the signal, at once. Resolves to false when the signal came before the next run could be stored.
 */
export async function runJob(
  { job, failures, isHeld }: DueRun,
  handler: WakeHandler,
  store: (at: number | undefined, failures: number) => Promise<void>,
  signal: AbortSignal,
  { clock, random, log }: RunTools,
): Promise<boolean> {
  let at: number | undefined;
  let failed = 0;
  try {
    // The stop may have come while the job was fetched.
    signal.throwIfAborted();
    at = await handler(job, signal, { interrupted: failures > 0, isHeld });
    if (at !== undefined) checkTime(at);
  } catch (error) {
    failed = failures + 1;
    at = clock.now() + (signal.aborted ? 0 : backoff({ attempt: failed, ...AFTER_FAILURE, random }));
    if (!signal.aborted) log.error({ err: error, job }, 'A run of a job failed; it will be tried again');
  }
  for (;;) {
    try {
      await store(at, failed);
      return true;
    } catch (error) {
      log.error({ err: error, job }, 'The end of a run could not be stored');
      if (signal.aborted) return false;
      await pause(STORAGE_PAUSE, signal, clock);
    }
  }
}

/** Resolves after the milliseconds, or at the signal. */
export function pause(milliseconds: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(milliseconds, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
    function done() {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** Time, passed in so that tests can advance it. */
export interface Clock extends Pick<System, 'now' | 'elapsed'> {
  /** Calls back once, after so many milliseconds (at most 2^31 - 1). Returns what cancels it. */
  readonly after: (milliseconds: number, callback: () => void) => () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
