/** Clients of Slack's Web API, and calls with our retries: the SDK's would go on for half an hour. */
import { type Logger, LogLevel, webApi } from '@slack/bolt';
import type { Log } from '../../../core/telemetry/log.ts';
import type { Measure } from '../../../core/telemetry/series.ts';
import { backoff } from '../../../core/util/backoff.ts';
import { present } from '../../../core/util/present.ts';
import { isUncertain, retryAfterMs, slackErrorOf } from '../errors.ts';
import type { Rate, Rates } from './rates.ts';

type Fetch = NonNullable<webApi.WebClientOptions['fetch']>;

export interface ClientOptions {
  /** The Web API's base, with a slash at its end; Slack's own when left out. */
  readonly apiUrl: string | undefined;
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly fetch?: Fetch;
}

export function webClientOptions({
  apiUrl,
  timeoutMs,
  logger,
  fetch,
}: ClientOptions): webApi.WebClientOptions {
  return {
    ...present({ slackApiUrl: apiUrl, fetch }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    logger,
  };
}

export function createWebClient(token: string | undefined, options: ClientOptions): webApi.WebClient {
  return new webApi.WebClient(token, webClientOptions(options));
}

/** Counts calls by their method, and refusals because of too many. */
export function measuredFetch(fetch: Fetch, measure: Measure): Fetch {
  return async (...request) => {
    const response = await fetch(...request);
    const { pathname } = new URL(response.url || String(request[0]));
    // Uploads and response URLs have secrets in their paths.
    const [, method = 'other'] = /\/api\/([a-z][\w.]{2,60})$/i.exec(pathname) ?? [];
    const { status } = response;
    measure('minstrel_platform_requests_total', { platform: 'slack', method, status: String(status) });
    if (status === 429) measure('minstrel_rate_limits_total', { by: 'slack' });
    return response;
  };
}

/**
 * The SDK's log lines in ours. Its debug lines hold whole payloads, tokens among them, and are left out. Its errors are
 * warnings here, because the caller decides what a failure means.
 */
export function sdkLogger(log: Log): Logger {
  // Behind the first words the SDK quotes errors, payloads and what Slack answered.
  const sentence = ([first]: readonly unknown[]): string =>
    typeof first === 'string'
      ? `Slack SDK: ${first
          .split(/[[({:]/, 1)
          .join('')
          .trim()}`
      : 'Slack SDK';
  const fields = (parts: readonly unknown[]) => {
    const err = parts.find((part) => part instanceof Error);
    return present({ err });
  };
  return {
    debug() {},
    info: (...parts) => log.debug(fields(parts), sentence(parts)),
    warn: (...parts) => log.warn(fields(parts), sentence(parts)),
    error: (...parts) => log.warn(fields(parts), sentence(parts)),
    setLevel() {},
    getLevel: () => LogLevel.INFO,
    setName() {},
  };
}

export interface SlackTools {
  readonly web: webApi.WebClient;
  readonly rates: Rates;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/** For a longer wait the caller tries again later instead. */
const LONGEST_WAIT_MS = 10_000;
const TRIES = 4;
const FIRST_WAIT_MS = 250;
/** Slack's own errors; the call did nothing. */
const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/**
 * Runs a call until it is answered: waits as Slack asks, tries again where that is safe. `repeatable`: doing it twice is
 * the same as doing it once, so a call without an answer is made again. `rate`: what else waits with it when Slack says
 * Retry-After. Throws the SDK's last error.
 */
export async function call<Answer>(
  run: () => Promise<Answer>,
  { repeatable, rate }: { readonly repeatable: boolean; readonly rate?: Rate },
  { sleep, random }: Pick<SlackTools, 'sleep' | 'random'>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const after = retryAfterMs(error);
      if (after !== undefined) rate?.pauseFor(after);
      const wait = after ?? backoff({ attempt, firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS, random });
      const isSafe =
        after !== undefined || TRANSIENT.has(slackErrorOf(error) ?? '') || (repeatable && isUncertain(error));
      if (!isSafe || attempt >= TRIES || wait > LONGEST_WAIT_MS) throw error;
      await sleep(wait);
    }
  }
}
