import { expect, it } from 'vitest';
import { createCollector } from '../../../src/app/telemetry/measurements.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import type { OpenCount } from '../../../src/storage/storage.ts';

const COUNT = {
  route: 'answer',
  state: 'waiting',
  count: 3,
  queued: 0,
  oldestAt: 0,
} as const satisfies OpenCount;

it('a scrape shows no counts of jobs when they cannot be counted, and asks again at the next one', async () => {
  const metrics = createMetrics();
  const answers = [async () => [COUNT], () => Promise.reject(new Error('away')), async () => [COUNT]];
  let time = 0;
  const collect = createCollector({
    metrics,
    // The part of storage that is read.
    storage: { jobs: { openCounts: () => answers.shift()?.() } } as never,
    platforms: [],
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
