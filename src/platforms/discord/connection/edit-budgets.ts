/** How many edits Discord still takes, by its own headers: https://docs.discord.com/developers/topics/rate-limits. */
import type { RESTOptions } from 'discord.js';

type MakeRequest = RESTOptions['makeRequest'];

/** The channel, or the interaction's token, whose messages share one budget of edits. */
const EDITED = /\/(?:channels|webhooks\/\d+)\/([^/]+)\/messages\/[^/]+$/;
/** Budgets that are remembered, the latest ones. */
const REMEMBERED = 1_000;

interface Budget {
  readonly remaining: number;
  /** By a clock that is never set. */
  readonly resetAt: number;
}

export interface EditBudgets {
  /** Makes requests as `request` does, and reads what their answers tell. */
  readonly reading: (request: MakeRequest) => MakeRequest;
  /**
   * Milliseconds until the next edit, so that what remains is spread over the time until it is renewed. Undefined where Discord told
   * nothing, or what it told is over. `edited`: channels and tokens.
   */
  readonly pause: (edited: readonly string[]) => number | undefined;
}

export function createEditBudgets(elapsed: () => number): EditBudgets {
  const budgets = new Map<string, Budget>();

  function read(url: string, headers: { get(name: string): string | null }): void {
    const [, edited] = EDITED.exec(new URL(url).pathname) ?? [];
    const remaining = headers.get('x-ratelimit-remaining');
    const seconds = headers.get('x-ratelimit-reset-after');
    if (edited === undefined || remaining === null || seconds === null) return;
    budgets.delete(edited);
    budgets.set(edited, { remaining: Number(remaining), resetAt: elapsed() + Number(seconds) * 1_000 });
    const [oldest] = budgets.size > REMEMBERED ? budgets.keys() : [];
    if (oldest !== undefined) budgets.delete(oldest);
  }

  return {
    reading: (request) => async (url, init) => {
      const response = await request(url, init);
      if (init.method === 'PATCH') read(url, response.headers);
      return response;
    },
    pause(edited) {
      const pauses = edited.flatMap((key) => {
        const budget = budgets.get(key);
        const left = budget ? budget.resetAt - elapsed() : Number.NaN;
        return budget && left >= 0 ? left / (budget.remaining + 1) : [];
      });
      return pauses.length === 0 ? undefined : Math.max(...pauses);
    },
  };
}
