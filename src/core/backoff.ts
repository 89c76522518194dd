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
