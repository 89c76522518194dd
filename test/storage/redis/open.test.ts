import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock } from '../../../src/core/util/clock.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import { storageContract } from '../../contracts/storage.ts';
import { connectRedis, noRedis, PATIENT, type RedisServer, startRedisServer } from '../../servers/redis.ts';
import { RecordingLog } from '../recording-log.ts';
import { startReplica } from './replica-process.ts';

describe.runIf(noRedis === undefined)(noRedis ?? 'on a separate Redis', () => {
  let server: RedisServer;
  let deployments = 0;

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.dispose());

  storageContract('Redis', async () => {
    deployments += 1;
    const location = { url: server.url, prefix: `test${deployments}`, leaseMs: 1_500 };
    const log = new RecordingLog();
    return {
      log,
      open: () =>
        openRedisStorage({
          ...PATIENT,
          ...location,
          clock: systemClock,
          random: Math.random,
          log,
        }),
      startReplica: () => startReplica({ kind: 'redis', ...location }, 'hang'),
      async damageSetting(key, text) {
        const client = await connectRedis(server.url);
        for (const name of await client.keys(`${location.prefix}:*${key}`)) await client.set(name, text);
        client.destroy();
      },
      dispose: async () => {},
    };
  });
});
