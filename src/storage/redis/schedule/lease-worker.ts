/** BullMQ's worker, which knows in addition how long each of its locks surely lasts, although its process was suspended. */
import { Worker } from 'bullmq';

interface Lease {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
  readonly leaseMs: number;
}

export class LeaseWorker<Data> extends Worker<Data> {
  /** When each lock was asked for, in milliseconds of {@link elapsed}, by timer. */
  readonly #lockedAt = new Map<string, number>();
  readonly #elapsed: () => number;
  readonly #leaseMs: number;

  constructor({ elapsed, leaseMs }: Lease, ...worker: ConstructorParameters<typeof Worker<Data>>) {
    super(...worker);
    this.#elapsed = elapsed;
    this.#leaseMs = leaseMs;
  }

  /** Whether no other worker can have the timer by now. */
  isLocked(timer: string): boolean {
    const lockedAt = this.#lockedAt.get(timer) ?? Number.NEGATIVE_INFINITY;
    return this.#elapsed() - lockedAt < this.#leaseMs;
  }

  /** Called with each timer that is fetched: fetching locks it. */
  locked(timer: string): void {
    this.#lockedAt.set(timer, this.#elapsed());
  }

  unlocked(timer: string): void {
    this.#lockedAt.delete(timer);
  }

  override async extendJobLocks(timers: string[], tokens: string[], duration: number): Promise<string[]> {
    // Read before the request: the process may be suspended while it waits for the answer.
    const at = this.#elapsed();
    const lost = await super.extendJobLocks(timers, tokens, duration);
    for (const timer of timers) {
      if (lost.includes(timer)) this.#lockedAt.delete(timer);
      else if (this.#lockedAt.has(timer)) this.#lockedAt.set(timer, at);
    }
    return lost;
  }
}
