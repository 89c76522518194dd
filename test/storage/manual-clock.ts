import { type Clock, pause } from '../../src/core/util/clock.ts';

/** A clock that the test advances. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { at: number; callback: () => void }[] = [];

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;
  readonly elapsed = this.now;

  readonly after = (milliseconds: number, callback: () => void): (() => void) => {
    const timer = { at: this.#now + milliseconds, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /** Resolves after this time, or immediately when the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal = AbortSignal.any([])): Promise<void> {
    return pause(milliseconds, signal, this);
  }

  /** When the next timer is due; undefined without timers. */
  get next(): number | undefined {
    return this.#timers.length === 0 ? undefined : Math.min(...this.#timers.map(({ at }) => at));
  }

  get timers(): number {
    return this.#timers.length;
  }

  /** Advances the time and runs due timers in order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }
}
