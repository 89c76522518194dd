import type { LiveToken } from '../address.ts';

/** Tracks which post used an interaction's only response, because an interaction may have several posts. */
export class FirstResponses {
  readonly #filledBy = new Map<string, { readonly key: string; readonly expiresAt: number }>();

  /** Whether the post `key` may use the response. True for every post after a restart, because usage is not stored. */
  isFree({ token }: LiveToken, key: string): boolean {
    const usage = this.#filledBy.get(token);
    return usage === undefined || usage.key === key;
  }

  fill({ token, expiresAt }: LiveToken, key: string, now: number): void {
    for (const [old, { expiresAt: end }] of this.#filledBy) {
      // The oldest entry comes first, so the first live one ends the search.
      if (end > now) break;
      this.#filledBy.delete(old);
    }
    this.#filledBy.set(token, { key, expiresAt });
  }
}
