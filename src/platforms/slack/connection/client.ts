/** Web API clients, and calls with this adapter's retries: the SDK's would last half an hour. */
import { type Logger, LogLevel, webApi } from '@slack/bolt';
import type { Log } from '../../../core/telemetry/log.ts';
import type { Measure } from '../../../core/telemetry/series.ts';
import { backoff } from '../../../core/util/backoff.ts';
import { present } from '../../../core/util/present.ts';
import { isUncertain, retryAfterMs, slackErrorOf } from '../errors.ts';
import type { Rate, Rates } from './rates.ts';

type Fetch = NonNullable<webApi.WebClientOptions['fetch']>;

export interface ClientOptions {
  /** Base URL of the Web API, ending in a slash. Defaults to Slack's own. */
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

/** Counts requests by method, and rate limit errors. */
export function measuredFetch(fetch: Fetch, measure: Measure): Fetch {
  return async (...request) => {
    const response = await fetch(...request);
    const { pathname } = new URL(response.url || String(request[0]));
    // Upload and response URLs contain secrets in their paths.
    const [, method = 'other'] = /\/api\/([a-z][\w.]{2,60})$/i.exec(pathname) ?? [];
    const { status } = response;
    measure('minstrel_platform_requests_total', { platform: 'slack', method, status: String(status) });
    if (status === 429) measure('minstrel_rate_limits_total', { by: 'slack' });
    return response;
  };
}

/**
 * Forwards the SDK's log lines. Debug lines are dropped because they contain tokens. Errors become warnings, because the
 * caller decides what a failure means.
 */
export function sdkLogger(log: Log): Logger {
  // After the first words, the SDK quotes errors, payloads and Slack's answers.
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

/** If Slack asks for a longer wait, the caller retries later. */
const MAX_WAIT_MS = 10_000;
const MAX_ATTEMPTS = 4;
const FIRST_WAIT_MS = 250;
/** Errors within Slack: the call had no effect. */
const TRANSIENT = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/**
 * Retries a call, waiting as Slack asks. `repeatable`: the call is idempotent, so it is repeated if it got no answer. `rate`:
 * the rate limiter to pause on Retry-After. Throws the SDK's last error.
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
      const retryAfter = retryAfterMs(error);
      if (retryAfter !== undefined) rate?.pauseFor(retryAfter);
      const wait = retryAfter ?? backoff({ attempt, firstMs: FIRST_WAIT_MS, longestMs: MAX_WAIT_MS, random });
      const isSafe =
        retryAfter !== undefined ||
        TRANSIENT.has(slackErrorOf(error) ?? '') ||
        (repeatable && isUncertain(error));
      if (!isSafe || attempt >= MAX_ATTEMPTS || wait > MAX_WAIT_MS) throw error;
      await sleep(wait);
    }
  }
}
