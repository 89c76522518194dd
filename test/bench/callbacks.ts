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

const STORES = ['sqlite', 'redis'] as const;

interface Limit {
  /** Its candidate is this and the store. */
  readonly name: string;
  readonly peer: string;
  readonly goal?: Comparison['goal'];
  readonly only?: (typeof STORES)[number];
}

const LIMITS: readonly Limit[] = [
  { name: 'bare', peer: 'bare, one commit for what came together', goal: { atLeast: 0.8 } },
  { name: 'checked', peer: 'the same, signed, of a known job, kept once, timer moved' },
  { name: 'served', peer: 'the same behind the bot’s listener' },
  { name: 'timed', peer: 'the same with BullMQ’s timers and each stage read', only: 'redis' },
];

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
  const found = STORES.map((store) => ({
    store,
    limits: LIMITS.filter(({ only = store }) => only === store).map((limit) => ({
      ...limit,
      candidate: `${limit.name} ${store}`,
    })),
  }));
  const candidates = found.flatMap(({ store, limits }) => [
    store,
    ...limits.map(({ candidate }) => candidate),
  ]);
  const rates = await inAlternation(
    short ? 1 : 5,
    Object.fromEntries(candidates.map((name) => [name, () => run(name)])),
  );
  return found.flatMap(({ store, limits }): Comparison[] => [
    ...limits.map(({ candidate, peer, goal }) => ({
      what: `callbacks on ${store}`,
      unit: 'a second',
      product: rates[store] ?? Number.NaN,
      peer,
      theirs: rates[candidate] ?? Number.NaN,
      ...(goal && { goal }),
    })),
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
