/** Storage in Redis 7, for any number of replicas. */
import { randomUUID } from 'node:crypto';
import type { Finding } from '../../core/finding.ts';
import type { Log } from '../../core/telemetry/log.ts';
import { checkTime, type RunTools } from '../schedule.ts';
import { type Storage, StorageError } from '../storage.ts';
import { RedisConnection, type RedisPatience, type RedisTools } from './connection.ts';
import { redisInbox } from './inbox.ts';
import { inspectRedis } from './inspect.ts';
import { redisJobs } from './jobs.ts';
import { redisKeys } from './keys.ts';
import { redisLeases } from './leases.ts';
import { redisNotifications } from './notifications.ts';
import { redisSchedule } from './schedule.ts';
import { redisSemaphores } from './semaphores.ts';
import { redisSettings } from './settings.ts';
import { redisUsage, reservationArgument } from './usage.ts';

/** Milliseconds of silence after which a replica is considered dead. */
const LEASE = 15_000;
const PATIENCE: RedisPatience = {
  // Shorter than platforms wait for their acknowledgement, so the first answer can decline the request.
  patienceMs: 800,
  answerMs: 2_000,
  // At the start, no requests are waiting.
  firstConnectionMs: 5_000,
};

export interface RedisStorageOptions extends RunTools, Partial<RedisPatience> {
  /** `redis://` or `rediss://`, with an optional user, password and database. */
  readonly url: string;
  /** The prefix of all keys, so that several bots can share a Redis. Default: `minstrel`. */
  readonly prefix?: string;
  /** Milliseconds of silence after which another replica takes over. Default: 15,000. */
  readonly leaseMs?: number;
}

/**
 * Connects to Redis. Writes are as durable as Redis is configured: `appendonly yes` survives a crash, `appendfsync always` a power
 * cut. During an outage, everything rejects within a few seconds with StorageError `unavailable`, and recovers afterwards.
 * Throws the same error if Redis cannot be reached now.
 */
export async function openRedisStorage(options: RedisStorageOptions): Promise<Storage> {
  const { url, clock, log, prefix = 'minstrel', leaseMs = LEASE } = options;
  const keys = redisKeys(prefix);
  const connection = new RedisConnection(url, { ...PATIENCE, ...options });
  const tools: RedisTools = { ...options, connection, keys, prefix, newId: randomUUID };
  await connection.connect();
  const settings = redisSettings(tools);
  const schedule = redisSchedule(tools, leaseMs);
  const close = async () => {
    await schedule.close();
    connection.close();
  };
  try {
    await warnAboutDurability(connection, log);
  } catch (error) {
    await close();
    throw error;
  }
  const jobs = redisJobs(tools);
  const inbox = redisInbox(tools);
  return {
    accept: async ({ job, reservation, ceilings, at, now }) => {
      // Every stored job must have a timer. A timer without a job ends quietly.
      await schedule.add(job.id, at);
      return jobs.insert(job, reservationArgument(reservation, { ceilings, now }));
    },
    receive: async (callback) => {
      checkTime(callback.receivedAt);
      const received = await inbox.receive(callback);
      if (received === 'stored') await schedule.promote(callback.job);
      return received;
    },
    jobs,
    inbox,
    schedule,
    notifications: redisNotifications(tools),
    settings,
    semaphores: redisSemaphores(tools),
    usage: redisUsage(tools),
    leases: redisLeases(tools),
    secret: async (name, make) => {
      const value = make();
      const known = await connection.run((redis) =>
        redis.set(keys.secret(name), value, { condition: 'NX', GET: true }),
      );
      return known ?? value;
    },
    secrets: async () => {
      const start = keys.secret('');
      const found: [string, string][] = [];
      for await (const key of connection.keys(start)) {
        const value = await connection.run((redis) => redis.get(key));
        if (value !== null) found.push([decodeURIComponent(key.slice(start.length)), value]);
      }
      return found;
    },
    check: async () => {
      await connection.run((redis) => redis.set(keys.checked, clock.now()));
    },
    scrub: async () => {
      // Redis refuses this without an append-only file, during a rewrite, and for users without the permission.
      await connection.run((redis) => redis.bgRewriteAof()).catch(() => undefined);
    },
    close,
  };
}

/** Connects, inspects Redis for the operator, and closes. Throws StorageError if Redis cannot be reached. */
export async function examineRedis(
  url: string,
  tools: Pick<RunTools, 'clock' | 'random' | 'log'>,
): Promise<Finding[]> {
  const connection = new RedisConnection(url, { ...PATIENCE, ...tools });
  await connection.connect();
  try {
    return await inspectRedis(connection);
  } finally {
    connection.close();
  }
}

/** Logs a warning if Redis may lose jobs. Throws StorageError for a read-only replica. */
async function warnAboutDurability(connection: RedisConnection, log: Log): Promise<void> {
  for (const { level, sentence, remedy } of await inspectRedis(connection)) {
    if (level === 'wrong') throw new StorageError('unavailable', sentence);
    if (level === 'warning') log.warn({}, `${sentence}: ${remedy}`);
  }
}
