/** Spreads edits over time: one budget for every message of a workspace. */

export interface PaceOptions {
  /** Between two edits that can wait. */
  readonly gapMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

type Kind = 'first' | 'next';

export interface Pace {
  /** Resolves when an edit that can wait may be made. Waiters take turns, those with their first words before others. */
  turn(kind?: Kind): Promise<void>;
  /** Resolves when Slack asks for no more patience: for what must be written. */
  open(): Promise<void>;
  /** Slack said Retry-After. */
  pauseFor(ms: number): void;
}

export function createPace({ gapMs, now, sleep }: PaceOptions): Pace {
  let pausedUntil = 0;
  let nextTurnAt = 0;
  const waiting: Record<Kind, PromiseWithResolvers<void>[]> = { first: [], next: [] };
  let running = false;

  async function open(): Promise<void> {
    for (let wait = pausedUntil - now(); wait > 0; wait = pausedUntil - now()) await sleep(wait);
  }

  async function take(): Promise<void> {
    const wait = nextTurnAt - now();
    if (wait > 0) await sleep(wait);
    await open();
    nextTurnAt = now() + gapMs;
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.first.length + waiting.next.length > 0) {
      const taken = await take().then(
        () => ({ ok: true as const }),
        (error: unknown) => ({ ok: false as const, error }),
      );
      // Chosen after the wait: first words may have come meanwhile.
      const waiter = waiting.first.shift() ?? waiting.next.shift();
      if (taken.ok) waiter?.resolve();
      else waiter?.reject(taken.error);
    }
    running = false;
  }

  return {
    turn(kind = 'next') {
      const waiter = Promise.withResolvers<void>();
      waiting[kind].push(waiter);
      if (!running) void run();
      return waiter.promise;
    },
    open,
    pauseFor(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
  };
}
