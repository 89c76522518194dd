import type { LiveToken } from '../address.ts';

/** Which post has filled the first response of an interaction: there is one response, and perhaps several posts. */
export class FirstResponses {
  readonly #filledBy = new Map<string, { readonly key: string; readonly expiresAt: number }>();

  /** Whether `key` may fill it. After a restart every key may, because what filled it is forgotten. */
  isFree({ token }: LiveToken, key: string): boolean {
    const filled = this.#filledBy.get(token);
    return filled === undefined || filled.key === key;
  }

  fill({ token, expiresAt }: LiveToken, key: string, now: number): void {
    for (const [old, { expiresAt: end }] of this.#filledBy) {
      // The oldest comes first, so the first live one ends the search.
      if (end > now) break;
      this.#filledBy.delete(old);
    }
    this.#filledBy.set(token, { key, expiresAt });
  }
}
