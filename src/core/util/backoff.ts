/** How long to wait before the next try: what the other side asks for, and our own pauses where it says nothing. */

interface BackoffOptions {
  /** How many tries have failed, from 1. */
  readonly attempt: number;
  readonly firstMs: number;
  /** Before jitter. */
  readonly longestMs: number;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/**
 * Milliseconds to wait before the next try: `firstMs` after the first failure, doubled after each further one, at most
 * `longestMs`. Jitter makes it up to a quarter shorter or longer, so that replicas do not try again at the same moment.
 */
export function backoff({ attempt, firstMs, longestMs, random }: BackoffOptions): number {
  return Math.min(firstMs * 2 ** (attempt - 1), longestMs) * (0.75 + random() / 2);
}

/** Longer is not believed. */
const LONGEST_RETRY_AFTER_MS = 24 * 60 * 60_000;
const NUMBER = /^\d+(?:\.\d+)?$/;
/** The date as C's asctime writes it: it names no zone, and is UTC (RFC 9110 section 5.6.7). */
const ASCTIME = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * What the headers of an answer ask us to wait, in milliseconds, at most a day: `retry-after-ms`, or `retry-after` in
 * seconds or as a date (RFC 9110 section 10.2.3). Undefined for what is neither, a negative number included.
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
  // Date.parse takes "-1" for a year.
  const date = /^[a-z]/i.test(text) ? Date.parse(ASCTIME.test(text) ? `${text} UTC` : text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** About so many milliseconds, a tenth shorter or longer, so that replicas do not do the same at the same moment. */
export function jitter(milliseconds: number, random: () => number): number {
  return milliseconds * (0.9 + random() * 0.2);
}
