import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/util/clock.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import type { RunLease } from '../../../src/storage/schedule.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { connectRedis, noRedis, type RedisServer, startRedisServer } from '../../servers/redis.ts';
import { songJob } from '../jobs.ts';
import { RecordingLog } from '../recording-log.ts';
import { startReplica } from './replica-process.ts';

const LEASE = 1_500;
/** For operations that fail. */
const PATIENCE = 500;
/** For operations that succeed, however slow this machine is. */
const LONG_PATIENCE = 60_000;

describe.runIf(noRedis === undefined)(noRedis ?? 'Redis storage', () => {
  let server: RedisServer;
  let prefix: string;
  let log: RecordingLog;
  let deployments = 0;
  const opened: Storage[] = [];
  const held: (() => void)[] = [];

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
    // Closing a storage waits for running handlers, including those of a failed test.
    for (const release of held.splice(0)) release();
    await Promise.all(opened.splice(0).map((storage) => storage.close()));
  });

  async function openReplica(
    patienceMs = LONG_PATIENCE,
    leaseMs = LEASE,
    firstConnectionMs = LONG_PATIENCE,
  ): Promise<Storage> {
    const storage = await openRedisStorage({
      url: server.url,
      prefix,
      leaseMs,
      patienceMs,
      firstConnectionMs,
      clock: systemClock,
      random: Math.random,
      log,
    });
    opened.push(storage);
    return storage;
  }

  /** All runs of a job wait for this, including an unwanted second one. */
  function hold() {
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    held.push(() => resolve(undefined));
    return { until: promise, end: resolve };
  }

  function operations(storage: Storage): Record<string, () => Promise<unknown>> {
    return {
      create: () => storage.jobs.create(songJob({ id: 'during' })),
      read: () => storage.jobs.read('before'),
      replace: () => storage.jobs.replace(songJob({ id: 'before' })),
      receive: () => storage.receive({ job: 'before', body: 'received', receivedAt: 1 }),
      wake: () => storage.schedule.wake('before'),
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

  describe('during an outage of Redis', () => {
    test('gives up after its patience even if the clock is set back', async () => {
      let setBack = 0;
      const clock = { ...systemClock, now: () => Date.now() - setBack };
      const storage = await openRedisStorage({
        url: server.url,
        prefix,
        patienceMs: PATIENCE,
        clock,
        random: Math.random,
        log,
      });
      opened.push(storage);
      await server.kill();
      try {
        const reading = storage.jobs.read('x').then(() => 'read', String);
        setBack = 24 * 3_600_000;
        expect(await reading).toContain('Redis cannot be reached');
      } finally {
        await server.start();
      }
    });

    test('everything fails after its patience and recovers with all acknowledged data', async () => {
      const storage = await openReplica(PATIENCE);
      await storage.jobs.create(songJob({ id: 'before' }));
      await storage.receive({ job: 'before', body: 'callback', receivedAt: 1 });
      await storage.settings.set('key', 'before');
      await server.kill();

      const began = Date.now();
      expect(await codesOf(storage)).toEqual(allOf(storage, 'StorageError unavailable'));
      expect(Date.now() - began).toBeGreaterThanOrEqual(PATIENCE);

      await server.start();
      await expect.poll(() => storage.check()).toBeUndefined();
      expect(await storage.jobs.read('before')).toEqual(songJob({ id: 'before' }));
      expect(await storage.inbox.read('before', 0)).toMatchObject([{ body: 'callback' }]);
      await expect.poll(() => storage.settings.get('key')).toBe('before');
      // Writes that were reported as failed were not made later.
      expect(await storage.jobs.read('during')).toBeUndefined();
      await expect.poll(() => codesOf(storage)).toEqual(allOf(storage, 'worked'));
      const logged = log.lines.filter(({ level }) => level !== 'debug').map(({ sentence }) => sentence);
      expect(logged).toEqual(['Lost the connection to Redis', 'Reconnected to Redis']);
    });

    test('scheduled jobs wait and run after the outage', async () => {
      const storage = await openReplica(PATIENCE);
      const handled: string[] = [];
      await storage.schedule.start(
        async (job) => {
          handled.push(job);
          return undefined;
        },
        { concurrency: 4 },
      );
      await storage.schedule.add('soon', Date.now() + 500);
      await server.kill();
      await expect(storage.check()).rejects.toMatchObject({ code: 'unavailable' });
      await server.start();
      await expect.poll(() => handled).toContain('soon');
      await storage.schedule.wake('later');
      await expect.poll(() => handled).toContain('later');
    });

    test('the same replica does not repeat a run that ended during the outage, and its next run is stored', async () => {
      const storage = await openReplica(PATIENCE, 60_000);
      const handled: string[] = [];
      const run = hold();
      await storage.schedule.start(
        async (job) => {
          handled.push(job);
          return job === 'a' ? await run.until : undefined;
        },
        { concurrency: 4 },
      );
      await storage.schedule.wake('a');
      await expect.poll(() => handled).toEqual(['a']);
      await server.kill();
      run.end(Date.now() + 600_000);
      await expect(storage.check()).rejects.toMatchObject({ code: 'unavailable' });
      await server.start();
      await expect.poll(() => storage.check()).toBeUndefined();
      await storage.schedule.wake('b');
      await expect.poll(() => storage.schedule.unscheduled(['a', 'b'])).toEqual(['b']);
      expect(handled).toEqual(['a', 'b']);
    });

    test('a second handler does not start while the first is running, even if the outage outlasts the lease', async () => {
      const storage = await openReplica();
      const handled: string[] = [];
      const leases: RunLease[] = [];
      const run = hold();
      await storage.schedule.start(
        (job, _signal, lease) => {
          handled.push(job);
          leases.push(lease);
          return run.until;
        },
        { concurrency: 4 },
      );
      await storage.schedule.wake('a');
      await expect.poll(() => handled).toEqual(['a']);
      await server.kill();
      await expect.poll(() => leases[0]?.isHeld()).toBe(false);
      await server.start();
      // It got the job again with another lock.
      await expect.poll(() => leases[0]?.isHeld()).toBe(true);
      run.end(undefined);
      await expect.poll(() => storage.schedule.unscheduled(['a'])).toEqual(['a']);
      expect(handled).toEqual(['a']);
    });

    test('a Redis that hangs without closing the connection counts as an outage', async () => {
      const storage = await openReplica(PATIENCE);
      server.freeze();
      try {
        expect(await codesOf(storage)).toEqual(allOf(storage, 'StorageError unavailable'));
      } finally {
        server.thaw();
      }
      await expect.poll(() => storage.check()).toBeUndefined();
    });

    test.each(['killed', 'frozen'])(
      'many waiting calls cause no warnings in Node, %s or not',
      async (how) => {
        const replica = await startReplica(
          { kind: 'redis', url: server.url, prefix, leaseMs: LEASE },
          'wait',
        );
        try {
          await replica.waitForLine('ready');
          if (how === 'killed') await server.kill();
          else server.freeze();
          await replica.waitForLine('away');
          if (how === 'killed') await server.start();
          else server.thaw();
          await expect.poll(() => replica.lines.at(-1)).toMatch(/closed after/);
          expect(replica.lines).toEqual(['open', 'ready', 'away', 'closed after 0 warnings']);
        } finally {
          server.thaw();
          await replica.kill();
        }
      },
    );

    test('the storage can be closed but not opened', async () => {
      const storage = await openReplica(PATIENCE);
      await storage.schedule.start(async () => undefined, { concurrency: 4 });
      await server.kill();
      try {
        await storage.close();
        await expect(openReplica(PATIENCE, LEASE, 500)).rejects.toMatchObject({
          name: 'StorageError',
          code: 'unavailable',
        });
      } finally {
        await server.start();
      }
    });
  });

  test('an outage shorter than the patience has no effect', async () => {
    const storage = await openReplica();
    await storage.jobs.create(songJob({ id: 'before' }));
    await server.kill();
    const during = codesOf(storage);
    await server.start();
    expect(await during).toEqual(allOf(storage, 'worked'));
  });

  test('a write is repeated after a lost answer and succeeds', async () => {
    const storage = await openReplica();
    const created: boolean[] = [];
    const replaced: unknown[] = [];
    const redis = await connectRedis(server.url);
    // Breaks all connections during writes, some between their effect and the answer.
    for (let round = 0; round < 20; round += 1) {
      const id = `job${round}`;
      const creation = storage.jobs.create(songJob({ id }));
      const breaking = redis.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
      created.push(await creation);
      await breaking;
      const replacement = storage.jobs.replace(songJob({ id, state: 'submitting' }));
      await redis.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
      replaced.push((await replacement)?.version);
    }
    redis.destroy();
    expect(created).toEqual(Array.from({ length: 20 }, () => true));
    expect(replaced).toEqual(Array.from({ length: 20 }, () => 2));
  });

  test('an edit of settings is made once after a lost answer', async () => {
    const storage = await openReplica();
    const redis = await connectRedis(server.url);
    const rounds = 40;
    for (let round = 0; round < rounds; round += 1) {
      let breaking: Promise<unknown> | undefined;
      await storage.settings.update('edits', (edits) => {
        // Immediately after the next write.
        if (!breaking)
          setImmediate(() => {
            breaking ??= redis.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
          });
        return Number(edits ?? 0) + 1;
      });
      await breaking;
    }
    redis.destroy();
    expect(await storage.settings.get('edits')).toBe(rounds);
  });

  test('deletes callbacks of ended jobs after 30 days, but never those of open jobs', async () => {
    const storage = await openReplica();
    const redis = await connectRedis(server.url);
    const expiry = () =>
      Promise.all([redis.ttl(`${prefix}:inbox:a`), redis.ttl(`${prefix}:inbox-digests:a`)]);
    const days = 30 * 24 * 3_600;
    await storage.jobs.create(songJob({ id: 'a' }));
    await storage.receive({ job: 'a', body: 'first', receivedAt: 1 });
    expect(await expiry()).toEqual([-1, -1]);
    await storage.jobs.replace(songJob({ id: 'a', state: 'expired' }));
    expect(await expiry()).toEqual([days, days]);
    await storage.jobs.replace(songJob({ id: 'a', state: 'waiting', version: 2 }));
    expect(await expiry()).toEqual([-1, -1]);
    await storage.jobs.create(songJob({ id: 'b', state: 'delivered' }));
    await storage.receive({ job: 'b', body: 'late', receivedAt: 1 });
    expect(await redis.ttl(`${prefix}:inbox:b`)).toBe(days);
    redis.destroy();
  });

  describe('an unreadable record', () => {
    test('throws for its own job, is logged, and does not hide other jobs', async () => {
      const storage = await openReplica();
      for (const id of ['broken', 'fine']) await storage.jobs.create(songJob({ id }));
      const redis = await connectRedis(server.url);
      await redis.hSet(`${prefix}:job:broken`, 'record', '{"half');
      redis.destroy();
      await expect(storage.jobs.read('broken')).rejects.toMatchObject({
        name: 'StorageError',
        code: 'schema',
      });
      const running = await storage.jobs.running({ platform: 'discord', channel: 'channel' }, 'ada');
      expect(running.map(({ id }) => id)).toEqual(['fine']);
      expect(log.lines).toMatchObject([{ level: 'error', fields: { job: 'broken' } }]);
    });
  });

  describe('a Redis without free memory', () => {
    test('reports the storage as full, and recovers when there is memory', async () => {
      const storage = await openReplica();
      const redis = await connectRedis(server.url);
      await redis.configSet('maxmemory', '1mb');
      try {
        await expect(storage.jobs.create(songJob({ id: 'a' }))).rejects.toMatchObject({ code: 'full' });
        await expect(storage.check()).rejects.toMatchObject({ code: 'full' });
        await expect(storage.settings.set('key', 1)).rejects.toMatchObject({ code: 'full' });
      } finally {
        await redis.configSet('maxmemory', '0');
        redis.destroy();
      }
      expect(await storage.jobs.create(songJob({ id: 'a' }))).toBe(true);
    });

    test('is polled for due jobs with pauses, and runs them when there is memory', async () => {
      const storage = await openReplica();
      const ran = Promise.withResolvers<string>();
      const redis = await connectRedis(server.url);
      const scripts = async () => {
        const stats = await redis.sendCommand(['INFO', 'commandstats']);
        return Number(/cmdstat_evalsha:calls=(\d+)/.exec(String(stats))?.[1] ?? 0);
      };
      await storage.schedule.add('due', Date.now() + 300);
      await redis.configSet('maxmemory', '1mb');
      await storage.schedule.start(async (job) => void ran.resolve(job), { concurrency: 4 });
      try {
        const before = await scripts();
        const began = performance.now();
        await expect.poll(async () => (await scripts()) - before, { timeout: 60_000 }).toBeGreaterThan(4);
        expect(performance.now() - began).toBeGreaterThan(1_000);
      } finally {
        await redis.configSet('maxmemory', '0');
        redis.destroy();
      }
      expect(await ran.promise).toBe('due');
    });
  });

  test('warns at the start about a Redis that stores nothing on disk', async () => {
    const redis = await connectRedis(server.url);
    await redis.configSet('appendonly', 'no');
    try {
      await openReplica();
    } finally {
      await redis.configSet('appendonly', 'yes');
      redis.destroy();
    }
    expect(log.lines).toMatchObject([{ level: 'warn', sentence: expect.stringContaining('appendonly yes') }]);
  });
});
