import PQueue from 'p-queue';

/** Spreads writes of texts over time: edits for each channel, and streams for the whole workspace. */
export type Rates = ReturnType<typeof createRates>;
export type Rate = ReturnType<typeof createRate>;

const MOST_CHANNELS = 1000;
/** Of a workspace: a thousand jobs that are due at once, as after an outage, do not storm it. Slack takes several hundred a minute, by bursts. */
const MESSAGES_PER_SECOND = 20;
/** Begun at once where none was begun lately: Slack allows occasional bursts, and no minute then has more than without. */
const STARTS_TOGETHER = 4;

/**
 * `editGapMs` is the time between two edits in a channel that can wait. Slack takes twice as many additions to streams as
 * edits, and two fifths as many beginnings: tiers 4, 3 and 2, https://docs.slack.dev/apis/web-api/rate-limits
 * `elapsed` is a clock that is never set, so a change of the time of day does not change how long a Retry-After lasts.
 */
export function createRates(editGapMs: number, elapsed: () => number, sleep: (ms: number) => Promise<void>) {
  const edits = new Map<string, Rate>();
  return {
    editsIn(channel: string): Rate {
      const rate = edits.get(channel) ?? createRate(editGapMs, elapsed, sleep);
      if (edits.size >= MOST_CHANNELS)
        for (const [other, { isIdle }] of edits) if (isIdle()) edits.delete(other);
      edits.set(channel, rate);
      return rate;
    },
    messages: createRate(1_000 / MESSAGES_PER_SECOND, elapsed, sleep),
    appends: createRate(editGapMs / 2, elapsed, sleep),
    starts: createRate(editGapMs * 2.5, elapsed, sleep, STARTS_TOGETHER),
  };
}

/** `together`: so many may be made at once, if as many gaps follow. */
function createRate(
  gapMs: number,
  elapsed: () => number,
  sleep: (ms: number) => Promise<void>,
  together = 1,
) {
  const queue = new PQueue({ concurrency: together });
  let pausedUntil = 0;

  /** Resolves when no Retry-After is in force: for what must be written. */
  async function ready(): Promise<void> {
    for (let wait = pausedUntil - elapsed(); wait > 0; wait = pausedUntil - elapsed()) await sleep(wait);
  }

  return {
    /** Resolves when a write that can wait may be made. First words of a message go before other writes. */
    slot: (kind: 'first' | 'next') =>
      new Promise<void>((resolve, reject) => {
        const write = async () => {
          await ready();
          resolve();
          // The next one is chosen after the waits: first words may come meanwhile.
          await sleep(gapMs * together);
          await ready();
        };
        queue.add(write, { priority: kind === 'first' ? 1 : 0 }).catch(reject);
      }),
    ready,
    /** Slack said Retry-After. */
    pauseFor(ms: number): void {
      pausedUntil = Math.max(pausedUntil, elapsed() + ms);
    },
    /** A write may be made now. */
    isIdle: () => queue.size + queue.pending < together && pausedUntil <= elapsed(),
  };
}
