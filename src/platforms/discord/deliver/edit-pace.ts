/** When a growing text may be edited again, as Discord's rate-limit headers tell. */

import type { APIRequest, ResponseLike } from 'discord.js';
import type { System } from '../../../core/system.ts';
import { BoundedMap } from '../../../core/util/bounded-map.ts';

/** Where Discord tells nothing: about five edits in five seconds from a channel. */
const EDIT_EVERY_MS = 1_200;
/** Budgets that are remembered, the latest ones. */
const REMEMBERED = 1_000;
/** The channel, or the interaction's token, whose messages share one budget of edits. */
const EDITED = /\/(?:channels|webhooks\/\d+)\/([^/]+)\/messages\/[^/]+$/;

export type EditPace = ReturnType<typeof createEditPace>;

/** discord.js queues requests by the same headers. Here edits are spread, so that the budget is not used up in a burst. */
export function createEditPace({ elapsed, sleep }: Pick<System, 'elapsed' | 'sleep'>) {
  /** By budget, when the next edit is due. */
  const nextAt = new BoundedMap<string, number>(REMEMBERED);

  const delay = (budget: string, milliseconds: number) => void nextAt.set(budget, elapsed() + milliseconds);

  return {
    /** For the answer to each request: https://docs.discord.com/developers/topics/rate-limits */
    read(
      { method, path }: Pick<APIRequest, 'method' | 'path'>,
      { headers }: Pick<ResponseLike, 'headers'>,
    ): void {
      const [, budget] = method === 'PATCH' ? (EDITED.exec(path) ?? []) : [];
      const remaining = headers.get('x-ratelimit-remaining');
      const seconds = headers.get('x-ratelimit-reset-after');
      if (budget === undefined || remaining === null || seconds === null) return;
      delay(budget, (Number(seconds) * 1_000) / (Number(remaining) + 1));
    },

    /**
     * Resolves when the next edit may be made, or `signal` aborts. First words do not wait.
     * @param budget of the message; pages after the first may belong to `other`
     */
    async slot(
      { budget, other, isFirst }: { budget: string; other: string; isFirst: boolean },
      signal: AbortSignal,
    ): Promise<void> {
      const left = () => Math.max(nextAt.get(budget) ?? 0, nextAt.get(other) ?? 0) - elapsed();
      for (let wait = left(); wait > 0 && !isFirst && !signal.aborted; wait = left())
        await sleep(wait, signal);
      delay(budget, EDIT_EVERY_MS);
    },
  };
}
