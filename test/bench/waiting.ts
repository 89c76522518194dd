/** Measures the cost of 100,000 waiting jobs: an idle bot, and single operations among them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/core/util/clock.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { databaseFile } from '../../src/storage/sqlite/database-file.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { PATIENT } from '../servers/redis.ts';
import { songJob } from '../storage/jobs.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { atMost, cpuMs, type Figure, type Row, startMeasuredRedis } from './measure.ts';
import { startWorld } from './world.ts';

const FEW = 10_000;
const MANY = 100_000;
const AT_ONCE = 250;
const OPERATIONS = 300;
const HOUR = 3_600_000;
const IDLE_MS = 10_000;
/** The growth of n log n, plus half for other load on the machine. */
const MOST_GROWTH = 1.5 * (Math.log(MANY) / Math.log(FEW));

const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
const address = { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' } as const;

export const waiting: Row = async () => {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const redis = opened.use(await startMeasuredRedis());
  const onSqlite = await openSqliteStorage({ ...tools, path: databaseFile(folder) });
  const onRedis = await openRedisStorage({ ...tools, ...PATIENT, url: redis.url });
  return [
    ...(await measure('SQLite', onSqlite, { DATA_DIR: folder }, async () => 0)),
    ...(await measure('Redis', onRedis, { REDIS_URL: redis.url }, redis.cpuMs)),
  ];
};

/** @param storeMs the CPU time of the store's process */
async function measure(
  name: string,
  storage: Storage,
  environment: Readonly<Record<string, string>>,
  storeMs: () => Promise<number>,
): Promise<Figure[]> {
  await fill(storage, 0, FEW);
  const fewCosts = await costs(storage, 'few', storeMs);
  await fill(storage, FEW, MANY);
  const manyCosts = await costs(storage, 'many', storeMs);
  await storage.close();
  const share = await idleShare(environment, storeMs);
  return [
    atMost(1, '% of a core', `${name}, ${MANY.toLocaleString('en')} waiting jobs`, share),
    ...manyCosts.map(([operation, measurements], index) => {
      const growth = measurements / (fewCosts[index]?.[1] ?? Number.NaN);
      return atMost(MOST_GROWTH, 'times', `${name}, ${operation} with ten times as many jobs`, growth);
    }),
  ];
}

async function fill(storage: Storage, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const id = `waiting${first + index}`;
        const now = Date.now();
        const accepted = { taskId: `task of ${id}`, submittedAt: now, deadlineAt: now + 2 * HOUR };
        const where = { ...address, person: `person${Math.floor((first + index) / 10)}` };
        await storage.jobs.create(
          songJob({ id, state: 'waiting', address: where, createdAt: now, ...accepted }),
        );
        await storage.schedule.add(id, now + HOUR + index);
      }),
    );
}

/** Returns the CPU time of each operation in milliseconds, in this process and the store's. */
async function costs(storage: Storage, of: string, storeMs: () => Promise<number>) {
  const operations = {
    accept: (id: string) => {
      const now = Date.now();
      const facts = { ...address, displayName: 'Ada', family: 'song' };
      const reservation = { id, at: now, units: 1, counters: [], facts };
      const job = songJob({ id, createdAt: now });
      return storage.accept({ job, reservation, ceilings: [], at: now + HOUR, now });
    },
    list: () => storage.jobs.running(address, 'person1'),
    // The job only waits, so a bot that starts on this store does nothing for it.
    wake: (_id: string, index: number) => storage.schedule.wake(`waiting${index}`),
  };
  const measurements: [string, number][] = [];
  for (const [name, operate] of Object.entries(operations)) {
    const before = cpuMs() + (await storeMs());
    for (let index = 0; index < OPERATIONS; index += 1) await operate(`${of}${index}`, index);
    measurements.push([name, cpuMs() + (await storeMs()) - before]);
  }
  return measurements;
}

/** Returns the CPU usage of a bot on both chats and its store, in percent. */
async function idleShare(
  environment: Readonly<Record<string, string>>,
  storeMs: () => Promise<number>,
): Promise<number> {
  await using world = await startWorld();
  await using bot = await world.startBot(environment);
  const used = async () => (await bot.used()).cpuMs + (await storeMs());
  // The scan of open jobs after a start does not count as idle.
  await sleep(IDLE_MS);
  const before = await used();
  await sleep(IDLE_MS);
  return (100 * ((await used()) - before)) / IDLE_MS;
}
