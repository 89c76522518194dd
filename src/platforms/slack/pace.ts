/** Spreads edits over time: one budget for every message of a workspace. */

export interface PaceOptions {
  /** Between two edits that can wait. */
  readonly gapMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface Pace {
  /** Resolves when an edit that can wait may be made. Waiters take turns. */
  turn(): Promise<void>;
  /** Resolves when Slack asks for no more patience: for what must be written. */
  open(): Promise<void>;
  /** Slack said Retry-After. */
  pauseFor(ms: number): void;
}

export function createPace({ gapMs, now, sleep }: PaceOptions): Pace {
  let pausedUntil = 0;
  let nextTurnAt = 0;
  let queue: Promise<void> = Promise.resolve();

  async function open(): Promise<void> {
    for (let wait = pausedUntil - now(); wait > 0; wait = pausedUntil - now()) await sleep(wait);
  }

  async function take(): Promise<void> {
    const wait = nextTurnAt - now();
    if (wait > 0) await sleep(wait);
    await open();
    nextTurnAt = now() + gapMs;
  }

  return {
    turn() {
      queue = queue.then(take);
      return queue;
    },
    open,
    pauseFor(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
  };
}
