/**
 * A thread that fetches an address many times and reports the remaining signals. Its heap is small, so that counting all
 * objects is fast.
 */
import { getEventListeners } from 'node:events';
import { queryObjects } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { createMediaFetcher } from '../../../src/media/fetch/fetcher.ts';

const origin = new URL(String(workerData));
const fetcher = createMediaFetcher({
  allowedHosts: { gateway: new Set([origin.host]), platform: new Set() },
  maximumBytes: 1_000_000,
  timeoutMs: { gateway: 600_000, platform: 600_000, person: 600_000 },
  idleTimeoutMs: 600_000,
  maximumRedirects: 0,
  concurrency: 4,
  now: Date.now,
  random: () => 0.5,
  sleep: async () => undefined,
});
const { signal } = new AbortController();

async function fetchOnce(): Promise<void> {
  const expected = { from: 'gateway', kinds: ['audio'], signal } as const;
  await fetcher.fetch(origin.href, expected, ({ stream }) => Array.fromAsync(stream));
}

const count = () => Number(queryObjects(AbortSignal, { format: 'count' }));
await fetchOnce();
const before = count();
for (let time = 0; time < 30; time += 1) await fetchOnce();
parentPort?.postMessage({
  listeners: getEventListeners(signal, 'abort').length,
  added: count() - before,
});
await fetcher.close();
