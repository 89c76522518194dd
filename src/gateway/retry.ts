import { GatewayError } from './errors.ts';
import { failed } from './failures.ts';
import { asNumber } from './json.ts';
import type { GatewayOptions } from './options.ts';
import { ROUTES } from './routes.ts';

const MOST_TRIES = 4;
/** From the first try on; no try starts later than this. Within it a person still waits for an acknowledged command. */
const BUDGET_MS = 20_000;
/** As the vendors' own clients: half a second, doubling to eight, up to a quarter less (@anthropic-ai/sdk client.ts). */
const FIRST_WAIT_MS = 500;
/** Rates are counted over seconds: 20 requests in 10 s in the public music API. */
const FIRST_RATE_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 8_000;
const JITTER = 0.25;
/** Longer is not believed. */
const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60_000;

/** Tries again what failed with a retryable error, within the budget; Retry-After is obeyed, or the error stands. */
export async function withRetries<T>(
  { now, random, sleep }: Pick<GatewayOptions, 'now' | 'random' | 'sleep'>,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  const deadline = now() + BUDGET_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof GatewayError) || !worthAnotherTry(error) || tries >= MOST_TRIES) throw error;
      const first = error.code === 'rate' ? FIRST_RATE_WAIT_MS : FIRST_WAIT_MS;
      const backoff = Math.min(first * 2 ** (tries - 1), LONGEST_WAIT_MS) * (1 - JITTER * random());
      const wait = Math.ceil(Math.max(backoff, (error.retryAfterMs ?? 0) * (1 + (JITTER * random()) / 2)));
      if (now() + wait > deadline) throw error;
      await pause(sleep, wait, signal);
      if (signal?.aborted === true) {
        throw failed(error.route, {
          code: 'aborted',
          neverSent: error.taken === 'no',
          explanation: 'aborted while waiting to try again',
          cause: error,
        });
      }
    }
  }
}

function worthAnotherTry(error: GatewayError): boolean {
  if (!error.retryable) return false;
  if (error.retryAfterMs !== undefined) return true;
  if (error.code === 'maintenance') return false;
  // A 429 of the messages dialect without Retry-After is a spend limit:
  // https://learn.microsoft.com/en-us/microsoft-cloud/dev/dev-proxy (anthropic-529).
  return !(error.code === 'rate' && ROUTES[error.route].family === 'msg');
}

async function pause(
  sleep: GatewayOptions['sleep'],
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const onAbort = () => aborted.resolve();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([sleep(ms, signal).catch(() => undefined), aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * What the answer's headers ask us to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date
 * (RFC 9110 section 10.2.3).
 */
export function retryAfterOf(headers: { get(name: string): string | null }, now: number): number | undefined {
  const milliseconds = asNumber(headers.get('retry-after-ms'));
  if (milliseconds !== undefined && milliseconds >= 0) return Math.min(milliseconds, LONGEST_RETRY_AFTER_MS);
  const header = headers.get('retry-after');
  const seconds = asNumber(header);
  if (seconds !== undefined)
    return seconds >= 0 ? Math.min(seconds * 1000, LONGEST_RETRY_AFTER_MS) : undefined;
  const date = Date.parse(header ?? '');
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), LONGEST_RETRY_AFTER_MS);
}
