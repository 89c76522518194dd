/** P3: how many callbacks a second are accepted, each answered once it is durable. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { z } from 'zod';
import { songCallback } from '../jobs/world.ts';
import { noRedis, startRedisServer } from '../servers/redis.ts';
import { type BenchRow, type Comparison, type Extent, inAlternation, median, quantile } from './measure.ts';
import { startProgram } from './program.ts';

const JOBS = 200;
/** Callbacks that are on their way at the same time. */
const AT_ONCE = 64;
const told = z.object({ urls: z.array(z.url()) });

/** Milliseconds of each callback, and of all together. */
async function send(urls: readonly string[], count: number): Promise<{ each: number[]; together: number }> {
  const dispatcher = new Agent({ connections: AT_ONCE });
  const each: number[] = [];
  let sent = 0;
  const sendNext = async (): Promise<void> => {
    for (let index = sent++; index < count; index = sent++) {
      const { origin, pathname } = new URL(urls[index % urls.length] ?? '');
      const body = JSON.stringify(songCallback('complete', `task-${index}`));
      const begun = performance.now();
      const answer = await dispatcher.request({ origin, path: pathname, method: 'POST', body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`A callback was answered ${answer.statusCode}`);
      each.push(performance.now() - begun);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
  const together = performance.now() - begun;
  await dispatcher.close();
  return { each, together };
}

async function measureCallbacks({ short }: Extent): Promise<Comparison[]> {
  if (noRedis !== undefined) throw new Error(noRedis);
  // Both sides wait for the disk: what was answered is durable.
  const redis = await startRedisServer();
  const count = short ? 500 : 2_000;
  const late = new Map<string, { p50: number; p99: number }[]>();
  const run = async (candidate: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
    try {
      const input = { candidate, folder, redisUrl: redis.url, jobs: JOBS };
      const file = new URL('./callbacks-server.ts', import.meta.url);
      await using server = await startProgram(file, told, { input });
      // Compiled and connected before it counts.
      await send(server.told.urls, count / 5);
      const { each, together } = await send(server.told.urls, count);
      const known = late.get(candidate) ?? [];
      late.set(candidate, [...known, { p50: median(each), p99: quantile(each, 0.99) }]);
      return (1000 * count) / together;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  try {
    const candidates = ['sqlite', 'redis'].flatMap((store) => [store, `bare ${store}`, `checked ${store}`]);
    const rates = await inAlternation(
      short ? 1 : 5,
      Object.fromEntries(candidates.map((name) => [name, () => run(name)])),
    );
    return ['sqlite', 'redis'].flatMap((store): Comparison[] => [
      {
        what: `callbacks on ${store}`,
        unit: 'a second',
        product: rates[store] ?? Number.NaN,
        peer: `bare ${store}, one commit for what came together`,
        theirs: rates[`bare ${store}`] ?? Number.NaN,
        goal: { atLeast: 0.8 },
      },
      {
        what: `callbacks on ${store}`,
        unit: 'a second',
        product: rates[store] ?? Number.NaN,
        peer: 'the same, signed, of a known job, kept once, timer moved',
        theirs: rates[`checked ${store}`] ?? Number.NaN,
      },
      {
        what: `a callback on ${store}, p99`,
        unit: 'ms',
        product: median((late.get(store) ?? []).map(({ p99 }) => p99)),
        peer: 'its own p50',
        theirs: median((late.get(store) ?? []).map(({ p50 }) => p50)),
        goal: { atMost: 5 },
      },
    ]);
  } finally {
    await redis.dispose();
  }
}

export const callbacksRow: BenchRow = { id: 'p3', title: 'Callbacks, durable', measure: measureCallbacks };
