import type { LiveToken } from './place.ts';

/** Which post has filled the first response of an interaction: there is one response, and perhaps several posts. */
export class Originals {
  readonly #filledBy = new Map<string, { readonly key: string; readonly expiresAt: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether `key` may fill it. After a restart nobody knows, and the job that the interaction began is likeliest. */
  isFree({ token }: LiveToken, key: string): boolean {
    const filled = this.#filledBy.get(token);
    return filled === undefined || filled.key === key;
  }

  fill({ token, expiresAt }: LiveToken, key: string): void {
    for (const [old, { expiresAt: end }] of this.#filledBy) {
      // Oldest first, so the first that lives ends the search.
      if (end > this.#now()) break;
      this.#filledBy.delete(old);
    }
    this.#filledBy.set(token, { key, expiresAt });
  }
}
