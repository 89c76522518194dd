import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/util/clock.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import { connectRedis, noRedis, PATIENT, startRedisServer } from '../../servers/redis.ts';
import { songJob } from '../jobs.ts';
import { RecordingLog } from '../recording-log.ts';

test.skipIf(noRedis)("a person's open jobs are read alone, however many are open", async () => {
  await using server = { ...(await startRedisServer()), [Symbol.asyncDispose]: () => server.dispose() };
  const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
  const storage = await openRedisStorage({ ...PATIENT, ...tools, url: server.url });
  const person = (id: string) => ({ id, displayName: id, moderator: false, roles: [] });
  const jobs = Array.from({ length: 300 }, (_, index) =>
    songJob({ id: `job${index}`, person: person(`person${index % 100}`) }),
  );
  await Promise.all(jobs.map((job) => storage.jobs.create(job)));
  const redis = await connectRedis(server.url);
  await redis.configResetStat();
  expect(await storage.jobs.running({ platform: 'discord' }, 'person7')).toHaveLength(3);
  const text = await redis.info('commandstats');
  expect([...text.matchAll(/^cmdstat_hm?get:calls=(\d+)/gm)].map(([, calls]) => calls)).toEqual(['3']);
  redis.destroy();
  await storage.close();
});
