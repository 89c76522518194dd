/** BullMQ's worker, which knows in addition how long each of its locks surely lasts, although its process was suspended. */
import { type Job, Worker } from 'bullmq';
import { replyOf } from './errors.ts';

interface Lease {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
  readonly leaseMs: number;
  /** Waits before it asks again a Redis that refused, as one whose memory is full. */
  readonly pause: () => Promise<void>;
}

export class LeaseWorker<Data> extends Worker<Data> {
  /** When each lock was asked for, in milliseconds of {@link elapsed}, by timer. */
  readonly #lockedAt = new Map<string, number>();
  readonly #elapsed: () => number;
  readonly #leaseMs: number;
  readonly #pause: () => Promise<void>;

  constructor({ elapsed, leaseMs, pause }: Lease, ...worker: ConstructorParameters<typeof Worker<Data>>) {
    super(...worker);
    this.#pause = pause;
    this.#elapsed = elapsed;
    this.#leaseMs = leaseMs;
  }

  /** Whether no other worker can have the timer by now. */
  isLocked(timer: string): boolean {
    const lockedAt = this.#lockedAt.get(timer) ?? Number.NEGATIVE_INFINITY;
    return this.#elapsed() - lockedAt < this.#leaseMs;
  }

  unlocked(timer: string): void {
    this.#lockedAt.delete(timer);
  }

  /** A timer is locked when Redis hands it out: alone, or with the end of another. Without one, `fetch` resolves to undefined. */
  async #lock(fetch: () => Promise<Job<Data>>): Promise<Job<Data>> {
    // Read before the request: the process may be suspended while it waits for the answer.
    const at = this.#elapsed();
    const timer: Job<Data> | undefined = await fetch();
    if (timer?.id !== undefined) this.#lockedAt.set(timer.id, at);
    return timer;
  }

  /** BullMQ pauses by itself where the connection fails, and asks again at once where Redis refuses. */
  protected override async moveToActive(token: string, name?: string): Promise<Job<Data>> {
    try {
      return await this.#lock(() => super.moveToActive(token, name));
    } catch (error) {
      if (replyOf(error) !== undefined) await this.#pause();
      throw error;
    }
  }

  protected override handleCompleted(
    ...end: Parameters<Worker<Data>['handleCompleted']>
  ): Promise<Job<Data>> {
    return this.#lock(() => super.handleCompleted(...end));
  }

  protected override handleFailed(...end: Parameters<Worker<Data>['handleFailed']>): Promise<Job<Data>> {
    return this.#lock(() => super.handleFailed(...end));
  }

  override async extendJobLocks(timers: string[], tokens: string[], duration: number): Promise<string[]> {
    const at = this.#elapsed();
    const lost = await super.extendJobLocks(timers, tokens, duration);
    for (const timer of timers) {
      if (lost.includes(timer)) this.#lockedAt.delete(timer);
      else if (this.#lockedAt.has(timer)) this.#lockedAt.set(timer, at);
    }
    return lost;
  }
}
