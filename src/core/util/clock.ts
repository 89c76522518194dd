/** Time, passed in so that tests can advance it. */
import { jitter } from './backoff.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock, to measure durations. */
  readonly elapsed: () => number;
  /** Calls back once after a delay of at most 2^31 - 1 milliseconds. Returns a function that cancels it. */
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

/** Resolves after the delay, or when the signal aborts. */
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

/** {@link pause} with the system clock. */
export const sleep = (
  milliseconds: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> => pause(milliseconds, signal, systemClock);

export interface Rhythm {
  /** Pause between the end of one run and the start of the next. */
  readonly everyMs: number;
  /** Pause before the first run. */
  readonly firstMs?: number;
  /** Varies pauses by up to 10 %, so that replicas don't work at the same moment. */
  readonly random?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Repeats the work until `stop` aborts its signal. The work must not reject. */
export function repeat(
  work: (signal: AbortSignal) => Promise<void>,
  { everyMs, firstMs = 0, random, sleep: sleepFor = sleep }: Rhythm,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const wait = (ms: number) => sleepFor(random ? jitter(ms, random) : ms, signal);
  const ended = (async () => {
    if (firstMs > 0) await wait(firstMs);
    while (!signal.aborted) {
      await work(signal);
      if (!signal.aborted) await wait(everyMs);
    }
  })();
  return {
    /** Resolves when the current run has ended. */
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
