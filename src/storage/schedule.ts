/** The port of the schedule (when each job runs next) and the run of a job, the same on every storage. */

import { type Clock, pause } from '../core/clock.ts';
import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { backoff } from '../core/util/backoff.ts';

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
   * Schedules the first run of a job, at `at` in milliseconds since the epoch. A job that is already scheduled keeps its time.
   * Durable when it resolves. Throws RangeError for a time that is no number.
   */
  add(job: string, at: number): Promise<void>;
  /** Runs a job now, and once more if it is running. Durable when it resolves. */
  wake(job: string): Promise<void>;
  /** Those of the jobs that neither run nor are scheduled: without a wake they never run again. */
  unscheduled(jobs: readonly string[]): Promise<string[]>;
  /**
   * Begins to run jobs. One replica at a time runs a job, and another one runs it again if that replica dies: at its
   * start on SQLite, within about 25 s on Redis. A handler that throws is called again after 1 s, doubling to a minute,
   * or at the next `wake`. A replica that lost Redis for longer may run a job while another one does: writes compare versions.
   */
  start(handler: WakeHandler, options: { concurrency: number }): Promise<void>;
  /**
   * Starts nothing new, aborts the signal of running handlers, and resolves when they ended, however long they take.
   * Scheduled times are kept; a handler that throws after the signal is called again by the next start.
   */
  stop(): Promise<void>;
}

export function checkTime(at: number): void {
  if (!Number.isFinite(at)) throw new RangeError(`Cannot schedule a run at ${at}: not a time.`);
}

/** Milliseconds before storage that failed is tried again. */
export const STORAGE_PAUSE = 1_000;
const AFTER_FAILURE = { firstMs: 1_000, longestMs: 60_000 } as const;

/** A job whose run begins. */
export interface DueRun extends Pick<RunLease, 'isHeld'> {
  readonly job: string;
  /** How many runs of it failed or died in a row. */
  readonly failures: number;
  /** When it was due. A wake after this resolves is for the next run. */
  readonly dueAt: () => Promise<number>;
}

/** When a job runs next (undefined: never), after so many failures in a row. */
export interface NextRun {
  readonly at: number | undefined;
  readonly failures: number;
}

export interface RunTools extends Pick<System, 'random' | 'log'> {
  readonly clock: Clock;
  /** For operators' numbers; left out, nothing is measured. */
  readonly measure?: Measure;
}

/** Runs a job. A failure is tried again after 1 s, doubling to 1 min, give or take a quarter; after the signal, at once. */
export async function runJob(
  { job, failures, dueAt: readDueAt, isHeld }: DueRun,
  handler: WakeHandler,
  signal: AbortSignal,
  { clock, random, log, measure }: RunTools,
): Promise<NextRun> {
  try {
    const dueAt = await readDueAt();
    measure?.('minstrel_schedule_lateness_seconds', {}, Math.max(0, clock.now() - dueAt) / 1000);
    // The stop may have come while the job was fetched.
    signal.throwIfAborted();
    const at = await handler(job, signal, { interrupted: failures > 0, isHeld });
    if (at !== undefined) checkTime(at);
    return { at, failures: 0 };
  } catch (error) {
    const failed = failures + 1;
    if (signal.aborted) return { at: clock.now(), failures: failed };
    log.error({ err: error, job }, 'A run of a job failed; retrying later');
    return { at: clock.now() + backoff({ attempt: failed, ...AFTER_FAILURE, random }), failures: failed };
  }
}

/** Stores the end of a run, for as long as that takes; after the signal, it tries once. */
export async function storeEnd(
  job: string,
  store: () => Promise<unknown>,
  signal: AbortSignal,
  { clock, log }: RunTools,
): Promise<void> {
  for (;;) {
    try {
      await store();
      return;
    } catch (error) {
      log.error({ err: error, job }, 'Could not store the end of a run');
      if (signal.aborted) return;
      await pause(STORAGE_PAUSE, signal, clock);
    }
  }
}
