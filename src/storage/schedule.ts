/** The port of the schedule (when each job runs next), and the run of a job, which is the same on every storage. */

import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { backoff } from '../core/util/backoff.ts';
import { type Clock, pause } from '../core/util/clock.ts';

/** The state of one run. */
export interface RunLease {
  /** The previous run failed or crashed, and may have done more than it stored. */
  readonly interrupted: boolean;
  /** False once another replica may run the job, because this one was suspended or lost storage for longer than its lease. */
  readonly isHeld: () => boolean;
}

/** Runs a job. Resolves to the time of the next run (milliseconds since the epoch), or undefined if there is no next run. */
export type WakeHandler = (job: string, signal: AbortSignal, lease: RunLease) => Promise<number | undefined>;

export interface Schedule {
  /**
   * Schedules the first run of a job, at `at` in milliseconds since the epoch. A job that is already scheduled keeps its time.
   * Durable when it resolves. Throws RangeError for a time that is not a finite number.
   */
  add(job: string, at: number): Promise<void>;
  /** Runs a job now, or again after its current run. Durable when it resolves. */
  wake(job: string): Promise<void>;
  /** Returns the jobs that neither run nor are scheduled. Without a wake they never run again. */
  unscheduled(jobs: readonly string[]): Promise<string[]>;
  /**
   * Starts running jobs. One replica at a time runs a job. If it crashes, another one repeats the run: at the next start on
   * SQLite, within about 25 s on Redis. A handler that throws is called again after 1 s, doubling to a minute, or at the next
   * `wake`. If a replica loses Redis for longer, two may run the same job, so writes compare versions.
   */
  start(handler: WakeHandler, options: { concurrency: number }): Promise<void>;
  /**
   * Starts no new runs, aborts the signal of running handlers, and resolves when all have ended, without a time limit.
   * Scheduled times remain. A handler that throws after the signal is called again at the next start.
   */
  stop(): Promise<void>;
}

export function checkTime(at: number): void {
  if (!Number.isFinite(at)) throw new RangeError(`Cannot schedule a run at ${at}: not a time.`);
}

/** Milliseconds between tries after a storage failure. */
export const STORAGE_PAUSE = 1_000;
const AFTER_FAILURE = { firstMs: 1_000, longestMs: 60_000 } as const;

/** A run that is due. */
export interface DueRun extends Pick<RunLease, 'isHeld'> {
  readonly job: string;
  /** Failed or crashed runs in a row. */
  readonly failures: number;
  /** Resolves to when the run was due. Later wakes count for the next run. */
  readonly dueAt: () => Promise<number>;
}

/** The time of the next run (undefined: never), and the failures in a row. */
export interface NextRun {
  readonly at: number | undefined;
  readonly failures: number;
}

export interface RunTools extends Pick<System, 'random' | 'log'> {
  readonly clock: Clock;
  /** Records metrics; without it, nothing is measured. */
  readonly measure?: Measure;
}

/** Runs a job. Retries a failure after 1 s, doubling to 1 min, with 25 % jitter; immediately after the signal. */
export async function runJob(
  { job, failures, dueAt: readDueAt, isHeld }: DueRun,
  handler: WakeHandler,
  signal: AbortSignal,
  { clock, random, log, measure }: RunTools,
): Promise<NextRun> {
  try {
    const dueAt = await readDueAt();
    measure?.('minstrel_schedule_lateness_seconds', {}, Math.max(0, clock.now() - dueAt) / 1000);
    // The schedule may have been stopped while the job was fetched.
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

/** Stores the end of a run, retrying until it succeeds; after the signal, tries once. */
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
      log.error({ err: error, job }, 'Could not record that a run ended');
      if (signal.aborted) return;
      await pause(STORAGE_PAUSE, signal, clock);
    }
  }
}
