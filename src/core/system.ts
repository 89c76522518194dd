/** Time, randomness and the log, passed in so that tests can control them. */

import type { Log } from './telemetry/log.ts';
import type { Clock } from './util/clock.ts';

export interface System extends Pick<Clock, 'now' | 'elapsed'> {
  /** At least 0 and less than 1. */
  readonly random: () => number;
  /** Returns a unique id of at most 25 letters and digits. */
  readonly newId: () => string;
  /** Resolves after the delay, or when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}
