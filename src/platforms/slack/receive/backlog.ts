/** More at once are acknowledged before they are worked on: Slack waits three seconds, for each of them. */
const MOST_AT_ONCE = 32;
/** Work keeps the process from acknowledging others, so it begins when none has come for so long. */
const CALM_MS = 300;
/** Where they never stop coming, it begins after so many waits. */
const MOST_WAITS = 5;

/** Counts what is being answered, so that many who ask together are acknowledged first. */
export class Backlog {
  readonly #open = new Set<() => void>();
  #came = 0;
  #calm: Promise<void> | undefined;

  /** `crowded` resolves when too much is being answered. */
  async track<Value>(answer: (crowded: Promise<undefined>) => Promise<Value>): Promise<Value> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const tell = () => resolve(undefined);
    this.#came += 1;
    this.#open.add(tell);
    if (this.#open.size === MOST_AT_ONCE + 1) for (const each of this.#open) each();
    else if (this.isCrowded()) tell();
    try {
      return await answer(promise);
    } finally {
      this.#open.delete(tell);
    }
  }

  isCrowded(): boolean {
    return this.#open.size > MOST_AT_ONCE;
  }

  /** Resolves when those who ask together were acknowledged; at once where they are few. */
  async calm(sleep: (ms: number) => Promise<void>): Promise<void> {
    if (!this.isCrowded()) return;
    this.#calm ??= this.#untilNoneComes(sleep).finally(() => {
      this.#calm = undefined;
    });
    await this.#calm;
  }

  async #untilNoneComes(sleep: (ms: number) => Promise<void>): Promise<void> {
    let before: number | undefined;
    for (let waits = 0; before !== this.#came && waits < MOST_WAITS; waits += 1) {
      before = this.#came;
      await sleep(CALM_MS);
    }
  }
}
