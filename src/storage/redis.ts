/** Storage in Redis 7, for any number of replicas. */
import { randomUUID } from 'node:crypto';
import type { Log } from '../command.ts';
import type { Clock } from './clock.ts';
import { RedisAlarms } from './redis-alarms.ts';
import { RedisConnection } from './redis-connection.ts';
import { RedisHandlings } from './redis-handlings.ts';
import { RedisInbox } from './redis-inbox.ts';
import { RedisJobs } from './redis-jobs.ts';
import { type RedisKeys, redisKeys } from './redis-keys.ts';
import { RedisNotices } from './redis-notices.ts';
import { RedisPlaces } from './redis-places.ts';
import { openRedisSettings } from './redis-settings.ts';
import { RedisUsage } from './redis-usage.ts';
import { RedisWakeUps } from './redis-wake-ups.ts';
import { type Storage, StorageError } from './storage.ts';

/** A replica that was silent this long is taken for dead. */
const LEASE = 15_000;
/** Shorter than platforms wait before they acknowledge: what is declined is declined as the first answer. */
const PATIENCE = 800;
const ANSWER = 2_000;
/** A process that just starts has nobody waiting. */
const FIRST_CONNECTION = 5_000;

export interface RedisStorageOptions {
  /** `redis://` or `rediss://`, with user, password and database if there are any. */
  readonly url: string;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Log;
  /** What all keys begin with, so that several bots can share a Redis; `minstrel` unless said. */
  readonly prefix?: string;
  /** Milliseconds of silence after which another replica takes over what one was handling; 15,000 unless said. */
  readonly leaseMs?: number;
  /** Milliseconds an operation waits for a connection that broke to come back; 800 unless said. */
  readonly patienceMs?: number;
  /** Milliseconds it waits for an answer; 2,000 unless said. */
  readonly answerMs?: number;
}

/**
 * Connects to Redis. What its promises acknowledge is as durable as this Redis is: with `appendonly yes`, and for power
 * cuts `appendfsync always`. While Redis is away, everything rejects within a few seconds with StorageError
 * `unavailable`, and works again once it is back. Throws the same when Redis cannot be reached now.
 */
export async function openRedisStorage(options: RedisStorageOptions): Promise<Storage> {
  const { url, clock, random, log, prefix = 'minstrel', leaseMs = LEASE } = options;
  const patience = {
    patienceMs: options.patienceMs ?? PATIENCE,
    answerMs: options.answerMs ?? ANSWER,
    firstConnectionMs: options.patienceMs ?? FIRST_CONNECTION,
  };
  const keys = redisKeys(prefix);
  const connection = new RedisConnection(url, { ...patience, clock, log });
  const settings = await connectBoth();
  const alarms = new RedisAlarms({ connection, keys, prefix, clock });
  const handlings = new RedisHandlings(connection, keys);
  const notices = new RedisNotices({ url, channel: keys.notices, connection, log });
  const wakeUps = new RedisWakeUps({ url, prefix, handlings, alarms, leaseMs, clock, random, log });

  async function connectBoth() {
    try {
      await connection.connect();
      await warnOfForgetting(connection, log);
      return await openRedisSettings(url, { namespace: keys.settings, ...patience, clock });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  return {
    jobs: new RedisJobs({ connection, keys, log, newToken: randomUUID }),
    inbox: new RedisInbox(connection, keys),
    wakeUps,
    notices,
    settings,
    places: new RedisPlaces(connection, keys),
    usage: new RedisUsage(connection, keys.usage),
    secret: async (name, make) => {
      const made = make();
      const known = await connection.run((redis) => redis.set(keys.secret(name), made, 'NX', 'GET'));
      return known ?? made;
    },
    secrets: () => readSecrets(connection, keys),
    check: async () => {
      await connection.run((redis) => redis.set(keys.checked, clock.now()));
    },
    close: async () => {
      await wakeUps.stop();
      await alarms.close();
      notices.close();
      settings.close();
      connection.close();
    },
  };
}

async function readSecrets(
  connection: RedisConnection,
  keys: RedisKeys,
): Promise<(readonly [name: string, value: string])[]> {
  const start = keys.secret('');
  const match = `${start.replace(/[\\*?[\]]/g, '\\$&')}*`;
  // A scan may tell of the same key twice.
  const found = new Map<string, string>();
  let cursor = '0';
  do {
    const [next, page] = await connection.run((redis) => redis.scan(cursor, 'MATCH', match, 'COUNT', 500));
    for (const key of page) {
      const value = await connection.run((redis) => redis.get(key));
      if (value !== null) found.set(decodeURIComponent(key.slice(start.length)), value);
    }
    cursor = next;
  } while (cursor !== '0');
  return [...found];
}

/** A Redis that keeps nothing on disk, or throws keys away when memory is short, breaks what was promised to people. */
async function warnOfForgetting(connection: RedisConnection, log: Log): Promise<void> {
  const text = await connection.run((redis) => redis.info());
  const facts = new Map(text.split(/\r?\n/).map((line) => [line.split(':')[0], line.split(':')[1]]));
  if (facts.get('aof_enabled') === '0') {
    log.warn({}, 'Redis runs without `appendonly yes`: if it dies, jobs that people were promised are lost');
  }
  const policy = facts.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    log.warn(
      { policy },
      'Redis may throw jobs away when its memory is full: set `maxmemory-policy noeviction`',
    );
  }
  if (facts.get('role') === 'slave') {
    throw new StorageError('unavailable', 'This Redis is a replica, which cannot be written.');
  }
}
