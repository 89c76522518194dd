import type { Clock } from '../../../core/util/clock.ts';

/** Limits the rate of writes, per method and workspace as Slack does: https://docs.slack.dev/apis/web-api/rate-limits */
export type Rates = ReturnType<typeof createRates>;
export type Rate = ReturnType<typeof createRate>;

interface RateOptions {
  readonly gapMs: number;
  /** The number of first writes that may be sent in a burst. The gaps are made up afterwards. */
  readonly burst?: number;
}

interface RateClock extends Pick<Clock, 'elapsed'> {
  readonly sleep: (ms: number) => Promise<void>;
}

export function createRates(clock: RateClock) {
  return {
    /** Slack allows several hundred per minute in bursts. This smooths the rush of jobs after an outage. */
    messages: createRate({ gapMs: 50 }, clock),
    /** Tier 3: 50 a minute. */
    edits: createRate({ gapMs: 1_200, burst: 10 }, clock),
    /** Tier 4: 100 a minute. */
    appends: createRate({ gapMs: 600 }, clock),
    /** Tier 2: 20 a minute, including bursts. */
    starts: createRate({ gapMs: 3_600, burst: 4 }, clock),
  };
}

/** `elapsed` is monotonic, so a change of the clock does not affect a Retry-After. */
function createRate({ gapMs, burst = 1 }: RateOptions, { elapsed, sleep }: RateClock) {
  const burstMs = (burst - 1) * gapMs;
  let nextAt = 0;
  let pausedUntil = 0;
  let queue = Promise.resolve();

  const remainingPause = () => pausedUntil - elapsed();

  async function ready(): Promise<void> {
    for (let wait = remainingPause(); wait > 0; wait = remainingPause()) await sleep(wait);
  }

  async function acquire(ahead: number): Promise<void> {
    const remaining = () => Math.max(remainingPause(), nextAt - ahead - elapsed());
    for (let wait = remaining(); wait > 0; wait = remaining()) await sleep(wait);
    nextAt = Math.max(nextAt, elapsed()) + gapMs;
  }

  return {
    /** Resolves when a write that can wait may be sent. First writes go before others. */
    async slot(kind: 'first' | 'next'): Promise<void> {
      if (kind === 'first') return await acquire(burstMs);
      queue = queue.then(() => acquire(0));
      await queue;
    },
    /** Resolves when no Retry-After is active. For writes that must not be skipped. */
    ready,
    /** Applies a Retry-After. */
    pauseFor(ms: number): void {
      pausedUntil = Math.max(pausedUntil, elapsed() + ms);
    },
    /** True if a first write would not have to wait. */
    isIdle: () => Math.max(nextAt - burstMs, pausedUntil) <= elapsed(),
  };
}
