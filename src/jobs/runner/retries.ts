/** When what failed is tried again: a write within seconds, a step within minutes. */
import { backoff } from '../../core/util/backoff.ts';
import type { RunLease } from '../../storage/schedule.ts';
import { StorageError, type StorageErrorCode } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobEvent, JobEventType } from '../events.ts';
import { isPost } from './overtaken.ts';

/** Tries to store what this run alone knows: their pauses together are shorter than a lease lasts. */
const STORE_TRIES = 5;
const STORE_AGAIN = { firstMs: 500, longestMs: 4_000 } as const;

/** Storage that fails like this may work again within seconds. */
const AWAY: ReadonlySet<StorageErrorCode> = new Set(['unavailable', 'locked']);

/** The gateway's answers to a request that is never repeated. One that came by a callback or a poll would be read again. */
const ANSWERS: ReadonlySet<JobEventType> = new Set(['submitted', 'completed', 'notTaken', 'failed']);

/** A run by the schedule. Events from outside are applied without one, and are not tried again. */
export interface RunOptions extends Pick<RunLease, 'isHeld'>, Pick<JobDependencies, 'sleep' | 'random'> {
  readonly signal: AbortSignal;
}

interface FailedWrite {
  readonly error: unknown;
  /** From 1. */
  readonly attempt: number;
  readonly events: readonly JobEvent[];
}

/** Pauses after a write that failed. False, perhaps at once, where the write is not tried again. */
export async function pauseToStoreAgain(
  { error, attempt, events }: FailedWrite,
  { signal, sleep, random, isHeld }: RunOptions,
): Promise<boolean> {
  const isAway = error instanceof StorageError && AWAY.has(error.code);
  const isAnswer = events.some(({ type }) => ANSWERS.has(type));
  if (!isAway || attempt >= STORE_TRIES || !(isAnswer || events.some(isPost))) return false;
  // A post is found again by the next run; a stop of the process loses no answer that may be paid for.
  await sleep(backoff({ attempt, ...STORE_AGAIN, random }), isAnswer ? AbortSignal.any([]) : signal);
  return isHeld() && (isAnswer || !signal.aborted);
}

/** Milliseconds to wait before try number `attempts` + 1: doubling from two seconds to ten minutes, with jitter. */
export function pauseBefore(attempts: number, random: () => number, retryAfterMs = 0): number {
  return Math.max(retryAfterMs, backoff({ attempt: attempts, firstMs: 2_000, longestMs: 600_000, random }));
}
