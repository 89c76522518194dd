/**
 * The schedule of all replicas: one BullMQ job, here called a timer, with the id of each scheduled job. Its delay ends at the next
 * run, and its lock is the lease. A wake sets a mark and promotes the timer. A run that ends delays its timer again, then
 * checks the mark. docs/decisions/0019-bullmq-is-the-schedule.md
 */
import { type Job as BullJob, DelayedError, Queue, Worker } from 'bullmq';
import { z } from 'zod';
import { pause } from '../../core/util/clock.ts';
import {
  checkTime,
  type NextRun,
  runJob,
  type Schedule,
  STORAGE_PAUSE,
  storeEnd,
  type WakeHandler,
} from '../schedule.ts';
import { StorageError } from '../storage.ts';
import type { RedisClient, RedisTools } from './connection.ts';
import { replyOf } from './errors.ts';

const QUEUE = 'schedule';
/** Milliseconds that BullMQ may take to close after our handlers have ended. */
const CLOSING = 2_000;
/** A BullMQ job that does nothing. */
const REMINDER = 'reminder';

/** `stalls`: BullMQ's stall count at the end of the last run. */
const timerSchema = z.object({ at: z.number(), failures: z.number(), stalls: z.number() });
type Timer = BullJob<z.infer<typeof timerSchema>>;

interface RedisSchedule extends Schedule {
  /** Runs a job that has a mark, or runs it again after its current run. */
  promote(job: string): Promise<void>;
  close(): Promise<void>;
}

interface Run {
  readonly next: Promise<NextRun>;
  /** The guaranteed end of its timer's lock, in milliseconds of {@link Clock.elapsed}. */
  heldUntil: number;
}

interface Running {
  readonly worker: Worker;
  readonly client: RedisClient;
  readonly stopping: AbortController;
}

/** @param leaseMs milliseconds of silence after which another replica takes over the runs of one */
export function redisSchedule(tools: RedisTools, leaseMs: number): RedisSchedule {
  const { connection, keys, prefix, clock, log } = tools;
  const queue: Queue<Timer['data']> = new Queue(QUEUE, {
    connection: connection.client,
    prefix,
    // The check runs once, and fails permanently if the connection breaks meanwhile.
    skipVersionCheck: true,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } },
  });
  // Operations reject, and the connection logs errors.
  queue.on('error', () => {});
  // During an outage of Redis, a worker forgets when the next timer is due. A BullMQ job that is due now makes it check.
  connection.client.on('ready', recheck);
  const runs = new Map<string, Run>();
  let running: Running | undefined;

  function recheck(): void {
    queue.add(REMINDER, { at: 0, failures: 0, stalls: 0 }, { jobId: REMINDER }).catch(() => {});
  }

  /** BullMQ ignores a second timer with the same id. */
  async function add(job: string, at: number): Promise<void> {
    checkTime(at);
    const data = { at, failures: 0, stalls: 0 };
    const delay = () => Math.max(0, Math.ceil(at - clock.now()));
    await connection.run(() => queue.add(QUEUE, data, { jobId: job, delay: delay() }));
  }

  async function promote(job: string): Promise<void> {
    const timer = await connection.run(() => queue.getJob(job));
    // A timer that is not delayed runs soon, or finds the mark at its end.
    if (timer) await connection.run(() => timer.promote().catch(ignoreRefusal));
    else await add(job, clock.now());
  }

  const hasMark = async (job: string) =>
    (await connection.run((redis) => redis.hExists(keys.woken, job))) === 1;

  /** Resolves to when the job was woken. Later wakes count for the next run. */
  async function takeMark(job: string): Promise<number | undefined> {
    const [at] = await connection.run((redis) =>
      redis.multi().hGet(keys.woken, job).hDel(keys.woken, job).execTyped(),
    );
    return at === null ? undefined : Number(at);
  }

  async function take(timer: Timer, token: string, handler: WakeHandler, signal: AbortSignal): Promise<void> {
    const { id: job = '', processedOn = 0 } = timer;
    // BullMQ reads the clock before it fetches the timer.
    const heldUntil = clock.elapsed() - Math.max(0, clock.now() - processedOn) + leaseMs;
    // After an outage longer than the lease, this replica may get a job that it is still running: it joins that run.
    const run = runs.get(job) ?? begin(timer, handler, signal);
    run.heldUntil = heldUntil;
    const ended = new AbortController();
    void renewLock(timer, token, run, ended.signal);
    try {
      const { at, failures } = await run.next;
      if (at === undefined) return;
      await storeEnd(job, () => delay(timer, token, { at, failures }), signal, tools);
      // If that failed, the timer keeps its lease. When the lease ends, another replica runs the job again.
      throw new DelayedError();
    } finally {
      ended.abort();
    }
  }

  function begin(
    { id: job = '', data, stalledCounter }: Timer,
    handler: WakeHandler,
    signal: AbortSignal,
  ): Run {
    const { at, failures, stalls } = timerSchema.parse(data);
    const due = {
      job,
      failures: failures + stalledCounter - stalls,
      dueAt: async () => (await takeMark(job)) ?? at,
      isHeld: () => clock.elapsed() < run.heldUntil,
    };
    const next = runJob(due, handler, signal, tools).finally(() => runs.delete(job));
    const run = { next, heldUntil: 0 };
    runs.set(job, run);
    return run;
  }

  /** Ends BullMQ's run of the timer, and delays it until the next one. */
  async function delay(timer: Timer, token: string, next: { at: number; failures: number }): Promise<void> {
    const { id: job = '', stalledCounter: stalls } = timer;
    await timer.updateData({ ...next, stalls }).catch(ignoreRefusal);
    await timer.moveToDelayed(Math.ceil(next.at), token).catch(ignoreRefusal);
    if (await hasMark(job)) await promote(job);
  }

  async function renewLock(timer: Timer, token: string, run: Run, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(leaseMs / 3, signal, clock);
      if (signal.aborted) return;
      // Read before the request, because the process may be suspended while it waits for the answer.
      const at = clock.elapsed();
      if (await timer.extendLock(token, leaseMs).then(Boolean, () => false)) run.heldUntil = at + leaseMs;
    }
  }

  function createWorker(client: RedisClient, handler: WakeHandler, concurrency: number, signal: AbortSignal) {
    const runTimer = async (timer: Timer, token = '') => {
      if (timer.id !== REMINDER) await take(timer, token, handler, signal);
    };
    const worker = new Worker(QUEUE, runTimer, {
      connection: client,
      prefix,
      concurrency,
      autorun: false,
      lockDuration: leaseMs,
      // `renewLock` does this, and tracks how long each lock lasts.
      skipLockRenewal: true,
      stalledInterval: Math.ceil(leaseMs / 3),
      // A job runs again no matter how often its replicas crash.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: STORAGE_PAUSE,
    });
    worker.on('completed', async ({ id = '' }) => {
      try {
        // The job was woken while its run ended.
        if (await hasMark(id)) await promote(id);
      } catch (error) {
        log.warn({ err: error, job: id }, 'Could not run a job that was due; it will run at the next start');
      }
    });
    worker.on('error', async (error) => {
      log.debug({ err: error }, "The schedule's worker failed");
      // BullMQ waits if the connection fails, but retries immediately if Redis refuses, such as when its memory is full.
      if (replyOf(error) === undefined || worker.isPaused()) return;
      await worker.pause(true);
      await pause(STORAGE_PAUSE, signal, clock);
      if (!signal.aborted) await worker.resume();
    });
    return worker;
  }

  async function stop(): Promise<void> {
    if (running === undefined) return;
    const { worker, client, stopping } = running;
    running = undefined;
    stopping.abort();
    // Stops fetching.
    const closed = worker.close();
    await Promise.all(Array.from(runs.values(), ({ next }) => next));
    // During an outage, a worker waits for Redis before it closes.
    await connection.within(CLOSING, closed).catch(() => {});
    connection.release(client);
  }

  return {
    add,
    promote,
    async wake(job) {
      await connection.run((redis) => redis.hSetNX(keys.woken, job, String(clock.now())));
      await promote(job);
    },
    async unscheduled(jobs) {
      const timers = await connection.run(() => Promise.all(jobs.map((job) => queue.getJob(job))));
      return jobs.filter((_, index) => timers[index] === undefined);
    },
    async start(handler, { concurrency }) {
      if (running !== undefined) throw new Error('The schedule is already running.');
      // Marks of replicas that crashed before they promoted the timer.
      for (const job of await connection.run((redis) => redis.hKeys(keys.woken))) await promote(job);
      const stopping = new AbortController();
      // BullMQ waits for Redis indefinitely, so its worker has a separate connection.
      const client = connection.duplicate();
      const worker = createWorker(client, handler, concurrency, stopping.signal);
      running = { worker, client, stopping };
      try {
        await worker.waitUntilReady();
      } catch (error) {
        await stop();
        throw new StorageError(
          'unavailable',
          'Lost the connection to Redis while starting the schedule.',
          error,
        );
      }
      worker.run().catch((error: unknown) => log.error({ err: error }, 'The schedule stopped'));
    },
    stop,
    async close() {
      await stop();
      await queue.close();
    },
  };
}

/** BullMQ throws a negative code if a timer was deleted, is in another state, or is locked by another run. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) throw error;
}
