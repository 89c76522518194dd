/** How often a page may be asked for: a token bucket for each, so that one that is shared everywhere slows no other. */

export interface VisitLimitOptions {
  /** Requests in a row. */
  readonly most: number;
  /** How many come back each second. */
  readonly perSecond: number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
}

/** Pages that are remembered. Only signed addresses get here, so strangers cannot fill it. */
const MOST_PAGES = 1_000;

export function createVisitLimit({ most, perSecond, elapsed }: VisitLimitOptions) {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    admits(page: string): boolean {
      const now = elapsed();
      const { left, at } = buckets.get(page) ?? { left: most, at: now };
      const filled = Math.min(most, left + ((now - at) / 1000) * perSecond);
      // The one that was asked for longest ago comes first.
      buckets.delete(page);
      const [oldest] = buckets.keys();
      if (buckets.size >= MOST_PAGES && oldest !== undefined) buckets.delete(oldest);
      const admitted = filled >= 1;
      buckets.set(page, { left: admitted ? filled - 1 : filled, at: now });
      return admitted;
    },
  };
}
