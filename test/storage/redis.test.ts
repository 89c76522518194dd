import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock } from '../../src/storage/clock.ts';
import { openRedisStorage } from '../../src/storage/redis.ts';
import { storageContract } from '../contracts/storage.ts';
import { RecordingLog } from './recording-log.ts';
import { noRedis, type RedisServer, startRedisServer } from './redis-server.ts';

describe.runIf(noRedis === undefined)(noRedis ?? 'on a Redis of its own', () => {
  let server: RedisServer;
  let deployments = 0;

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.dispose());

  storageContract('Redis', async () => {
    deployments += 1;
    const place = { url: server.url, prefix: `test${deployments}`, leaseMs: 1_500 };
    return {
      open: () =>
        openRedisStorage({ ...place, clock: systemClock, random: Math.random, log: new RecordingLog() }),
      place: { kind: 'redis', ...place },
      dispose: async () => {},
    };
  });
});
