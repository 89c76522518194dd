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

/**
 * Messages a second for each platform and replica, so that a thousand jobs that are due at once, as after an outage, do
 * not storm it. Discord takes 50 requests a second from a bot, and a message with its mention or on two pages is more
 * than one (https://docs.discord.com/developers/topics/rate-limits). Streams keep their own rate.
 */
const MESSAGES_PER_SECOND = 20;

/** Resolves when the next message may go to the platform of this name. */
export function createMessageRate({
  now,
  sleep,
}: {
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}): (platform: string) => Promise<void> {
  const limiters = new Map<string, RateLimiter>();
  let messages = 0;
  return async (platform) => {
    const limiter = limiters.get(platform) ?? createRateLimiter({ perSecond: MESSAGES_PER_SECOND, now });
    limiters.set(platform, limiter);
    messages += 1;
    const key = `${messages}`;
    for (let wait = limiter.reserve(key); wait > 0; wait = limiter.reserve(key)) await sleep(wait);
  };
}
