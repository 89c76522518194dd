/**
 * BullMQ as the alarm clock of wake-ups. When a job is to be handled is kept in our own `wishes`; a BullMQ job, at most
 * one for each of ours, only makes some replica look at them in time. So a lost or early alarm does no harm:
 *
 * - an alarm that rings too early is set again, by whoever hears it;
 * - an alarm that is set while another replica changes the wish is set again, because every setting is followed by a
 *   second look at the wish;
 * - an alarm cannot be set while its BullMQ job is active: whoever is at it sets it afterwards;
 * - an alarm that was lost (its replica died between two steps) is set again by the next sweep.
 */
import { ErrorCode, Job, Queue } from 'bullmq';
import { z } from 'zod';
import type { Clock } from './clock.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';

export const QUEUE = 'wake-ups';

/** Wishes that should have been handled this long ago are suspected to have lost their alarm. */
const OVERDUE = 5_000;
const SWEPT_AT_ONCE = 200;

export const alarmData = z.object({ job: z.string() });
export type AlarmData = z.infer<typeof alarmData>;

/** BullMQ's scripts refuse with numbers; errors of the connection have names for codes. */
const refusal = z.object({ code: z.number() });

export interface RedisAlarmsTools {
  readonly connection: RedisConnection;
  readonly keys: RedisKeys;
  readonly prefix: string;
  readonly clock: Clock;
}

export class RedisAlarms {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #clock: Clock;
  readonly #queue: Queue<AlarmData>;

  constructor({ connection, keys, prefix, clock }: RedisAlarmsTools) {
    this.#connection = connection;
    this.#keys = keys;
    this.#clock = clock;
    this.#queue = new Queue<AlarmData>(QUEUE, {
      connection: connection.redis,
      prefix,
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
      streams: { events: { maxLen: 100 } },
    });
    // Operations tell their callers; the connection tells the log.
    this.#queue.on('error', () => {});
  }

  /** Makes the alarm ring at the job's earliest wish; none if nothing is wished for. */
  async set(job: string): Promise<void> {
    let at = await this.#wish(job);
    while (at !== undefined) {
      await this.#ring(job, at);
      const now = await this.#wish(job);
      if (now === undefined || now >= at) return;
      at = now;
    }
  }

  /** Sets what should have rung, and lets what was left in handling ring: its replica may be dead. */
  async sweep(): Promise<void> {
    const [overdue, handling] = await this.#connection.run((redis) =>
      Promise.all([
        redis.zrangebyscore(
          this.#keys.wishes,
          '-inf',
          this.#clock.now() - OVERDUE,
          'LIMIT',
          0,
          SWEPT_AT_ONCE,
        ),
        redis.hkeys(this.#keys.handling),
      ]),
    );
    for (const job of overdue) await this.set(job);
    // Does nothing where the handling goes on, since its alarm is still there.
    for (const job of handling) await this.#add(job, this.#clock.now());
  }

  async close(): Promise<void> {
    await this.#queue.close();
  }

  async #wish(job: string): Promise<number | undefined> {
    const score = await this.#connection.run((redis) => redis.zscore(this.#keys.wishes, job));
    return score === null ? undefined : Number(score);
  }

  async #ring(job: string, at: number): Promise<void> {
    const alarm = new Job<AlarmData>(this.#queue, QUEUE, { job }, {}, alarmId(job));
    const refused = await this.#connection.run(async () => {
      try {
        await alarm.changeDelay(this.#delay(at));
        return undefined;
      } catch (error) {
        const { data } = refusal.safeParse(error);
        if (data === undefined) throw error;
        return data.code;
      }
    });
    // When it is waiting or active instead, whoever handles it reads the wish.
    if (refused === ErrorCode.JobNotExist) await this.#add(job, at);
  }

  async #add(job: string, at: number): Promise<void> {
    const options = { jobId: alarmId(job), delay: this.#delay(at) };
    await this.#connection.run(() => this.#queue.add(QUEUE, { job }, options));
  }

  #delay(at: number): number {
    return Math.max(0, Math.ceil(at - this.#clock.now()));
  }
}

/** BullMQ takes neither whole numbers nor colons. */
function alarmId(job: string): string {
  return `job-${encodeURIComponent(job)}`;
}
