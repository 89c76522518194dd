/** Tells what waiting jobs cost: memory, CPU and how late wake-ups come, with few and many of them, side by side. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openRedisStorage } from '../../src/storage/redis/redis.ts';
import { systemClock } from '../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/sqlite.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { connectRedis, startRedisServer } from '../servers/redis.ts';
import { songJob } from '../storage/jobs.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { median } from './measure.ts';
import { programInput, tell } from './program.ts';

const { store, sizes, rounds } = programInput(
  z.object({
    store: z.enum(['SQLite', 'Redis']),
    sizes: z.array(z.int().positive()),
    rounds: z.int().positive(),
  }),
);
const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };

/** Writes running at a time while the jobs are made. */
const FILLED_AT_ONCE = 250;
const HOUR = 3_600_000;
const IDLE_MS = 1_000;

interface Measured {
  readonly size: number;
  /** Bytes of this process that came with it: objects, and everything. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Milliseconds of CPU that a second of mere waiting takes. */
  readonly idleCpuMs: number;
  /** Medians in milliseconds. */
  readonly accepting: number;
  readonly callingBack: number;
  readonly waking: number;
  /** How long after its time a wake-up comes, in milliseconds. */
  readonly late: { readonly median: number; readonly worst: number };
}

interface Candidate {
  readonly size: number;
  readonly storage: Storage;
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Tells who was handled, and when. */
  readonly handled: Map<string, (at: number) => void>;
  idleCpuMs: number;
  readonly accepting: number[];
  readonly callingBack: number[];
  readonly waking: number[];
  readonly late: number[];
}

/** Needs `--expose-gc`. Every storage is filled, opened anew, measured and closed. */
async function measureWaitingJobs(open: (size: number) => Promise<Storage>): Promise<Measured[]> {
  const candidates: Candidate[] = [];
  for (const size of sizes) {
    const filling = await open(size);
    await fill(filling, size);
    await filling.close();
    candidates.push(await opened(size, open));
  }
  for (const candidate of candidates) candidate.idleCpuMs = await idleCpu();
  for (let round = 0; round < rounds; round++) {
    // One after the other, so that whatever else the machine does befalls them alike.
    // Rotated, so that none is always the first.
    for (let index = 0; index < candidates.length; index++) {
      const candidate = candidates[(round + index) % candidates.length];
      if (candidate) await oneMore(candidate, round);
    }
  }
  for (const { storage } of candidates) await storage.close();
  return candidates.map((candidate) => ({
    size: candidate.size,
    heapBytes: candidate.heapBytes,
    residentBytes: candidate.residentBytes,
    idleCpuMs: candidate.idleCpuMs,
    accepting: median(candidate.accepting),
    callingBack: median(candidate.callingBack),
    waking: median(candidate.waking),
    late: { median: median(candidate.late), worst: Math.max(...candidate.late) },
  }));
}

async function fill(storage: Storage, size: number): Promise<void> {
  for (let first = 0; first < size; first += FILLED_AT_ONCE) {
    const ids = Array.from(
      { length: Math.min(FILLED_AT_ONCE, size - first) },
      (_, n) => `waiting${first + n}`,
    );
    await Promise.all(
      ids.map(async (id, n) => {
        await storage.jobs.create(waitingJob(id));
        await storage.schedule.add(id, Date.now() + HOUR + n);
      }),
    );
  }
}

function waitingJob(id: string) {
  return songJob({
    id,
    state: 'waiting',
    taskId: `task of ${id}`,
    submittedAt: 1_000,
    deadlineAt: Date.now() + HOUR,
  });
}

async function opened(size: number, open: (size: number) => Promise<Storage>): Promise<Candidate> {
  const before = memory();
  const storage = await open(size);
  const handled: Candidate['handled'] = new Map();
  await storage.schedule.start(
    async (job) => {
      handled.get(job)?.(Date.now());
      return undefined;
    },
    { concurrency: 64 },
  );
  await sleep(200);
  const after = memory();
  return {
    size,
    storage,
    heapBytes: after.heapUsed - before.heapUsed,
    residentBytes: after.rss - before.rss,
    handled,
    idleCpuMs: 0,
    accepting: [],
    callingBack: [],
    waking: [],
    late: [],
  };
}

function memory(): NodeJS.MemoryUsage {
  if (!globalThis.gc) throw new TypeError('Run this with --expose-gc');
  globalThis.gc();
  return process.memoryUsage();
}

/** All of them wait at the same time: with one process there is one figure, and it is the figure of the largest. */
async function idleCpu(): Promise<number> {
  const before = process.cpuUsage();
  await sleep(IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (IDLE_MS / 1_000);
}

/** One more job than those that wait: accepted, called back, woken at a time. */
async function oneMore(candidate: Candidate, round: number): Promise<void> {
  const { storage, handled } = candidate;
  const id = `extra${round}`;
  candidate.accepting.push(
    await timed(async () => {
      await storage.jobs.create(waitingJob(id));
      await storage.schedule.add(id, Date.now() + HOUR);
    }),
  );
  candidate.callingBack.push(await timed(() => storage.inbox.put(id, `callback of ${id}`, Date.now())));
  const woken = new Promise<number>((resolve) => handled.set(id, resolve));
  candidate.waking.push(
    await timed(async () => {
      await storage.schedule.wake(id);
      await woken;
    }),
  );
  const at = Date.now() + 10;
  const rang = new Promise<number>((resolve) => handled.set(id, resolve));
  await storage.schedule.add(id, at);
  candidate.late.push((await rang) - at);
  handled.delete(id);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function onSqlite(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
  try {
    return await measureWaitingJobs((size) =>
      openSqliteStorage({ ...tools, path: join(folder, `${size}.sqlite`) }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onRedis(): Promise<Measured[]> {
  const redis = await startRedisServer();
  const administration = await connectRedis(redis.url);
  try {
    // What the disk costs is not what is compared, and 100,000 jobs would wait for it.
    await administration.configSet('appendfsync', 'no');
    return await measureWaitingJobs((size) =>
      openRedisStorage({ ...tools, url: redis.url, prefix: `bench${size}`, patienceMs: 30_000 }),
    );
  } finally {
    administration.destroy();
    await redis.dispose();
  }
}

tell(store === 'SQLite' ? await onSqlite() : await onRedis());
