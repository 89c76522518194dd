/** Pauses before retries: the other side's Retry-After, or exponential backoff. */

interface BackoffOptions {
  /** Number of failed tries, from 1. */
  readonly attempt: number;
  readonly firstMs: number;
  /** Limit before jitter. */
  readonly longestMs: number;
  /** At least 0 and less than 1. */
  readonly random: () => number;
}

/**
 * Milliseconds to wait before the next try: `firstMs` after the first failure, doubled after each further one, at most `longestMs`.
 * Jitter of up to 25 % keeps replicas from retrying at the same moment.
 */
export function backoff({ attempt, firstMs, longestMs, random }: BackoffOptions): number {
  return Math.min(firstMs * 2 ** (attempt - 1), longestMs) * (0.75 + random() / 2);
}

/** Longer values are not plausible. */
const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60_000;
const NUMBER = /^\d+(?:\.\d+)?$/;
/** A date as written by C's asctime, without a time zone; it is UTC (RFC 9110 section 5.6.7). */
const ASCTIME = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * The pause that response headers ask for, in milliseconds, at most a day: `retry-after-ms`, or `retry-after` in seconds or as a date
 * (RFC 9110 section 10.2.3). Undefined if absent or invalid, as for a negative number.
 */
export function retryAfterOf(
  headers: { get(name: string): string | null | undefined },
  now: number,
): number | undefined {
  const milliseconds = headers.get('retry-after-ms')?.trim() ?? '';
  const text = headers.get('retry-after')?.trim() ?? '';
  const wait = NUMBER.test(milliseconds)
    ? Number(milliseconds)
    : NUMBER.test(text)
      ? Number(text) * 1000
      : untilDate(text, now);
  return wait === undefined ? undefined : Math.min(wait, LONGEST_RETRY_AFTER_MS);
}

function untilDate(text: string, now: number): number | undefined {
  // Date.parse accepts "-1" as a year.
  const date = /^[a-z]/i.test(text) ? Date.parse(ASCTIME.test(text) ? `${text} UTC` : text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Varies a duration by up to 10 %, so that replicas don't work at the same moment. */
export function jitter(milliseconds: number, random: () => number): number {
  return milliseconds * (0.9 + random() * 0.2);
}
