import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/util/clock.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import type { RunLease } from '../../../src/storage/schedule.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { connectRedis, noRedis, PATIENT, type RedisServer, startRedisServer } from '../../servers/redis.ts';
import { songJob } from '../jobs.ts';
import { RecordingLog } from '../recording-log.ts';
import { EVENTS, startReplica } from './replica-process.ts';

const LEASE = 1_500;

/** A proxy before Redis that reports each reply before forwarding it. */
async function openFront(
  url: string,
  onReply: (text: string) => void,
): Promise<AsyncDisposable & { url: string }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const front = createServer((client) => {
    const redis = connect(Number(port), hostname);
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    redis.on('data', (data) => onReply(data.toString()));
    client.pipe(redis).pipe(client);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const address = front.address();
  if (address === null || typeof address === 'string') throw new TypeError('It has no port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      front.close();
      await once(front, 'close');
    },
  };
}

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

  async function openReplica(leaseMs = LEASE, clock = systemClock, url = server.url): Promise<Storage> {
    const storage = await openRedisStorage({
      ...PATIENT,
      url,
      prefix,
      leaseMs,
      clock,
      random: Math.random,
      log,
    });
    opened.push(storage);
    return storage;
  }

  describe('with several replicas', () => {
    test('each scheduled job runs in one replica, never twice at the same time', async () => {
      const replicas = await Promise.all([openReplica(), openReplica(), openReplica()]);
      const jobs = Array.from({ length: 40 }, (_, index) => `job${index}`);
      const running = new Set<string>();
      const handled: string[] = [];
      let collisions = 0;
      for (const replica of replicas) {
        await replica.schedule.start(
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
      await Promise.all(jobs.flatMap((job) => replicas.map((replica) => replica.schedule.wake(job))));
      await expect.poll(() => new Set(handled).size).toBe(jobs.length);
      expect(collisions).toBe(0);
      // Simultaneous wakes cause one run, and one more if they arrive during it.
      expect(handled.length).toBeLessThanOrEqual(jobs.length * replicas.length);
    });

    test('no wake is lost, whichever replica wakes or runs the job', async () => {
      // No lease expires during this test.
      const replicas = await Promise.all([openReplica(60_000), openReplica(60_000), openReplica(60_000)]);
      const woken = new Map<string, number>();
      const handled = new Map<string, number>();
      const running = new Set<string>();
      let collisions = 0;
      let moment = 0;
      for (const replica of replicas) {
        await replica.schedule.start(
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
      const waker = async (number: number) => {
        for (let wake = 0; wake < 60; wake += 1) {
          const job = `job${(wake * 7 + number) % 10}`;
          moment += 1;
          woken.set(job, moment);
          await replicas[(wake + number) % 3]?.schedule.wake(job);
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, number) => waker(number)));
      await expect.poll(() => [...woken].filter(([job, at]) => (handled.get(job) ?? 0) < at)).toEqual([]);
      expect(collisions).toBe(0);
    });

    test('the runs of a killed replica are taken over shortly after its lease', async () => {
      const living = await openReplica();
      const killedReplica = await startReplica(
        { kind: 'redis', url: server.url, prefix, leaseMs: LEASE },
        'hang',
      );
      // As many as it runs at once, so that it cannot take another job.
      const jobs = ['a', 'b', 'c', 'd'];
      for (const job of jobs) await living.schedule.wake(job);
      for (const job of jobs) await killedReplica.waitForLine(`running ${job}`);

      const handled: string[] = [];
      await living.schedule.start(
        async (job) => {
          handled.push(job);
          return undefined;
        },
        { concurrency: 4 },
      );
      await living.schedule.wake('a');
      // The replica to be killed keeps its jobs until then, longer than a lease.
      await living.schedule.add('late', Date.now() + 2 * LEASE);
      await expect.poll(() => handled).toEqual(['late']);
      await killedReplica.kill();
      await expect.poll(() => handled.slice(1).sort()).toEqual(jobs);
    });

    test('a run loses its lease if its replica is suspended for longer, until it is renewed', async () => {
      let suspendedMs = 0;
      const elapsed = () => systemClock.elapsed() + suspendedMs;
      const replica = await openReplica(LEASE, { ...systemClock, elapsed });
      const leases: RunLease[] = [];
      let end = () => {};
      const over = new Promise<undefined>((resolve) => {
        end = () => resolve(undefined);
      });
      await replica.schedule.start(
        (_job, _signal, lease) => {
          leases.push(lease);
          return over;
        },
        { concurrency: 4 },
      );
      await replica.schedule.wake('a');
      await expect.poll(() => leases.map(({ isHeld }) => isHeld())).toEqual([true]);
      suspendedMs += LEASE;
      expect(leases[0]?.isHeld()).toBe(false);
      await expect.poll(() => leases[0]?.isHeld()).toBe(true);
      end();
    });

    test.each([
      ['alone', false],
      ['with the end of another one', true],
    ])(
      'a run loses its lease if its replica is suspended when the timer arrives: %s',
      async (_how, isAfterAnother) => {
        let suspendedMs = 0;
        const elapsed = () => systemClock.elapsed() + suspendedMs;
        const now = () => systemClock.now() + suspendedMs;
        await using front = await openFront(server.url, (reply) => {
          // Redis sends the timer, and the process is suspended before it reads the reply.
          if (/\r\na\r\n/.test(reply) && reply.includes('processedOn')) suspendedMs += LEASE;
        });
        const replica = await openReplica(LEASE, { ...systemClock, elapsed, now }, front.url);
        const held: boolean[] = [];
        await replica.schedule.start(
          async (job, _signal, { isHeld }) => {
            if (job === 'a') held.push(isHeld());
            else await replica.schedule.wake('a');
            return undefined;
          },
          { concurrency: 1 },
        );
        await replica.schedule.wake(isAfterAnother ? 'before' : 'a');
        await expect.poll(() => held).toEqual([false]);
        await replica.close();
      },
    );

    test('one of a thousand creations of the same invocation in all replicas wins', async () => {
      const replicas = await Promise.all([openReplica(), openReplica()]);
      const won = await Promise.all(
        Array.from({ length: 1_000 }, (_, index) =>
          replicas[index % 2]?.jobs.create(songJob({ id: `job${index}`, invocation: 'same' })),
        ),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    test('an event that reaches two processes at once becomes one job, counted once and not refunded', async () => {
      const storage = await openReplica();
      const location = { kind: 'redis', url: server.url, prefix, leaseMs: LEASE } as const;
      const replicas = await Promise.all([
        startReplica(location, 'accept'),
        startReplica(location, 'accept'),
      ]);
      for (const replica of replicas) await replica.waitForLine('open');
      await storage.settings.set('go', true);
      for (const replica of replicas) await replica.waitForLine('done');
      const output = replicas.flatMap(({ lines }) => lines);
      for (let event = 0; event < EVENTS; event += 1) {
        expect(output.filter((line) => line.endsWith(` ${event}`)).sort()).toEqual([
          `accepted ${event}`,
          `known ${event}`,
        ]);
        expect(await storage.usage.used(`counter${event}`, 0)).toEqual({ requests: 1, units: 0 });
      }
      for (const replica of replicas) await replica.kill();
    });

    test('all replicas get the same secret', async () => {
      const replicas = await Promise.all([openReplica(), openReplica(), openReplica()]);
      const secrets = await Promise.all(
        replicas.map((replica, n) => replica.secret('s', () => `made by ${n}`)),
      );
      expect(new Set(secrets).size).toBe(1);
    });
  });

  test('a job that is no longer scheduled leaves no data in Redis', async () => {
    const storage = await openReplica();
    await storage.schedule.start(async () => undefined, { concurrency: 4 });
    const redis = await connectRedis(server.url);
    await storage.schedule.wake('a');
    const queue = ['events', 'id', 'marker', 'meta', 'stalled-check'].map(
      (key) => `${prefix}:schedule:${key}`,
    );
    await expect
      .poll(async () => (await redis.keys(`${prefix}:schedule:*`)).filter((key) => !queue.includes(key)))
      .toEqual([]);
    redis.destroy();
  });
});
