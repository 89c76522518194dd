import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/storage/clock.ts';
import { openRedisStorage } from '../../src/storage/redis.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { songJob } from './jobs.ts';
import { RecordingLog } from './recording-log.ts';
import { noRedis, type RedisServer, startRedisServer } from './redis-server.ts';
import { startReplica } from './replica-process.ts';

const LEASE = 1_500;

describe.runIf(noRedis === undefined)(noRedis ?? 'Redis storage with several replicas', () => {
  let server: RedisServer;
  let prefix: string;
  let log: RecordingLog;
  let deployments = 0;
  const opened: Storage[] = [];

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.dispose());
  beforeEach(() => {
    deployments += 1;
    prefix = `replicas${deployments}`;
    log = new RecordingLog();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()));
  });

  async function openReplica(leaseMs = LEASE): Promise<Storage> {
    const storage = await openRedisStorage({
      url: server.url,
      prefix,
      leaseMs,
      clock: systemClock,
      random: Math.random,
      log,
    });
    opened.push(storage);
    return storage;
  }

  describe('with several replicas', () => {
    test('each wake-up is handled by one of them, and none at the same time as another of its job', async () => {
      const replicas = await Promise.all([openReplica(), openReplica(), openReplica()]);
      const jobs = Array.from({ length: 40 }, (_, index) => `job${index}`);
      const running = new Set<string>();
      const handled: string[] = [];
      let collisions = 0;
      for (const replica of replicas) {
        await replica.wakeUps.start(
          async (job) => {
            if (running.has(job)) collisions += 1;
            running.add(job);
            await replica.check();
            handled.push(job);
            running.delete(job);
            return undefined;
          },
          { concurrency: 4 },
        );
      }
      await Promise.all(
        jobs.flatMap((job) => replicas.map((replica) => replica.wakeUps.wake(job, Date.now()))),
      );
      await vi.waitFor(() => expect(new Set(handled).size).toBe(jobs.length), 15_000);
      expect(collisions).toBe(0);
      // Wishes of the same moment become one look, or one more when they came while it was handled.
      expect(handled.length).toBeLessThanOrEqual(jobs.length * replicas.length);
    });

    test('no wish is lost, whoever wishes and whoever handles at the moment', async () => {
      // No sweep helps within this lease.
      const replicas = await Promise.all([openReplica(60_000), openReplica(60_000), openReplica(60_000)]);
      const wished = new Map<string, number>();
      const handled = new Map<string, number>();
      const running = new Set<string>();
      let collisions = 0;
      let moment = 0;
      for (const replica of replicas) {
        await replica.wakeUps.start(
          async (job) => {
            moment += 1;
            handled.set(job, moment);
            if (running.has(job)) collisions += 1;
            running.add(job);
            await replica.check();
            running.delete(job);
            return [undefined, Date.now() + 600_000, Date.now() + 10][moment % 3];
          },
          { concurrency: 4 },
        );
      }
      const wisher = async (number: number) => {
        for (let wish = 0; wish < 60; wish += 1) {
          const job = `job${(wish * 7 + number) % 10}`;
          moment += 1;
          wished.set(job, moment);
          await replicas[(wish + number) % 3]?.wakeUps.wake(job, Date.now());
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, number) => wisher(number)));
      await vi.waitFor(
        () => {
          const lost = [...wished].filter(([job, at]) => (handled.get(job) ?? 0) < at);
          expect(lost).toEqual([]);
        },
        { timeout: 10_000, interval: 20 },
      );
      expect(collisions).toBe(0);
    });

    test('what a killed replica was at is handled by a living one within its lease and a little', async () => {
      const living = await openReplica();
      const doomed = await startReplica({ kind: 'redis', url: server.url, prefix, leaseMs: LEASE }, 'hang');
      // As many as it handles at once, so that it takes no more.
      const jobs = ['a', 'b', 'c', 'd'];
      for (const job of jobs) await living.wakeUps.wake(job, Date.now());
      for (const job of jobs) await doomed.said(`handling ${job}`);

      const handled: string[] = [];
      await living.wakeUps.start(
        async (job) => {
          handled.push(job);
          return undefined;
        },
        { concurrency: 4 },
      );
      await living.wakeUps.wake('a', Date.now());
      // The doomed one holds its jobs as long as it lives, longer than any lease.
      await living.wakeUps.wake('marker', Date.now() + 2 * LEASE);
      await vi.waitFor(() => expect(handled).toEqual(['marker']), { timeout: 10_000, interval: 20 });
      await doomed.kill();
      await vi.waitFor(() => expect(handled.slice(1).sort()).toEqual(jobs), {
        timeout: 10_000,
        interval: 20,
      });
    });

    test('of a thousand creations of one invocation in all of them one wins', async () => {
      const replicas = await Promise.all([openReplica(), openReplica()]);
      const won = await Promise.all(
        Array.from({ length: 1_000 }, (_, index) =>
          replicas[index % 2]?.jobs.create(songJob({ id: `job${index}`, invocation: 'same' })),
        ),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    test('all know the same secret', async () => {
      const replicas = await Promise.all([openReplica(), openReplica(), openReplica()]);
      const secrets = await Promise.all(
        replicas.map((replica, n) => replica.secret('s', () => `made by ${n}`)),
      );
      expect(new Set(secrets).size).toBe(1);
    });
  });

  describe('what Redis forgot', () => {
    test('an alarm that was lost is set again', async () => {
      const storage = await openReplica();
      // As a replica leaves it that dies between the wish and its alarm.
      const redis = new Redis(server.url);
      await redis.zadd(`${prefix}:wishes`, Date.now() - 60_000, 'a');
      await redis.hset(`${prefix}:handling`, 'b', 'the token of a dead one');
      redis.disconnect();
      const handled: string[] = [];
      await storage.wakeUps.start(
        async (job) => {
          handled.push(job);
          return undefined;
        },
        { concurrency: 4 },
      );
      await vi.waitFor(() => expect(handled.sort()).toEqual(['a', 'b']), 10_000);
    });

    test('nothing is left in Redis of a job that needs no wake-up any more', async () => {
      const storage = await openReplica();
      await storage.wakeUps.start(async () => undefined, { concurrency: 4 });
      const redis = new Redis(server.url);
      await storage.wakeUps.wake('a', Date.now());
      await vi.waitFor(async () => expect(await redis.keys(`${prefix}:wake-ups:job-*`)).toEqual([]), 10_000);
      expect(await redis.exists(`${prefix}:wishes`, `${prefix}:handling`, `${prefix}:handler-failures`)).toBe(
        0,
      );
      redis.disconnect();
    });
  });
});
