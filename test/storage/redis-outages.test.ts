import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/storage/clock.ts';
import { openRedisStorage } from '../../src/storage/redis.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { songJob } from './jobs.ts';
import { RecordingLog } from './recording-log.ts';
import { noRedis, type RedisServer, startRedisServer } from './redis-server.ts';

const LEASE = 1_500;
const PATIENCE = 500;

describe.runIf(noRedis === undefined)(noRedis ?? 'Redis storage', () => {
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
    prefix = `outage${deployments}`;
    log = new RecordingLog();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()));
  });

  async function openReplica(patienceMs = PATIENCE): Promise<Storage> {
    const storage = await openRedisStorage({
      url: server.url,
      prefix,
      leaseMs: LEASE,
      patienceMs,
      clock: systemClock,
      random: Math.random,
      log,
    });
    opened.push(storage);
    return storage;
  }

  function operations(storage: Storage): Record<string, () => Promise<unknown>> {
    return {
      create: () => storage.jobs.create(songJob({ id: 'during' })),
      read: () => storage.jobs.read('before'),
      replace: () => storage.jobs.replace(songJob({ id: 'before' })),
      put: () => storage.inbox.put('before', 'during', 1),
      wake: () => storage.wakeUps.wake('before', Date.now()),
      get: () => storage.settings.get('key'),
      set: () => storage.settings.set('key', 'during'),
      secret: () => storage.secret('name', () => 'during'),
      check: () => storage.check(),
    };
  }

  async function codesOf(storage: Storage): Promise<Record<string, unknown>> {
    const entries = Object.entries(operations(storage)).map(async ([name, operation]) => {
      const result = await operation().then(
        () => 'worked',
        (error: { name?: string; code?: string }) => `${error.name} ${error.code}`,
      );
      return [name, result] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  function allOf(storage: Storage, result: string): Record<string, string> {
    return Object.fromEntries(Object.keys(operations(storage)).map((name) => [name, result]));
  }

  describe('while Redis is away', () => {
    test('everything fails within a few seconds, and works again once it is back, with all that was acknowledged', async () => {
      const storage = await openReplica();
      await storage.jobs.create(songJob({ id: 'before' }));
      await storage.inbox.put('before', 'callback', 1);
      await storage.settings.set('key', 'before');
      await server.kill();

      const began = Date.now();
      expect(await codesOf(storage)).toEqual(allOf(storage, 'StorageError unavailable'));
      expect(Date.now() - began).toBeGreaterThanOrEqual(PATIENCE);
      expect(Date.now() - began).toBeLessThan(10 * PATIENCE);

      await server.start();
      await vi.waitFor(() => storage.check(), { timeout: 10_000, interval: 50 });
      expect(await storage.jobs.read('before')).toEqual(songJob({ id: 'before' }));
      expect(await storage.inbox.read('before', 0)).toMatchObject([{ body: 'callback' }]);
      await vi.waitFor(async () => expect(await storage.settings.get('key')).toBe('before'), 10_000);
      // What failed was not done behind anyone's back.
      expect(await storage.jobs.read('during')).toBeUndefined();
      expect(await codesOf(storage)).toEqual(allOf(storage, 'worked'));
      const said = log.lines.filter(({ level }) => level !== 'debug').map(({ sentence }) => sentence);
      expect(said).toEqual(['Redis is away', 'Redis is back']);
    });

    test('wake-ups wait, and are handled once it is back', async () => {
      const storage = await openReplica();
      const handled: string[] = [];
      await storage.wakeUps.start(
        async (job) => {
          handled.push(job);
          return undefined;
        },
        { concurrency: 4 },
      );
      await storage.wakeUps.wake('soon', Date.now() + 500);
      await server.kill();
      await expect(storage.check()).rejects.toMatchObject({ code: 'unavailable' });
      await server.start();
      await vi.waitFor(() => expect(handled).toContain('soon'), { timeout: 15_000, interval: 50 });
      await storage.wakeUps.wake('later', Date.now());
      await vi.waitFor(() => expect(handled).toContain('later'), { timeout: 15_000, interval: 50 });
    });

    test('a handler that ended meanwhile is not called again by its own replica, and its end is stored', async () => {
      const storage = await openReplica();
      const handled: string[] = [];
      let end = () => {};
      await storage.wakeUps.start(
        (job) => {
          handled.push(job);
          return job === 'a' && handled.length === 1
            ? new Promise((resolve) => {
                end = () => resolve(undefined);
              })
            : Promise.resolve(undefined);
        },
        { concurrency: 4 },
      );
      await storage.wakeUps.wake('a', Date.now());
      await vi.waitFor(() => expect(handled).toEqual(['a']), 10_000);
      await server.kill();
      end();
      await vi.waitFor(
        () => expect(log.lines.some(({ sentence }) => sentence.includes('could not be stored'))).toBe(true),
        10_000,
      );
      await server.start();
      await vi.waitFor(() => storage.check(), { timeout: 10_000, interval: 50 });
      await storage.wakeUps.wake('b', Date.now());
      await vi.waitFor(() => expect(handled).toContain('b'), { timeout: 15_000, interval: 50 });
      const redis = new Redis(server.url);
      await vi.waitFor(async () => expect(await redis.hlen(`${prefix}:handling`)).toBe(0), 10_000);
      redis.disconnect();
    });

    test('for longer than the lease, a handler that is still at work is not joined by a second one', async () => {
      const storage = await openReplica();
      const handled: string[] = [];
      let end = () => {};
      await storage.wakeUps.start(
        (job) => {
          handled.push(job);
          return new Promise((resolve) => {
            end = () => resolve(undefined);
          });
        },
        { concurrency: 4 },
      );
      await storage.wakeUps.wake('a', Date.now());
      await vi.waitFor(() => expect(handled).toEqual(['a']), 10_000);
      const redis = new Redis(server.url);
      redis.on('error', () => {});
      const lock = `${prefix}:wake-ups:job-a:lock`;
      await vi.waitFor(async () => expect(await redis.exists(lock)).toBe(1));
      const left = await redis.pttl(lock);
      const killed = Date.now();
      await server.kill();
      await expect.poll(() => Date.now(), { timeout: 10_000 }).toBeGreaterThan(killed + left);
      await server.start();
      // BullMQ delivers it again, and it is put off.
      await vi.waitFor(
        async () => expect(await redis.zscore(`${prefix}:wake-ups:delayed`, 'job-a')).not.toBeNull(),
        { timeout: 10_000, interval: 20 },
      );
      end();
      await vi.waitFor(async () => expect(await redis.keys(`${prefix}:wake-ups:job-*`)).toEqual([]), 10_000);
      expect(await redis.exists(`${prefix}:handling`, `${prefix}:wishes`)).toBe(0);
      expect(handled).toEqual(['a']);
      redis.disconnect();
    });

    test('a Redis that hangs without closing the connection is away too', async () => {
      const storage = await openReplica();
      server.freeze();
      try {
        expect(await codesOf(storage)).toEqual(allOf(storage, 'StorageError unavailable'));
      } finally {
        server.thaw();
      }
      await vi.waitFor(() => storage.check(), { timeout: 10_000, interval: 50 });
    });

    test('the storage can be closed, and does not open', async () => {
      const storage = await openReplica();
      await storage.wakeUps.start(async () => undefined, { concurrency: 4 });
      await server.kill();
      try {
        const began = Date.now();
        await storage.close();
        await expect(openReplica()).rejects.toMatchObject({ name: 'StorageError', code: 'unavailable' });
        expect(Date.now() - began).toBeLessThan(10_000);
      } finally {
        await server.start();
      }
    });
  });

  test('an outage shorter than the patience is not noticed', async () => {
    const storage = await openReplica(10_000);
    await storage.jobs.create(songJob({ id: 'before' }));
    await server.kill();
    const during = codesOf(storage);
    await server.start();
    expect(await during).toEqual(allOf(storage, 'worked'));
  });

  test('an answer that was lost on the way does not make the writer a loser', async () => {
    const storage = await openReplica();
    const created: boolean[] = [];
    const replaced: unknown[] = [];
    const redis = new Redis(server.url);
    // Breaks all connections while writes are on their way, some of them between their effect and its answer.
    for (let round = 0; round < 20; round += 1) {
      const id = `job${round}`;
      const creation = storage.jobs.create(songJob({ id }));
      const breaking = redis.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      created.push(await creation);
      await breaking;
      const replacement = storage.jobs.replace(songJob({ id, state: 'submitting' }));
      await redis.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      replaced.push((await replacement)?.version);
    }
    redis.disconnect();
    expect(created).toEqual(Array.from({ length: 20 }, () => true));
    expect(replaced).toEqual(Array.from({ length: 20 }, () => 2));
  });

  test('callbacks of a job that ended are forgotten after 30 days, those of an open one never', async () => {
    const storage = await openReplica();
    const redis = new Redis(server.url);
    const expiry = () => Promise.all([redis.ttl(`${prefix}:inbox:a`), redis.ttl(`${prefix}:inbox-seen:a`)]);
    const days = 30 * 24 * 3_600;
    await storage.jobs.create(songJob({ id: 'a' }));
    await storage.inbox.put('a', 'first', 1);
    expect(await expiry()).toEqual([-1, -1]);
    await storage.jobs.replace(songJob({ id: 'a', state: 'expired' }));
    expect(await expiry()).toEqual([days, days]);
    await storage.jobs.replace(songJob({ id: 'a', state: 'waiting', version: 2 }));
    expect(await expiry()).toEqual([-1, -1]);
    await storage.jobs.create(songJob({ id: 'b', state: 'delivered' }));
    await storage.inbox.put('b', 'late', 1);
    expect(await redis.ttl(`${prefix}:inbox:b`)).toBe(days);
    redis.disconnect();
  });

  describe('a record that cannot be read', () => {
    test('is an error for its own job, logged, and does not hide the others', async () => {
      const storage = await openReplica();
      for (const id of ['broken', 'fine']) await storage.jobs.create(songJob({ id }));
      const redis = new Redis(server.url);
      await redis.hset(`${prefix}:job:broken`, 'record', '{"half');
      redis.disconnect();
      await expect(storage.jobs.read('broken')).rejects.toMatchObject({
        name: 'StorageError',
        code: 'schema',
      });
      const running = await storage.jobs.running({ platform: 'discord', channel: 'channel' }, 'ada');
      expect(running.map(({ id }) => id)).toEqual(['fine']);
      expect(log.lines).toMatchObject([{ level: 'error', fields: { job: 'broken' } }]);
    });
  });

  describe('a Redis that has no memory left', () => {
    test('is told as full, and the storage works again when there is some', async () => {
      const storage = await openReplica();
      const redis = new Redis(server.url);
      await redis.config('SET', 'maxmemory', '1mb');
      try {
        await expect(storage.jobs.create(songJob({ id: 'a' }))).rejects.toMatchObject({ code: 'full' });
        await expect(storage.check()).rejects.toMatchObject({ code: 'full' });
        await expect(storage.settings.set('key', 1)).rejects.toMatchObject({ code: 'full' });
      } finally {
        await redis.config('SET', 'maxmemory', '0');
        redis.disconnect();
      }
      expect(await storage.jobs.create(songJob({ id: 'a' }))).toBe(true);
    });
  });

  test('a Redis that keeps nothing on disk is warned about at the start', async () => {
    const redis = new Redis(server.url);
    await redis.config('SET', 'appendonly', 'no');
    try {
      await openReplica();
    } finally {
      await redis.config('SET', 'appendonly', 'yes');
      redis.disconnect();
    }
    expect(log.lines).toMatchObject([{ level: 'warn', sentence: expect.stringContaining('appendonly yes') }]);
  });
});
