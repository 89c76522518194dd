/** What a part needs of the system around it: time, chance, the log. It is passed in, so that tests can decide it. */
import type { Clock } from './clock.ts';
import type { Log } from './telemetry/log.ts';

export interface System extends Pick<Clock, 'now' | 'elapsed'> {
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** A new id of letters and digits, at most 25 characters, never used before. */
  readonly newId: () => string;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}
