/** Time, processes and effects of a history: everything happens one after the other, in an order determined by a seed. */
import type { Clock } from '../../src/core/util/clock.ts';

/** One incarnation of a replica. A dead one never gets a response. */
export interface Process {
  readonly name: string;
  state: 'alive' | 'frozen' | 'dead';
  /** Milliseconds by which its clock is fast. */
  readonly skewMs: number;
}

/** A requested effect that has not happened yet, or whose response is on its way. */
interface Pending {
  readonly process: Process;
  readonly label: string;
  readonly stage: 'request' | 'answer';
  readonly happen: () => void;
  /** It has left the process, so it happens even if the process is suspended. */
  sent: boolean;
  /** It happens inside the process, while that runs. */
  readonly local: boolean;
}

export interface EffectOptions {
  /** The request leaves the process in the same step. Other requests may be stuck in a suspended process. */
  readonly leaves?: boolean;
  /** It happens inside the process, as with SQLite. */
  readonly local?: boolean;
}

interface Timer {
  readonly at: number;
  /** Undefined for the outside world, which neither dies nor freezes. */
  readonly process: Process | undefined;
  readonly callback: () => void;
}

/** Maximum difference between the clocks of two processes, in milliseconds. */
export const MOST_SKEW_MS = 6_000;
/** Probability that the longest-waiting effect is next. */
const IN_ORDER = 0.6;
/** Probability that time passes although an effect could happen. */
const SLOW = 0.03;

export class Kernel {
  /** Milliseconds since the epoch. */
  now = Date.UTC(2026, 0, 5, 12);
  /** The events in order, as texts. */
  readonly trace: string[] = [];
  readonly random: () => number;
  #pending: Pending[] = [];
  #timers: Timer[] = [];
  #slow = SLOW;

  /** @param seed 0: in order, and no time passes while an effect can happen */
  constructor(seed: number) {
    this.random = seed === 0 ? () => 0 : mulberry32(seed);
  }

  /** True if a requested effect has not happened or has no response yet. */
  get isBusy(): boolean {
    return this.#pending.length > 0;
  }

  /** True if the outside world still has something to do. */
  get isBusyOutside(): boolean {
    return this.#timers.some(({ process }) => process === undefined);
  }

  tell(who: string, what: string): void {
    const seconds = (this.now - Date.UTC(2026, 0, 5, 12)) / 1_000;
    this.trace.push(`${seconds.toFixed(1).padStart(9)} s  ${who.padEnd(9)} ${what}`);
  }

  /** An effect outside of a process: it happens at once or never, and so does its response. Rejects as `operate` does. */
  effect<Value>(
    process: Process,
    label: string,
    operate: () => Value | Promise<Value>,
    { leaves = false, local = false }: EffectOptions = {},
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const happen = () => {
        const answered = (give: () => void) => () =>
          this.#wait({ process, label, stage: 'answer', happen: give, sent: false, local });
        const result = (async () => operate())();
        result.then(
          (value) => answered(() => resolve(value))(),
          (error: unknown) => answered(() => reject(error))(),
        );
      };
      this.#wait({ process, label, stage: 'request', happen, sent: leaves, local });
    });
  }

  /** Calls back after a delay in the world's time. */
  after(milliseconds: number, callback: () => void, process?: Process): () => void {
    if (process?.state === 'dead') return () => undefined;
    const timer = { at: this.now + Math.max(0, milliseconds), process, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  clockOf(process: Process): Clock {
    return {
      now: () => this.now + process.skewMs,
      elapsed: () => this.now,
      after: (milliseconds, callback) => this.after(milliseconds, callback, process),
    };
  }

  /** Kills a process. Its requests may already be on their way, but no response reaches it. */
  die(process: Process): void {
    this.#leave(process);
    process.state = 'dead';
    this.#pending = this.#pending.filter(
      (pending) => pending.process !== process || (pending.stage === 'request' && pending.sent),
    );
    this.#timers = this.#timers.filter((timer) => timer.process !== process);
  }

  /** From now on, no time passes while an effect can happen. */
  calm(): void {
    this.#slow = 0;
  }

  freeze(process: Process): void {
    this.#leave(process);
    process.state = 'frozen';
  }

  /** Makes one thing happen. False if nothing can happen. */
  step(): boolean {
    const possible = this.#pending.filter(
      ({ process, stage, sent }) => process.state === 'alive' || (stage === 'request' && sent),
    );
    const dice = this.random();
    if (possible.length > 0 && dice <= 1 - this.#slow) {
      const index = this.random() <= IN_ORDER ? 0 : Math.floor(this.random() * possible.length);
      const [chosen] = possible.slice(index);
      if (!chosen) throw new RangeError('no effect was selected');
      this.#pending = this.#pending.filter((pending) => pending !== chosen);
      if (chosen.stage === 'request') this.tell(chosen.process.name, chosen.label);
      if (chosen.stage === 'request' || chosen.process.state === 'alive') chosen.happen();
      return true;
    }
    const next = this.#timers
      .filter(({ process }) => process === undefined || process.state === 'alive')
      .reduce<Timer | undefined>(
        (first, timer) => (first && first.at <= timer.at ? first : timer),
        undefined,
      );
    if (!next) return possible.length > 0;
    this.#timers = this.#timers.filter((timer) => timer !== next);
    this.now = Math.max(this.now, next.at);
    next.callback();
    return true;
  }

  #wait(pending: Pending): void {
    if (pending.process.state !== 'dead') this.#pending.push(pending);
  }

  #leave(process: Process): void {
    for (const pending of this.#pending) {
      if (pending.process === process && !pending.sent && !pending.local) pending.sent = this.random() < 0.5;
    }
  }
}

/** Pseudorandom numbers from 0 to 1, equal for equal seeds. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
