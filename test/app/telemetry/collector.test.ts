import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createCollector } from '../../../src/app/telemetry/collector.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import type { OpenCount } from '../../../src/storage/storage.ts';

const COUNT = {
  route: 'answer',
  state: 'waiting',
  count: 3,
  queued: 0,
  oldestAt: 0,
} as const satisfies OpenCount;

it('reports open jobs by family and state, and the oldest age per state', async () => {
  const metrics = createMetrics();
  const song = { ...COUNT, route: 'music.generate', queued: 1, oldestAt: 9_000 };
  const counts = [song, { ...song, route: 'music.extend', oldestAt: 4_000 }, { ...COUNT, oldestAt: 8_000 }];
  await createCollector({
    metrics,
    // Only this part of storage is used.
    storage: { jobs: { openCounts: async () => counts } } as never,
    platforms: [],
    dataDirectory: '.',
    now: () => 10_000,
    elapsed: () => 0,
  })();
  const shown = await metrics.render();
  for (const line of [
    'minstrel_jobs{family="song",state="waiting"} 6',
    'minstrel_jobs{family="ask",state="waiting"} 3',
    'minstrel_queue_length{family="song"} 2',
    'minstrel_oldest_job_age_seconds{state="waiting"} 6',
  ])
    expect(shown).toContain(line);
});

it('reports the version and the disk of DATA_DIR', async () => {
  const metrics = createMetrics();
  const storage = { jobs: { openCounts: async () => [] } };
  // Only this part of storage is used.
  const options = { metrics, storage: storage as never, platforms: [], now: () => 0, elapsed: () => 0 };
  await createCollector({ ...options, dataDirectory: '.' })();
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const shown = await metrics.render();
  expect(shown).toContain(`minstrel_build_info{version="${version}",node="${process.versions.node}"} 1`);
  const bytes = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(shown)?.[1]);
  expect(bytes('minstrel_disk_free_bytes')).toBeGreaterThan(0);
  expect(bytes('minstrel_disk_size_bytes')).toBeGreaterThan(bytes('minstrel_disk_free_bytes'));
  await createCollector({ ...options, dataDirectory: 'missing' })();
  expect(await metrics.render()).toContain('minstrel_disk_size_bytes 0');
});

it('omits job gauges while storage is down, and retries at the next scrape', async () => {
  const metrics = createMetrics();
  const answers = [async () => [COUNT], () => Promise.reject(new Error('away')), async () => [COUNT]];
  let time = 0;
  const collect = createCollector({
    metrics,
    // Only this part of storage is used.
    storage: { jobs: { openCounts: () => answers.shift()?.() } } as never,
    platforms: [],
    dataDirectory: '.',
    now: () => time,
    elapsed: () => time,
  });
  const scrape = async () => {
    await collect();
    return /minstrel_jobs\{[^}]*\} (\d+)/.exec(await metrics.render())?.[1];
  };
  expect(await scrape()).toBe('3');
  time = 20_000;
  expect(await scrape()).toBeUndefined();
  expect(await scrape()).toBe('3');
});
