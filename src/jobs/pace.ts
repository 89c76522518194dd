/** A shared rate: so many a second, the same for everybody who asks. */
export interface Pace {
  /** Milliseconds to wait for a turn; 0 takes it. A turn that has to be waited for is not reserved: ask again then. */
  turn(): number;
}

/** Bursts of one second's worth pass at once (the generic cell rate algorithm). */
export function createPace({ perSecond, now }: { perSecond: number; now: () => number }): Pace {
  const gap = 1000 / perSecond;
  const tolerance = 1000 - gap;
  let arrival = Number.NEGATIVE_INFINITY;
  return {
    turn() {
      const at = now();
      const expected = Math.max(arrival, at);
      const wait = expected - at - tolerance;
      if (wait > 0) return Math.ceil(wait);
      arrival = expected + gap;
      return 0;
    },
  };
}
