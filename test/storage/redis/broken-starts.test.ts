import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisStorage } from '../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../src/storage/schedule.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { freePort } from '../../servers/free-port.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../../servers/redis.ts';
import { RecordingLog } from '../recording-log.ts';

/** How long Redis cannot be reached after the cut, in milliseconds. */
const AWAY_MS = 100;

describe.runIf(noRedis === undefined)(noRedis ?? 'a start whose connection to Redis breaks', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.dispose());

  /** Passes on what is sent to Redis, and breaks every connection once, at the chunk of this number, counted from {@link arm}. */
  async function proxy() {
    let cutAt = Number.POSITIVE_INFINITY;
    let chunks = 0;
    let isAway = false;
    const sockets = new Set<Socket>();
    const cut = () => {
      isAway = true;
      for (const socket of sockets) socket.destroy();
      setTimeout(() => {
        isAway = false;
      }, AWAY_MS);
    };
    const server = createServer((client) => {
      client.on('error', () => {});
      if (isAway) return void client.destroy();
      const upstream = connect(Number(new URL(redis.url).port), '127.0.0.1');
      upstream.on('error', () => {});
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(one);
        one.on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      }
      client.on('data', (data) => {
        chunks += 1;
        if (chunks === cutAt) cut();
        else upstream.write(data);
      });
      upstream.on('data', (data) => client.write(data));
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return {
      url: `redis://127.0.0.1:${port}/0`,
      arm(at: number) {
        chunks = 0;
        cutAt = at;
      },
      hasCut: () => chunks >= cutAt,
      async [Symbol.asyncDispose]() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  const open = (url: string, prefix: string) => {
    const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
    return openRedisStorage({ ...tools, ...PATIENT, url, prefix });
  };

  async function runsJobs({ schedule }: Storage): Promise<void> {
    const { promise: ran, resolve } = Promise.withResolvers<string>();
    const handler = async (job: string) => void resolve(job);
    await schedule.start(handler, { concurrency: 1 });
    await schedule.wake('a-job', Date.now());
    expect(await ran).toBe('a-job');
  }

  it.each([2, 3, 4, 5, 6])('at the %i. thing that it sends runs jobs all the same', async (cutAt) => {
    await using through = await proxy();
    through.arm(cutAt);
    const storage = await open(through.url, `cut-${cutAt}`);
    try {
      expect(through.hasCut()).toBe(true);
      await runsJobs(storage);
    } finally {
      await storage.close();
    }
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'at the %i. thing that the schedule sends runs jobs all the same',
    async (cutAt) => {
      await using through = await proxy();
      const storage = await open(through.url, `schedule-cut-${cutAt}`);
      through.arm(cutAt);
      try {
        await runsJobs(storage);
        expect(through.hasCut()).toBe(true);
      } finally {
        await storage.close();
      }
    },
  );
});
