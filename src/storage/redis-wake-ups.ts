/** Wake-ups of many replicas: BullMQ gives each to one of them, and to another if that one dies. */
import { DelayedError, type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Log } from '../command.ts';
import { handlerPause } from './backoff.ts';
import type { Clock } from './clock.ts';
import { type AlarmData, alarmData, QUEUE, type RedisAlarms } from './redis-alarms.ts';
import { reconnecting } from './redis-connection.ts';
import type { RedisHandlings } from './redis-handlings.ts';
import { checkWish, type WakeHandler, type WakeUps } from './storage.ts';

/** Pause before storage that failed is tried again. */
const STORAGE_PAUSE = 1_000;
/** When to look again whether this replica has ended a handling whose lease it lost. */
const LEASE_LOST_PAUSE = 1_000;
/** How long BullMQ may take to put away its own things once our handlers have ended. */
const CLOSING = 2_000;

export interface RedisWakeUpsTools {
  readonly url: string;
  readonly prefix: string;
  readonly handlings: RedisHandlings;
  readonly alarms: RedisAlarms;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

interface Running {
  readonly handler: WakeHandler;
  readonly worker: Worker<AlarmData>;
  readonly connection: Redis;
  readonly stopping: AbortController;
}

export class RedisWakeUps implements WakeUps {
  readonly #tools: RedisWakeUpsTools;
  readonly #handlings = new Set<Promise<unknown>>();
  readonly #atWork = new Set<string>();
  #running: Running | undefined;
  #cancelSweep = () => {};

  constructor(tools: RedisWakeUpsTools) {
    this.#tools = tools;
  }

  async wake(job: string, at: number): Promise<void> {
    checkWish(at);
    await this.#tools.handlings.wish(job, at);
    await this.#tools.alarms.set(job);
  }

  forgotten(jobs: readonly string[]): Promise<string[]> {
    return this.#tools.handlings.forgotten(jobs);
  }

  async start(handler: WakeHandler, { concurrency }: { concurrency: number }): Promise<void> {
    if (this.#running !== undefined) throw new Error('Wake-ups are handled already.');
    const { url, prefix, leaseMs, log } = this.#tools;
    const stopping = new AbortController();
    // BullMQ waits for Redis as long as it takes, so its worker cannot share the connection that gives up soon.
    const connection = new Redis(url, { ...reconnecting, maxRetriesPerRequest: null });
    connection.on('error', () => {
      // Said already by the storage's own connection.
    });
    const worker: Worker<AlarmData> = new Worker<AlarmData>(
      QUEUE,
      (alarm, token) => this.#track(this.#hear(alarm, token)),
      {
        connection,
        prefix,
        concurrency,
        lockDuration: leaseMs,
        stalledInterval: Math.ceil(leaseMs / 3),
        // However often its replicas die, a job is handled again.
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        // Pause after a fetch that failed, else 15 s.
        runRetryDelay: STORAGE_PAUSE,
      },
    );
    worker.on('error', (error) => log.debug({ err: error }, 'The wake-up worker had trouble'));
    worker.on('completed', ({ data }) => this.#setAfterwards(data.job));
    worker.on('failed', (alarm) => alarm && this.#setAfterwards(alarm.data.job));
    this.#running = { handler, worker, connection, stopping };
    await worker.waitUntilReady();
    this.#sweepFromNowOn(stopping.signal);
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    running.stopping.abort();
    this.#cancelSweep();
    // Fetches nothing more. With Redis away this would wait for its return, so it is not waited for alone.
    const closed = running.worker.close();
    await Promise.allSettled(this.#handlings);
    await this.#atMost(CLOSING, closed);
    running.connection.disconnect();
  }

  async #track<Value>(handling: Promise<Value>): Promise<Value> {
    this.#handlings.add(handling);
    try {
      return await handling;
    } finally {
      this.#handlings.delete(handling);
    }
  }

  /** An alarm rang: returns when nothing is left to wish for, and throws DelayedError when the alarm was set anew. */
  async #hear(alarm: Job<AlarmData>, token = ''): Promise<void> {
    const { job } = alarmData.parse(alarm.data);
    const running = this.#running;
    const { handlings, clock } = this.#tools;
    if (running === undefined) return this.#snooze(alarm, token, clock.now());
    // With Redis away for longer than the lease, BullMQ takes this very replica for dead.
    if (this.#atWork.has(job)) return this.#snooze(alarm, token, clock.now() + LEASE_LOST_PAUSE);
    const claim = await handlings.claim(job, token, clock.now());
    switch (claim.type) {
      case 'nothing':
        return;
      case 'later':
        return this.#snooze(alarm, token, claim.at);
      case 'handle': {
        this.#atWork.add(job);
        const next = await this.#handle(running, job, token, claim.failures).finally(() => {
          this.#atWork.delete(job);
        });
        if (next !== undefined) await this.#snooze(alarm, token, next);
        return;
      }
      default:
        claim satisfies never;
    }
  }

  /** Returns the earliest wish after the handling. */
  async #handle(
    { handler, stopping: { signal } }: Running,
    job: string,
    token: string,
    failures: number,
  ): Promise<number | undefined> {
    const { clock, random, log } = this.#tools;
    try {
      // The stop may have come while it was claimed.
      signal.throwIfAborted();
      const at = await handler(job, signal);
      if (at !== undefined) checkWish(at);
      return await this.#settle(signal, job, token, { at, failures: 0 });
    } catch (error) {
      if (signal.aborted) return this.#settle(signal, job, token, { at: clock.now(), failures });
      log.error({ err: error, job }, 'Handling a job failed; it will be tried again');
      const at = clock.now() + handlerPause(failures + 1, random);
      return this.#settle(signal, job, token, { at, failures: failures + 1 });
    }
  }

  /** Records the end of a handling, for as long as it takes. Unrecorded at the stop, some replica handles it again. */
  async #settle(
    signal: AbortSignal,
    job: string,
    token: string,
    end: { at: number | undefined; failures: number },
  ): Promise<number | undefined> {
    for (;;) {
      try {
        return await this.#tools.handlings.settle(job, token, end);
      } catch (error) {
        this.#tools.log.error({ err: error, job }, 'The end of a handling could not be stored');
        if (signal.aborted) return this.#tools.clock.now();
        await this.#pause(STORAGE_PAUSE);
      }
    }
  }

  async #snooze(alarm: Job<AlarmData>, token: string, at: number): Promise<never> {
    await alarm.moveToDelayed(Math.ceil(at), token);
    // A wish that came meanwhile could not move an alarm that was active.
    this.#setAfterwards(alarm.data.job);
    throw new DelayedError();
  }

  #setAfterwards(job: string): void {
    this.#track(this.#tools.alarms.set(job)).catch((error: unknown) => {
      this.#tools.log.warn({ err: error, job }, 'An alarm could not be set; the next sweep will');
    });
  }

  #sweepFromNowOn(signal: AbortSignal): void {
    const { alarms, clock, leaseMs, log } = this.#tools;
    alarms.sweep().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'Wake-ups could not be swept');
    });
    this.#cancelSweep = clock.after(leaseMs, () => this.#sweepFromNowOn(signal));
  }

  async #atMost(milliseconds: number, waited: Promise<unknown>): Promise<void> {
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#tools.clock.after(milliseconds, resolve);
    });
    await Promise.race([waited, late]);
    cancel();
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#tools.clock.after(milliseconds, resolve);
    });
  }
}
