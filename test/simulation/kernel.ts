/** Time, processes and effects of one history: everything happens one after the other, in the order of a seed. */
import type { Clock } from '../../src/core/clock.ts';

/** One incarnation of a replica. What a dead one waits for never comes. */
export interface Process {
  readonly name: string;
  state: 'alive' | 'frozen' | 'dead';
  /** Milliseconds by which its clock is fast. */
  readonly skewMs: number;
}

/** An effect that was asked for and did not happen yet, or whose answer is on its way back. */
interface Pending {
  readonly process: Process;
  readonly label: string;
  readonly stage: 'request' | 'answer';
  readonly happen: () => void;
  /** It left the process: it happens although the process is suspended. */
  sent: boolean;
  /** It never leaves: it happens inside the process, while that runs. */
  readonly local: boolean;
}

export interface EffectOptions {
  /** The request leaves the process in the very step in which it is made. Others may stay in one that is frozen. */
  readonly leaves?: boolean;
  /** It happens inside the process, as all that SQLite does. */
  readonly local?: boolean;
}

interface Timer {
  readonly at: number;
  /** Undefined: of the world outside, which neither dies nor freezes. */
  readonly process: Process | undefined;
  readonly callback: () => void;
}

/** Milliseconds between the clocks of two processes, at most. */
export const MOST_SKEW_MS = 6_000;
/** How often the longest-waiting effect is the next. */
const IN_ORDER = 0.6;
/** How often time passes although something could happen now. */
const SLOW = 0.03;

export class Kernel {
  /** Milliseconds since the epoch. */
  now = Date.UTC(2026, 0, 5, 12);
  /** What happened, in order, in words. */
  readonly trace: string[] = [];
  readonly random: () => number;
  #pending: Pending[] = [];
  #timers: Timer[] = [];

  /** @param seed 0: in order, and no time passes while something can happen */
  constructor(seed: number) {
    this.random = seed === 0 ? () => 0 : mulberry32(seed);
  }

  /** Something was asked for, and has not happened or was not answered. */
  get isBusy(): boolean {
    return this.#pending.length > 0;
  }

  /** The world outside of every process still does something. */
  get isBusyOutside(): boolean {
    return this.#timers.some(({ process }) => process === undefined);
  }

  tell(who: string, what: string): void {
    const seconds = (this.now - Date.UTC(2026, 0, 5, 12)) / 1_000;
    this.trace.push(`${seconds.toFixed(1).padStart(9)} s  ${who.padEnd(9)} ${what}`);
  }

  /** Something outside of a process: it happens at once or never, and so does its answer. Rejects as `operate` does. */
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

  /** Calls back after so many milliseconds of the world's time. */
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

  /** What it asked for may be on its way already; nothing reaches it any more. */
  die(process: Process): void {
    this.#leave(process);
    process.state = 'dead';
    this.#pending = this.#pending.filter(
      (pending) => pending.process !== process || (pending.stage === 'request' && pending.sent),
    );
    this.#timers = this.#timers.filter((timer) => timer.process !== process);
  }

  freeze(process: Process): void {
    this.#leave(process);
    process.state = 'frozen';
  }

  /** Makes one thing happen. False when nothing can happen any more. */
  step(): boolean {
    const possible = this.#pending.filter(
      ({ process, stage, sent }) => process.state === 'alive' || (stage === 'request' && sent),
    );
    const dice = this.random();
    if (possible.length > 0 && dice <= 1 - SLOW) {
      const index = this.random() <= IN_ORDER ? 0 : Math.floor(this.random() * possible.length);
      const [chosen] = possible.slice(index);
      if (!chosen) throw new RangeError('nothing was chosen');
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

/** Numbers from 0 to 1 that look random and are the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
