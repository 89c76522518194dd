/** A shared rate: so many a second, shared by all keys, first come, first served. */
export interface RateLimiter {
  /**
   * Milliseconds until `key` may go ahead; 0 takes the slot. A slot that has to be waited for is kept for this key for a
   * minute: ask again then.
   */
  reserve(key: string): number;
}

/** A slot that is not taken is forgotten after this long. */
const KEPT_MS = 60_000;

/** Bursts of one second's worth pass at once (the generic cell rate algorithm). */
export function createRateLimiter({
  perSecond,
  now,
}: {
  readonly perSecond: number;
  readonly now: () => number;
}): RateLimiter {
  const gap = 1000 / perSecond;
  const tolerance = 1000 - gap;
  const slots = new Map<string, number>();
  let arrival = Number.NEGATIVE_INFINITY;

  const next = (at: number): number => {
    const expected = Math.max(arrival, at);
    arrival = expected + gap;
    return expected - tolerance;
  };

  return {
    reserve(key) {
      const at = now();
      for (const [other, slot] of slots) {
        if (slot > at - KEPT_MS) break;
        slots.delete(other);
      }
      const slot = slots.get(key) ?? next(at);
      slots.delete(key);
      if (slot <= at) return 0;
      slots.set(key, slot);
      return Math.ceil(slot - at);
    },
  };
}
