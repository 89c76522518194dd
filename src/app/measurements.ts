/** What is measured where the parts are put together: open jobs, connections, acknowledgements. */
import type { Bot } from '../core/bot.ts';
import type { Measure } from '../core/series.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Platform } from '../platforms/platform.ts';
import { FAMILY_OF } from '../settings/limits/limits.ts';
import type { OpenCount, Storage } from '../storage/storage.ts';

/** Counting open jobs reads all of them, so it is done this often at the most. */
const FRESH_MS = 15_000;

export interface CollectorOptions {
  readonly metrics: Pick<Metrics, 'measure' | 'reset'>;
  readonly storage: Pick<Storage, 'jobs'>;
  readonly platforms: readonly Platform[];
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
}

/** Resolves when the gauges are set; rejects with StorageError when jobs cannot be counted now. */
export function createCollector({ metrics, storage, platforms, now, elapsed }: CollectorOptions) {
  const { measure, reset } = metrics;
  let counted = Number.NEGATIVE_INFINITY;

  return async (): Promise<void> => {
    for (const platform of platforms) {
      const labels = { platform: platform.name };
      measure('minstrel_platform_ready', labels, platform.status().ready ? 1 : 0);
      if (platform.connections) measure('minstrel_platform_connections', labels, platform.connections());
    }
    if (elapsed() - counted < FRESH_MS) return;
    counted = elapsed();
    const counts = await storage.jobs.openCounts();
    reset('minstrel_jobs');
    reset('minstrel_queue_length');
    reset('minstrel_oldest_job_age_seconds');
    setGauges(counts, now(), measure);
  };
}

function setGauges(counts: readonly OpenCount[], now: number, measure: Measure): void {
  const sums = new Map<string, { family: string; state: string; count: number; queued: number }>();
  const oldest = new Map<string, number>();
  for (const { route, state, count, queued, oldestAt } of counts) {
    // Routes of a newer version are counted under their own name.
    const family = Object.entries(FAMILY_OF).find(([known]) => known === route)?.[1] ?? route;
    const before = sums.get(`${family} ${state}`);
    sums.set(`${family} ${state}`, {
      family,
      state,
      count: count + (before?.count ?? 0),
      queued: queued + (before?.queued ?? 0),
    });
    oldest.set(state, Math.min(oldestAt, oldest.get(state) ?? oldestAt));
  }
  const lines = new Map<string, number>();
  for (const { family, state, count, queued } of sums.values()) {
    measure('minstrel_jobs', { family, state }, count);
    lines.set(family, queued + (lines.get(family) ?? 0));
  }
  for (const [family, queued] of lines) measure('minstrel_queue_length', { family }, queued);
  for (const [state, at] of oldest)
    measure('minstrel_oldest_job_age_seconds', { state }, Math.max(0, now - at) / 1000);
}

/** Times invocations from their arrival to the end of their acknowledgement, which is when work begins. */
export function measuredBot(
  bot: Bot,
  platform: string,
  { measure, elapsed }: { readonly measure: Measure; readonly elapsed: () => number },
): Bot {
  return {
    ...bot,
    async run(invocation) {
      const arrivedAt = elapsed();
      const outcome = await bot.run(invocation);
      if (outcome.type !== 'accepted') return outcome;
      return {
        ...outcome,
        begin: () => {
          measure('minstrel_acknowledged_seconds', { platform }, (elapsed() - arrivedAt) / 1000);
          outcome.begin();
        },
      };
    },
  };
}
