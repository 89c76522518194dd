/** More are acknowledged before they are worked on: Slack waits three seconds, for each of them. */
const MOST_RUNNING = 32;

/** Counts what runs, so that many who ask together are acknowledged first. */
export class Backlog {
  #running = 0;
  #full = Promise.withResolvers<undefined>();

  async track<Value>(work: Promise<Value>): Promise<Value> {
    this.#running += 1;
    if (this.isFull()) this.#full.resolve(undefined);
    try {
      return await work;
    } finally {
      const wasFull = this.isFull();
      this.#running -= 1;
      if (wasFull && !this.isFull()) this.#full = Promise.withResolvers();
    }
  }

  isFull(): boolean {
    return this.#running > MOST_RUNNING;
  }

  /** Resolves when too much runs. */
  full(): Promise<undefined> {
    return this.#full.promise;
  }
}
