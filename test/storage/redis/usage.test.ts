import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/util/clock.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import type { Reservation } from '../../../src/storage/usage.ts';
import { connectRedis, noRedis, type RedisServer, startRedisServer } from '../../servers/redis.ts';
import { RecordingLog } from '../recording-log.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.parse('2026-03-10T12:00:00Z');

/** The retention of usage in Redis, as documented in docs/privacy.md. */
describe.runIf(noRedis === undefined)(noRedis ?? 'usage in Redis', () => {
  let server: RedisServer;
  let deployments = 0;

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.dispose());

  async function open() {
    const prefix = `usage${++deployments}`;
    const redis = await connectRedis(server.url);
    const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
    const storage = await openRedisStorage({ url: server.url, prefix, ...tools });
    return {
      redis,
      prefix,
      usage: storage.usage,
      async [Symbol.asyncDispose]() {
        redis.destroy();
        await storage.close();
      },
    };
  }

  const used = (id: string, at: number, person = 'ada'): Reservation => ({
    id,
    at,
    units: 0,
    counters: ['server'],
    facts: { platform: 'discord', guild: 'guild', person, displayName: person, family: 'song' },
  });

  test('a counter without limits only stores the last day', async () => {
    await using opened = await open();
    for (let hour = 0; hour < 60; hour += 1)
      await opened.usage.settle(used(`event${hour}`, NOON + hour * HOUR), 'yes');
    expect(await opened.redis.zCard(`${opened.prefix}:usage:count:server`)).toBe(24);
  });

  test('pruning a day leaves no data', async () => {
    await using opened = await open();
    await opened.usage.settle(used('one', NOON, 'ada'), 'yes');
    await opened.usage.prune('2026-03-11', NOON + DAY);
    const left = (await opened.redis.keys(`${opened.prefix}:usage:*`)).filter(
      (key) => !/:(entry|count):/.test(key),
    );
    expect(left).toEqual([]);
  });
});
