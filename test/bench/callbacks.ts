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

/** Callbacks of one job: too few for one to displace another. */
const OF_A_JOB = 10;
/** Callbacks that are on their way at the same time. */
const AT_ONCE = 64;
const told = z.object({ urls: z.array(z.url()) });

/** As many as each job may have. Milliseconds of each callback, and of all together. */
async function send(
  dispatcher: Agent,
  urls: readonly string[],
): Promise<{ each: number[]; together: number }> {
  const count = urls.length * OF_A_JOB;
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
  return { each, together: performance.now() - begun };
}

async function measureCallbacks({ short }: Extent): Promise<Comparison[]> {
  if (noRedis !== undefined) throw new Error(noRedis);
  const jobs = short ? 50 : 200;
  const late = new Map<string, { p50: number; p99: number }[]>();
  const run = async (candidate: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
    // Both sides wait for the disk: what was answered is durable. An empty one each time, so that nothing has come before.
    const redis = await startRedisServer();
    try {
      const input = { candidate, folder, redisUrl: redis.url, jobs: 3 * jobs };
      const file = new URL('./callbacks-server.ts', import.meta.url);
      await using server = await startProgram(file, told, { input });
      const dispatcher = new Agent({ connections: AT_ONCE });
      // Compiled and connected before it counts.
      await send(dispatcher, server.told.urls.slice(jobs));
      const { each, together } = await send(dispatcher, server.told.urls.slice(0, jobs));
      await dispatcher.close();
      const known = late.get(candidate) ?? [];
      late.set(candidate, [...known, { p50: median(each), p99: quantile(each, 0.99) }]);
      return (1000 * each.length) / together;
    } finally {
      await redis.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  };
  const candidates = ['sqlite', 'redis'].flatMap((store) => [
    store,
    `bare ${store}`,
    `checked ${store}`,
    `served ${store}`,
  ]);
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
      what: `callbacks on ${store}`,
      unit: 'a second',
      product: rates[store] ?? Number.NaN,
      peer: 'the same behind the bot’s listener',
      theirs: rates[`served ${store}`] ?? Number.NaN,
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
}

export const callbacksRow: BenchRow = { id: 'p3', title: 'Callbacks, durable', measure: measureCallbacks };
