/** Compares a song, from acceptance through three callbacks to delivery, with a BullMQ job in five steps. */
import { randomUUID } from 'node:crypto';
import { createClient } from '@keyv/redis';
import { DelayedError, Queue, Worker } from 'bullmq';
import { systemClock } from '../../src/core/util/clock.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { createWorld, SONG, songCallback } from '../jobs/world.ts';
import { PATIENT } from '../servers/redis.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { atMost, cpuMs, medianCosts, type Row, startMeasuredRedis } from './measure.ts';

/** The engine's limit of concurrent songs. */
const AT_ONCE = 10;
const SONGS = 200;
const ROUNDS = 5;
const HOUR = 3_600_000;
/** The size of a song's record. */
const RECORD = 'x'.repeat(2_000);

/** Runs one complete job. */
interface Candidate extends AsyncDisposable {
  one(): Promise<void>;
}

export const song: Row = async () => {
  await using opened = new AsyncDisposableStack();
  const redis = opened.use(await startMeasuredRedis());
  /** Returns the CPU time of one job in milliseconds, in this process and in Redis. */
  const costOf = async (candidate: Candidate): Promise<number> => {
    const before = cpuMs() + (await redis.cpuMs());
    let left = SONGS;
    const lane = async () => {
      while (left-- > 0) await candidate.one();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return (cpuMs() + (await redis.cpuMs()) - before) / SONGS;
  };
  const candidates = [opened.use(await engine(redis.url)), opened.use(await fiveSteps(redis.url))];
  const [ours = Number.NaN, bullmq = Number.NaN] = await medianCosts(
    ROUNDS,
    candidates.map((candidate) => () => costOf(candidate)),
  );
  return [atMost(3, 'times', 'CPU of a song, relative to a BullMQ job in five steps', ours / bullmq)];
};

/** The engine with a gateway that calls back immediately, and a chat that accepts everything. */
async function engine(url: string): Promise<Candidate> {
  const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
  const storage = await openRedisStorage({ ...tools, ...PATIENT, url });
  const world = await createWorld(undefined, async () => storage);
  const { jobs, dependencies, gateway, platform } = world;
  const delivered = new Map<string, () => void>();
  platform.show = async (_address, message, { key, posted }) => {
    if (message.progress === undefined) delivered.get(key)?.();
    return posted ?? { id: key };
  };
  gateway.music.generate = async ({ callBackUrl = '' }) => {
    const taskId = `task of ${callBackUrl}`;
    const job = callBackUrl.split('/').at(-2) ?? '';
    setImmediate(async () => {
      for (const stage of ['text', 'first', 'complete'] as const)
        await jobs.receive(job, JSON.stringify(songCallback(stage, taskId)));
    });
    return { taskId };
  };
  await jobs.run(dependencies.invoke);
  return {
    async one() {
      const { job, begin } = await world.accept(SONG);
      await new Promise<void>((resolve) => {
        delivered.set(job, resolve);
        begin();
      });
    },
    async [Symbol.asyncDispose]() {
      await jobs.stop();
      await storage.close();
    },
  };
}

/** Follows https://docs.bullmq.io/patterns/process-step-jobs, with an event that starts each step. */
async function fiveSteps(url: string): Promise<Candidate> {
  const clients = [createClient({ url }), createClient({ url })] as const;
  await Promise.all(clients.map((client) => client.connect()));
  const queue = new Queue<{ step: number; record: string }>('peer', { connection: clients[0] });
  const done = new Map<string | undefined, () => void>();
  const worker = new Worker<{ step: number; record: string }>(
    'peer',
    async (job, token) => {
      const step = job.data.step + 1;
      await job.updateData({ record: RECORD, step });
      if (step === 5) return;
      await job.moveToDelayed(Date.now() + HOUR, token);
      setImmediate(() => void job.promote());
      throw new DelayedError();
    },
    { connection: clients[1], concurrency: AT_ONCE, removeOnComplete: { count: 0 } },
  );
  worker.on('completed', ({ id }) => done.get(id)?.());
  await worker.waitUntilReady();
  return {
    async one() {
      const jobId = randomUUID();
      const completed = new Promise<void>((resolve) => done.set(jobId, resolve));
      await queue.add('song', { record: RECORD, step: 0 }, { jobId });
      await completed;
    },
    async [Symbol.asyncDispose]() {
      await worker.close();
      await queue.close();
      for (const client of clients) client.destroy();
    },
  };
}
