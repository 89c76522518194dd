import type { Clock } from '../../../core/clock.ts';

/** Spreads writes over time, for each method in a workspace as Slack counts them: https://docs.slack.dev/apis/web-api/rate-limits */
export type Rates = ReturnType<typeof createRates>;
export type Rate = ReturnType<typeof createRate>;

interface RateOptions {
  readonly gapMs: number;
  /** So many first words may go at once: Slack allows occasional bursts. As many gaps follow. */
  readonly together?: number;
}

interface RateClock extends Pick<Clock, 'elapsed'> {
  readonly sleep: (ms: number) => Promise<void>;
}

export function createRates(clock: RateClock) {
  return {
    /** A thousand jobs that are due at once, as after an outage, do not storm it. Slack takes several hundred a minute, by bursts. */
    messages: createRate({ gapMs: 50 }, clock),
    /** Tier 3: 50 a minute. */
    edits: createRate({ gapMs: 1_200, together: 10 }, clock),
    /** Tier 4: 100 a minute. */
    appends: createRate({ gapMs: 600 }, clock),
    /** Tier 2: 20 a minute, those that go together included. */
    starts: createRate({ gapMs: 3_600, together: 4 }, clock),
  };
}

/** `elapsed` is never set, so a change of the time of day does not change how long a Retry-After lasts. */
function createRate({ gapMs, together = 1 }: RateOptions, { elapsed, sleep }: RateClock) {
  const aheadMs = (together - 1) * gapMs;
  let dueAt = 0;
  let pausedUntil = 0;
  let queue = Promise.resolve();

  const pause = () => pausedUntil - elapsed();

  async function ready(): Promise<void> {
    for (let wait = pause(); wait > 0; wait = pause()) await sleep(wait);
  }

  async function take(ahead: number): Promise<void> {
    const left = () => Math.max(pause(), dueAt - ahead - elapsed());
    for (let wait = left(); wait > 0; wait = left()) await sleep(wait);
    dueAt = Math.max(dueAt, elapsed()) + gapMs;
  }

  return {
    /** Resolves when a write that can wait may be made. First words of a message go before other writes. */
    async slot(kind: 'first' | 'next'): Promise<void> {
      if (kind === 'first') return await take(aheadMs);
      queue = queue.then(() => take(0));
      await queue;
    },
    /** Resolves when no Retry-After is in force: for what must be written. */
    ready,
    /** Slack said Retry-After. */
    pauseFor(ms: number): void {
      pausedUntil = Math.max(pausedUntil, elapsed() + ms);
    },
    /** First words may be written now. */
    isIdle: () => Math.max(dueAt - aheadMs, pausedUntil) <= elapsed(),
  };
}
