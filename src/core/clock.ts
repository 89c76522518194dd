/** Time, passed in so that tests can advance it. */
import { jitter } from './util/backoff.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set: for how long something takes. */
  readonly elapsed: () => number;
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

/** The day in UTC, as `2026-01-31`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
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

/** {@link pause} by the clock of the system; without a signal, to the end. */
export const sleep = (
  milliseconds: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> => pause(milliseconds, signal, systemClock);

export interface Rhythm {
  /** From the end of the work to the next. */
  readonly everyMs: number;
  /** Before the first. */
  readonly firstMs?: number;
  /** With it pauses are a tenth shorter or longer, so that replicas do not work at the same moment. */
  readonly random?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Does the work again and again until it is stopped, which the signal tells it. The work does not reject. */
export function repeat(
  work: (signal: AbortSignal) => Promise<void>,
  { everyMs, firstMs = 0, random, sleep: rest = sleep }: Rhythm,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const wait = (ms: number) => rest(random ? jitter(ms, random) : ms, signal);
  const ended = (async () => {
    if (firstMs > 0) await wait(firstMs);
    while (!signal.aborted) {
      await work(signal);
      if (!signal.aborted) await wait(everyMs);
    }
  })();
  return {
    /** Resolves when the work that runs has ended. */
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
