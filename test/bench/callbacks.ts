/** P3: how many callbacks a second are accepted, each answered once it is durable. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { noRedis, startRedisServer } from '../servers/redis.ts';
import { type BenchRow, type Comparison, type Extent, inAlternation, median } from './measure.ts';
import { startProgram } from './program.ts';

const told = z.object({ urls: z.array(z.url()) });
const answered = z.object({ rate: z.number(), p50: z.number(), p99: z.number() });

const LOAD = new URL('./callbacks-load.ts', import.meta.url);
/** A new space that holds all that it makes: it must not pause to collect while callbacks are on their way. */
const LOAD_FLAGS = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];

async function measureCallbacks({ short }: Extent): Promise<Comparison[]> {
  if (noRedis !== undefined) throw new Error(noRedis);
  const jobs = short ? 50 : 800;
  const late = new Map<string, { p50: number; p99: number }[]>();
  const run = async (candidate: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
    // Both sides wait for the disk: what was answered is durable. An empty one each time, so that nothing has come before.
    const redis = await startRedisServer();
    try {
      const input = { candidate, folder, redisUrl: redis.url, jobs: 3 * jobs };
      const file = new URL('./callbacks-server.ts', import.meta.url);
      await using server = await startProgram(file, told, { input });
      const { urls } = server.told;
      await using load = await startProgram(LOAD, z.literal('ready'), { flags: LOAD_FLAGS });
      const targets = { before: urls.slice(jobs), counted: urls.slice(0, jobs) };
      const { rate, ...times } = await load.ask(JSON.stringify(targets), answered);
      late.set(candidate, [...(late.get(candidate) ?? []), times]);
      return rate;
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
    ...(store === 'redis' ? ['timed redis'] : []),
  ]);
  const rates = await inAlternation(
    short ? 1 : 5,
    Object.fromEntries(candidates.map((name) => [name, () => run(name)])),
  );
  const timed = {
    what: 'callbacks on redis',
    unit: 'a second',
    product: rates.redis ?? Number.NaN,
    peer: 'the same with BullMQ’s timers and each stage read',
    theirs: rates['timed redis'] ?? Number.NaN,
  } satisfies Comparison;
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
    ...(store === 'redis' ? [timed] : []),
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
