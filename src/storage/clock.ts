/** Time, passed in so that tests can advance it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls back once, after so many milliseconds (at most 2^31 - 1). Returns what cancels it. */
  readonly after: (milliseconds: number, callback: () => void) => () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
