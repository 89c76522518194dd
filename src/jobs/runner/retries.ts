/** Pauses before retries: seconds for a write, minutes for a step. */
import { backoff } from '../../core/util/backoff.ts';
import type { RunLease } from '../../storage/schedule.ts';
import { StorageError, type StorageErrorCode } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobEvent, JobEventType } from '../events.ts';
import { isPost } from './overtaken.ts';

/** Tries to store facts that only this run knows. Their pauses add up to less than a lease. */
const STORE_TRIES = 5;
const STORE_AGAIN = { firstMs: 500, longestMs: 4_000 } as const;

/** Storage errors that may pass within seconds. */
const AWAY: ReadonlySet<StorageErrorCode> = new Set(['unavailable', 'locked']);

/** Responses to requests that are never repeated. Callbacks and polls could be read again. */
const ANSWERS: ReadonlySet<JobEventType> = new Set(['submitted', 'completed', 'notTaken', 'failed']);

/** Options of a scheduled run. Other events are applied without options, and their writes are not retried. */
export interface RunOptions extends Pick<RunLease, 'isHeld'>, Pick<JobDependencies, 'sleep' | 'random'> {
  readonly signal: AbortSignal;
}

interface FailedWrite {
  readonly error: unknown;
  /** Number of the failed try, from 1. */
  readonly attempt: number;
  readonly events: readonly JobEvent[];
}

/** Pauses after a failed write. Resolves to false if the write should not be retried. */
export async function pauseBeforeRewrite(
  { error, attempt, events }: FailedWrite,
  { signal, sleep, random, isHeld }: RunOptions,
): Promise<boolean> {
  const isAway = error instanceof StorageError && AWAY.has(error.code);
  const isAnswer = events.some(({ type }) => ANSWERS.has(type));
  if (!isAway || attempt >= STORE_TRIES || !(isAnswer || events.some(isPost))) return false;
  // A shutdown may skip a posted message, which the next run finds again, but not a response that may be paid for.
  await sleep(backoff({ attempt, ...STORE_AGAIN, random }), isAnswer ? AbortSignal.any([]) : signal);
  return isHeld() && (isAnswer || !signal.aborted);
}

/** Milliseconds to wait after `attempts` failed tries: exponential backoff from two seconds to ten minutes, with jitter. */
export function pauseBefore(attempts: number, random: () => number, retryAfterMs = 0): number {
  return Math.max(retryAfterMs, backoff({ attempt: attempts, firstMs: 2_000, longestMs: 600_000, random }));
}
