/** Spaces out the edits of a growing text, based on Discord's rate-limit headers. */

import type { APIRequest, ResponseLike } from 'discord.js';
import type { System } from '../../../core/system.ts';
import { BoundedMap } from '../../../core/util/bounded-map.ts';

/** Used without headers: Discord allows about five edits in five seconds per channel. */
const EDIT_EVERY_MS = 1_200;
/** Older budgets are forgotten. */
const MAX_BUDGETS = 1_000;
/** Captures the channel or interaction token whose messages share an edit budget. */
const EDIT_PATH = /\/(?:channels|webhooks\/\d+)\/([^/]+)\/messages\/[^/]+$/;

export type EditPace = ReturnType<typeof createEditPace>;

/** discord.js only queues by these headers. Spreading the edits keeps a burst from using up the budget. */
export function createEditPace({ elapsed, sleep }: Pick<System, 'elapsed' | 'sleep'>) {
  /** When the next edit is due, by budget. */
  const nextAt = new BoundedMap<string, number>(MAX_BUDGETS);

  const delay = (budget: string, milliseconds: number) => void nextAt.set(budget, elapsed() + milliseconds);

  return {
    /** Reads the headers of a response: https://docs.discord.com/developers/topics/rate-limits */
    read(
      { method, path }: Pick<APIRequest, 'method' | 'path'>,
      { headers }: Pick<ResponseLike, 'headers'>,
    ): void {
      const [, budget] = method === 'PATCH' ? (EDIT_PATH.exec(path) ?? []) : [];
      const remaining = headers.get('x-ratelimit-remaining');
      const seconds = headers.get('x-ratelimit-reset-after');
      if (budget === undefined || remaining === null || seconds === null) return;
      delay(budget, (Number(seconds) * 1_000) / (Number(remaining) + 1));
    },

    /**
     * Resolves when the next edit is allowed, or `signal` aborts. The first edit does not wait.
     * @param budget the first page's budget; later pages may use `other`
     */
    async slot(
      { budget, other, isFirst }: { budget: string; other: string; isFirst: boolean },
      signal: AbortSignal,
    ): Promise<void> {
      const remaining = () => Math.max(nextAt.get(budget) ?? 0, nextAt.get(other) ?? 0) - elapsed();
      for (let wait = remaining(); wait > 0 && !isFirst && !signal.aborted; wait = remaining())
        await sleep(wait, signal);
      delay(budget, EDIT_EVERY_MS);
    },
  };
}
