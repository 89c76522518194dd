/** Time, passed in so that tests can advance it. */

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

/** Does the work now, and again that long after each end, until it is stopped. The work does not reject. */
export function repeat(work: () => Promise<void>, pauseMs: number): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await work();
      await sleep(pauseMs, stopping.signal);
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
