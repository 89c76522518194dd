/**
 * The schedule of all replicas. BullMQ has one timer for each scheduled job: its delay is the time of the next run, its
 * lock the lease. `deduplication` keeps it one: while it is delayed, a wake moves it; while it is active, a wake stores
 * the next timer, which BullMQ adds in the same step that ends the active one.
 * docs/decisions/0019-bullmq-is-the-schedule.md
 */
import { type Job as BullJob, DelayedError, Queue, Worker } from 'bullmq';
import { z } from 'zod';
import {
  checkTime,
  type DueJob,
  type DueRun,
  measureLateness,
  pause,
  runJob,
  type Schedule,
  STORAGE_PAUSE,
  type WakeHandler,
} from '../schedule.ts';
import type { RedisClient, RedisTools } from './connection.ts';
import { replyOf } from './errors.ts';

const QUEUE = 'schedule';
/** How long BullMQ may take to end once our handlers have ended. */
const CLOSING = 2_000;

/**
 * The earliest time wins, which BullMQ's own `reschedule` and `keepLastIfActive` do not do: there the last one wins.
 * `queue` is what all keys of the queue begin with, `data` is of the next timer (empty: as it is). A timer's data has the time
 * that it was set for, which BullMQ forgets. Returns 0 when the job has no timer.
 */
export const EARLIEST = `
local function setFor(at, data)
  local timer = cjson.decode(data)
  timer['at'] = at
  return cjson.encode(timer)
end

local function earliest(queue, job, at, delay, data)
  local id = redis.call('GET', queue .. 'de:' .. job)
  local score = id and redis.call('ZSCORE', queue .. 'delayed', id)
  local timer = id and not score and redis.call('HMGET', queue .. id, 'name', 'data', 'opts')
  if not score and not (timer and timer[3]) then return 0 end
  if score and at * 4096 < tonumber(score) then
    redis.call('ZADD', queue .. 'delayed', at * 4096, id)
    redis.call('HSET', queue .. id, 'data', setFor(at, redis.call('HGET', queue .. id, 'data')))
    local first = redis.call('ZRANGE', queue .. 'delayed', 0, 0, 'WITHSCORES')
    redis.call('ZADD', queue .. 'marker', first[2] / 4096, '1')
  elseif not score and redis.call('LPOS', queue .. 'active', id) then
    local following = queue .. 'dn:' .. job
    local before = redis.call('HMGET', following, 'at', 'data')
    if not before[1] or at < tonumber(before[1]) then
      local opts = cjson.decode(timer[3])
      opts['delay'] = delay
      redis.call('HSET', following, 'name', timer[1], 'opts', cjson.encode(opts), 'at', at)
    end
    if data == '' then data = before[2] or timer[2] end
    redis.call('HSET', following, 'data', setFor(math.min(at, tonumber(before[1] or at)), data))
  end
  return 1
end
`;

const SCHEDULE = `${EARLIEST}
return earliest(KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4])
`;

const timerSchema = z.object({ job: z.string(), failures: z.number(), at: z.number() });

interface RedisSchedule extends Schedule {
  /** What all keys of its queue begin with. */
  readonly queueKey: string;
  /** As `wake`, for a job that most likely has no timer. */
  begin(job: string, at: number): Promise<void>;
  close(): Promise<void>;
}

/** @param leaseMs milliseconds of silence after which another replica takes over the runs of one */
export function redisSchedule(tools: RedisTools, leaseMs: number): RedisSchedule {
  const { connection, prefix, newId, clock, log } = tools;
  const queue = new Queue<DueJob>(QUEUE, {
    connection: connection.client,
    prefix,
    // It would ask for the version once, and fail for good where the connection breaks meanwhile.
    skipVersionCheck: true,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } },
  });
  // Operations tell their callers; the connection tells the log.
  queue.on('error', () => {});
  const runs = new Map<string, Promise<void>>();
  /** When the lock of each timer was asked for last, in milliseconds of {@link Clock.elapsed}. */
  const lockedAt = new Map<string, number>();
  let running: { worker: Worker<DueJob>; client: RedisClient; stopping: AbortController } | undefined;

  async function schedule(job: string, at: number, failures?: number): Promise<void> {
    checkTime(at);
    const time = Math.ceil(at);
    const delay = () => Math.max(0, time - clock.now());
    const data = failures === undefined ? '' : JSON.stringify({ job, failures, at: time } satisfies DueJob);
    for (;;) {
      const found = await connection.evaluate(SCHEDULE, [queue.toKey('')], [job, time, delay(), data]);
      if (found === 1 || (await add(job, time, failures ?? 0))) return;
    }
  }

  /** False when the job has a timer, perhaps of a later time. */
  async function add(job: string, time: number, failures: number): Promise<boolean> {
    const jobId = newId();
    const delay = Math.max(0, time - clock.now());
    const options = { jobId, delay, deduplication: { id: job } };
    return (await connection.run(() => queue.add(QUEUE, { job, failures, at: time }, options))).id === jobId;
  }

  /** A wake of a run whose replica died is answered by the run that repeats it. */
  async function dropDueWake(job: string): Promise<void> {
    const following = queue.toKey(`dn:${job}`);
    const at = await connection.run((redis) => redis.hGet(following, 'at'));
    if (at !== null && Number(at) <= clock.now()) await connection.run((redis) => redis.del(following));
  }

  async function run(due: DueRun, handler: WakeHandler, signal: AbortSignal): Promise<void> {
    const store = async (at: number | undefined, failures: number) => {
      if (at !== undefined) await schedule(due.job, at, failures);
    };
    // An unfinished timer keeps its lease. When it ends, another replica runs the job again.
    if (!(await runJob(due, handler, store, signal, tools))) throw new DelayedError();
  }

  /** Whether no other replica can have the timer by now, although this process may have been suspended. */
  const isLocked = (timer: string) => clock.elapsed() - (lockedAt.get(timer) ?? -leaseMs) < leaseMs;

  async function renewLock(timer: BullJob<DueJob>, token: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(leaseMs / 3, signal, clock);
      if (signal.aborted) return;
      // Read before the request: the process may be suspended while it waits for the answer.
      const at = clock.elapsed();
      const isRenewed = await timer.extendLock(token, leaseMs).then(Boolean, () => false);
      if (isRenewed && !signal.aborted) lockedAt.set(timer.id ?? '', at);
    }
  }

  async function take(
    timer: BullJob<DueJob>,
    token: string,
    handler: WakeHandler,
    signal: AbortSignal,
  ): Promise<void> {
    const { id = '', stalledCounter, processedOn = 0 } = timer;
    const { job, failures, at } = timerSchema.parse(timer.data);
    // BullMQ noted the time before it asked for the timer.
    lockedAt.set(id, clock.elapsed() - Math.max(0, clock.now() - processedOn));
    const ended = new AbortController();
    void renewLock(timer, token, ended.signal);
    const due = { job, at, failures: failures + stalledCounter, isHeld: () => isLocked(id) };
    try {
      // After an outage longer than the lease, this replica gets a job that it still runs: it joins that run.
      await (runs.get(job) ?? begin(due, stalledCounter > 0, handler, signal));
    } finally {
      ended.abort();
      lockedAt.delete(id);
    }
  }

  function begin(due: DueRun, isRepeated: boolean, handler: WakeHandler, signal: AbortSignal): Promise<void> {
    measureLateness(due.at, tools);
    const repeat: WakeHandler = async (...run) => {
      await dropDueWake(due.job);
      return handler(...run);
    };
    const ended = run(due, isRepeated ? repeat : handler, signal).finally(() => runs.delete(due.job));
    runs.set(due.job, ended);
    return ended;
  }

  function createWorker(client: RedisClient, handler: WakeHandler, concurrency: number, signal: AbortSignal) {
    const worker = new Worker<DueJob>(QUEUE, (timer, token = '') => take(timer, token, handler, signal), {
      connection: client,
      prefix,
      concurrency,
      autorun: false,
      lockDuration: leaseMs,
      // `renewLock` does it, and knows how long each lock surely lasts.
      skipLockRenewal: true,
      stalledInterval: Math.ceil(leaseMs / 3),
      // However often its replicas die, a job runs again.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: STORAGE_PAUSE,
    });
    worker.on('error', async (error) => {
      log.debug({ err: error }, 'The worker of the schedule had trouble');
      // BullMQ waits where the connection fails, but asks again at once where Redis refuses, as one whose memory is full.
      if (replyOf(error) === undefined || worker.isPaused()) return;
      await worker.pause(true);
      await pause(STORAGE_PAUSE, signal, clock);
      if (!signal.aborted) await worker.resume();
    });
    return worker;
  }

  /** Without Redis, a worker waits for its return before it closes, so that has a limit. */
  async function endWorker(closed: Promise<void>, client: RedisClient): Promise<void> {
    await connection.within(CLOSING, closed).catch(() => {});
    connection.release(client);
  }

  async function stop(): Promise<void> {
    if (running === undefined) return;
    const { worker, client, stopping } = running;
    running = undefined;
    stopping.abort();
    // Fetches nothing more.
    const closed = worker.close();
    await Promise.allSettled(runs.values());
    await endWorker(closed, client);
  }

  return {
    queueKey: queue.toKey(''),
    wake: (job, at) => schedule(job, at),
    async begin(job, at) {
      checkTime(at);
      // A new job has no timer, so it is not asked for one first.
      if (!(await add(job, Math.ceil(at), 0))) await schedule(job, at);
    },
    async unscheduled(jobs) {
      const timers = await connection.run(() =>
        Promise.all(jobs.map((job) => queue.getDeduplicationJobId(job))),
      );
      return jobs.filter((_, index) => timers[index] === null);
    },
    async start(handler, { concurrency }) {
      if (running !== undefined) throw new Error('The schedule runs already.');
      const stopping = new AbortController();
      const { signal } = stopping;
      for (;;) {
        // BullMQ waits for Redis as long as it takes, so its worker has a connection of its own.
        const client = connection.duplicate();
        const worker = createWorker(client, handler, concurrency, signal);
        running = { worker, client, stopping };
        try {
          await worker.waitUntilReady();
          worker.run().catch((error: unknown) => log.error({ err: error }, 'The schedule ended'));
          return;
        } catch (error) {
          // It asks once which Redis it is, and is of no use where the connection breaks meanwhile. While its connections
          // are being made again, closing it would leave their errors to nobody.
          await pause(STORAGE_PAUSE, signal, clock);
          await endWorker(worker.close(), client);
          if (signal.aborted) throw error;
        }
      }
    },
    stop,
    async close() {
      await stop();
      await queue.close();
    },
  };
}
