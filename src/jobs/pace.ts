/** A shared rate: so many a second, the same for everybody who asks, in the order they asked. */
export interface Pace {
  /**
   * Milliseconds until the turn of whoever asks; 0 takes it. A turn that has to be waited for is kept for the one who
   * asked: ask again then. Who never comes back loses it.
   */
  turn(who: string): number;
  /** Gives nobody a turn for so long, because the other side asked for it. */
  hold(milliseconds: number): void;
}

/** A turn that nobody came for is forgotten after this long. */
const KEPT_MS = 60_000;

/** Bursts of one second's worth pass at once (the generic cell rate algorithm). */
export function createPace({ perSecond, now }: { perSecond: number; now: () => number }): Pace {
  const gap = 1000 / perSecond;
  const tolerance = 1000 - gap;
  const turns = new Map<string, number>();
  let arrival = Number.NEGATIVE_INFINITY;

  const reserve = (at: number): number => {
    const expected = Math.max(arrival, at);
    arrival = expected + gap;
    return expected - tolerance;
  };

  return {
    turn(who) {
      const at = now();
      for (const [other, turn] of turns) {
        if (turn > at - KEPT_MS) break;
        turns.delete(other);
      }
      const turn = turns.get(who) ?? reserve(at);
      turns.delete(who);
      if (turn <= at) return 0;
      turns.set(who, turn);
      return Math.ceil(turn - at);
    },
    hold(milliseconds) {
      turns.clear();
      arrival = Math.max(arrival, now() + milliseconds + tolerance);
    },
  };
}
