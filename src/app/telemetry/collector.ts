/** Gauges that are read on each scrape: open jobs, connections and the disk. */

import { statfs } from 'node:fs/promises';
import manifest from '../../../package.json' with { type: 'json' };
import type { System } from '../../core/system.ts';
import type { Measure } from '../../core/telemetry/series.ts';
import type { Metrics } from '../../http/metrics.ts';
import { CALLBACK_OUTCOMES } from '../../http/music-callback.ts';
import { INVARIANTS } from '../../jobs/invariants.ts';
import type { Platform } from '../../platforms/platform.ts';
import { FAMILY_OF } from '../../settings/limits/meter.ts';
import type { OpenCount, Storage } from '../../storage/storage.ts';

/** The minimum time between counts of open jobs, because counting reads all of them. */
const FRESH_MS = 15_000;

export interface CollectorOptions extends Pick<System, 'now' | 'elapsed'> {
  readonly metrics: Pick<Metrics, 'measure' | 'reset'>;
  readonly storage: Pick<Storage, 'jobs'>;
  readonly platforms: readonly Platform[];
  /** A folder on the disk to measure. */
  readonly dataDirectory: string;
}

/** Returns a function that sets the gauges. Those of jobs are absent while storage is down. Never rejects. */
export function createCollector({
  metrics,
  storage,
  platforms,
  dataDirectory,
  now,
  elapsed,
}: CollectorOptions) {
  const { measure, reset } = metrics;
  let countedAt = Number.NEGATIVE_INFINITY;
  initialiseCounters(platforms, measure);
  measure('minstrel_build_info', { version: manifest.version, node: process.versions.node });

  return async (): Promise<void> => {
    for (const platform of platforms) {
      const labels = { platform: platform.name };
      measure('minstrel_platform_ready', labels, platform.status().ready ? 1 : 0);
      if (platform.connections) measure('minstrel_platform_connections', labels, platform.connections());
    }
    await measureDisk(dataDirectory, measure);
    if (elapsed() - countedAt < FRESH_MS) return;
    const counts = await storage.jobs.openCounts().catch(() => undefined);
    reset('minstrel_jobs');
    reset('minstrel_queue_length');
    reset('minstrel_oldest_job_age_seconds');
    if (!counts) return;
    countedAt = elapsed();
    setGauges(counts, now(), measure);
  };
}

/** Creates the counters used by alerts, because Prometheus sees no increase in a series' first sample. */
function initialiseCounters(platforms: readonly Platform[], measure: Measure): void {
  for (const outcome of CALLBACK_OUTCOMES) measure('minstrel_callbacks_total', { outcome }, 0);
  for (const invariant of INVARIANTS) measure('minstrel_invariants_broken_total', { invariant }, 0);
  for (const { name } of platforms) measure('minstrel_undelivered_total', { platform: name }, 0);
}

/** Reports 0 of 0 bytes if the disk cannot be read. */
async function measureDisk(directory: string, measure: Measure): Promise<void> {
  const disk = await statfs(directory).catch(() => undefined);
  measure('minstrel_disk_free_bytes', {}, disk ? disk.bavail * disk.bsize : 0);
  measure('minstrel_disk_size_bytes', {}, disk ? disk.blocks * disk.bsize : 0);
}

function setGauges(counts: readonly OpenCount[], now: number, measure: Measure): void {
  // Routes from a newer version are counted under their own name.
  const withFamily = counts.map((one) => ({ ...one, family: FAMILIES.get(one.route) ?? one.route }));
  for (const [family, ofFamily] of Map.groupBy(withFamily, (one) => one.family)) {
    measure('minstrel_queue_length', { family }, sum(ofFamily.map(({ queued }) => queued)));
    for (const [state, group] of Map.groupBy(ofFamily, (one) => one.state))
      measure('minstrel_jobs', { family, state }, sum(group.map(({ count }) => count)));
  }
  for (const [state, group] of Map.groupBy(withFamily, (one) => one.state)) {
    const oldest = Math.min(...group.map(({ oldestAt }) => oldestAt));
    measure('minstrel_oldest_job_age_seconds', { state }, Math.max(0, now - oldest) / 1000);
  }
}

const FAMILIES: ReadonlyMap<string, string> = new Map(Object.entries(FAMILY_OF));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
