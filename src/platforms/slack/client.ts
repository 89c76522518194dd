/** Calls of Slack's Web API with our retries instead of the SDK's half hour. */
import type { webApi } from '@slack/bolt';
import { isUncertain, retryAfterMs, slackErrorOf } from './errors.ts';
import type { Pace } from './pace.ts';

export interface SlackTools {
  readonly web: webApi.WebClient;
  readonly pace: Pace;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Longer than this, whoever asked tries again later instead. */
const LONGEST_WAIT_MS = 10_000;
const TRIES = 4;
const FIRST_PAUSE_MS = 250;
/** Slack's own trouble; the call did nothing. */
const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

export interface CallOptions {
  /** Doing it twice is the same as doing it once, so a lost answer is asked for again. */
  readonly repeatable: boolean;
}

/** Runs a call until it is answered: waits as Slack asks, tries again where that is safe. Throws the SDK's last error. */
export async function call<Answer>(
  run: () => Promise<Answer>,
  { repeatable }: CallOptions,
  { pace, sleep }: Pick<SlackTools, 'pace' | 'sleep'>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const wait = retryAfterMs(error);
      if (wait !== undefined) pace.pauseFor(wait);
      const pause = wait ?? FIRST_PAUSE_MS * 2 ** (attempt - 1);
      const safe =
        wait !== undefined || TRANSIENT.has(slackErrorOf(error) ?? '') || (repeatable && isUncertain(error));
      if (!safe || attempt >= TRIES || pause > LONGEST_WAIT_MS) throw error;
      await sleep(pause);
    }
  }
}
