/**
 * The schedule of all replicas: one BullMQ job, called a timer here, for each scheduled job and with its id. Its delay ends
 * at the next run, its lock is the lease. A wake leaves a mark and promotes the timer. A run that ends delays its timer
 * again, then looks for a mark. docs/decisions/0019-bullmq-is-the-schedule.md
 */
import { type Job as BullJob, DelayedError, Queue, Worker } from 'bullmq';
import { z } from 'zod';
import { pause } from '../../core/clock.ts';
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
/** How long BullMQ may take to end once our handlers have ended. */
const CLOSING = 2_000;
/** A BullMQ job that does nothing. */
const REMINDER = 'reminder';

/** `stalls`: how often replicas died in a run of the job, up to the last run that ended. */
const timerSchema = z.object({ at: z.number(), failures: z.number(), stalls: z.number() });
type Timer = BullJob<z.infer<typeof timerSchema>>;

interface RedisSchedule extends Schedule {
  /** Runs a job that has a mark; once more if it is running. */
  promote(job: string): Promise<void>;
  close(): Promise<void>;
}

interface Run {
  readonly next: Promise<NextRun>;
  /** Until when the lock of its timer surely lasts, in milliseconds of {@link Clock.elapsed}. */
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
    // It would ask for the version once, and fail for good where the connection breaks meanwhile.
    skipVersionCheck: true,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 100 } },
  });
  // Operations reject, and the connection logs its errors.
  queue.on('error', () => {});
  // While Redis is away, a worker forgets when the next timer is due. A BullMQ job that is due now makes it look.
  connection.client.on('ready', remind);
  const runs = new Map<string, Run>();
  let running: Running | undefined;

  function remind(): void {
    queue.add(REMINDER, { at: 0, failures: 0, stalls: 0 }, { jobId: REMINDER }).catch(() => {});
  }

  /** BullMQ ignores a timer whose job has one. */
  async function add(job: string, at: number): Promise<void> {
    checkTime(at);
    const data = { at, failures: 0, stalls: 0 };
    const delay = () => Math.max(0, Math.ceil(at - clock.now()));
    await connection.run(() => queue.add(QUEUE, data, { jobId: job, delay: delay() }));
  }

  async function promote(job: string): Promise<void> {
    const timer = await connection.run(() => queue.getJob(job));
    // One that is not delayed runs soon, or finds the mark at its end.
    if (timer) await connection.run(() => timer.promote().catch(unlessRefused));
    else await add(job, clock.now());
  }

  const hasMark = async (job: string) =>
    (await connection.run((redis) => redis.hExists(keys.woken, job))) === 1;

  /** Resolves to when the job was woken. A later wake is for the next run. */
  async function takeMark(job: string): Promise<number | undefined> {
    const [at] = await connection.run((redis) =>
      redis.multi().hGet(keys.woken, job).hDel(keys.woken, job).execTyped(),
    );
    return at === null ? undefined : Number(at);
  }

  async function take(timer: Timer, token: string, handler: WakeHandler, signal: AbortSignal): Promise<void> {
    const { id: job = '', processedOn = 0 } = timer;
    // BullMQ read the clock before it fetched the timer.
    const heldUntil = clock.elapsed() - Math.max(0, clock.now() - processedOn) + leaseMs;
    // After an outage longer than the lease, this replica gets a job that it still runs: it joins that run.
    const run = runs.get(job) ?? begin(timer, handler, signal);
    run.heldUntil = heldUntil;
    const ended = new AbortController();
    void renewLock(timer, token, run, ended.signal);
    try {
      const { at, failures } = await run.next;
      if (at === undefined) return;
      await storeEnd(job, () => delay(timer, token, { at, failures }), signal, tools);
      // Where that failed, the timer keeps its lease. When it ends, another replica runs the job again.
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

  /** Ends BullMQ's run of the timer, and sets it for the next one. */
  async function delay(timer: Timer, token: string, next: { at: number; failures: number }): Promise<void> {
    const { id: job = '', stalledCounter: stalls } = timer;
    await timer.updateData({ ...next, stalls }).catch(unlessRefused);
    await timer.moveToDelayed(Math.ceil(next.at), token).catch(unlessRefused);
    if (await hasMark(job)) await promote(job);
  }

  async function renewLock(timer: Timer, token: string, run: Run, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(leaseMs / 3, signal, clock);
      if (signal.aborted) return;
      // Read before the request: the process may be suspended while it waits for the answer.
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
      // `renewLock` does it, and knows how long each lock surely lasts.
      skipLockRenewal: true,
      stalledInterval: Math.ceil(leaseMs / 3),
      // However often its replicas die, a job runs again.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: STORAGE_PAUSE,
    });
    worker.on('completed', async ({ id = '' }) => {
      try {
        // Woken while it ended.
        if (await hasMark(id)) await promote(id);
      } catch (error) {
        log.warn({ err: error, job: id }, 'Could not run a woken job; it runs at the next start');
      }
    });
    worker.on('error', async (error) => {
      log.debug({ err: error }, "The schedule's worker failed");
      // BullMQ waits where the connection fails, but asks again at once where Redis refuses, as one whose memory is full.
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
    // Fetches nothing more.
    const closed = worker.close();
    await Promise.all(Array.from(runs.values(), ({ next }) => next));
    // Without Redis, a worker waits for its return before it closes.
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
      // Their replica died before it could do so.
      for (const job of await connection.run((redis) => redis.hKeys(keys.woken))) await promote(job);
      const stopping = new AbortController();
      // BullMQ waits for Redis as long as it takes, so its worker has a connection of its own.
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

/** BullMQ refuses with a negative code where a timer is gone, in another state, or under the lock of another run. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'number')) throw error;
}
