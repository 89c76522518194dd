import { createClient } from '@keyv/redis';
import { expect, onTestFinished, test } from 'vitest';
import { openRedisStorage } from '../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../src/storage/schedule.ts';
import { noRedis, PATIENT, startRedisServer } from '../../servers/redis.ts';
import { songJob } from '../jobs.ts';
import { RecordingLog } from '../recording-log.ts';

test.runIf(noRedis === undefined)(
  'callbacks of the same moment share one script, and one that fails does not take the others with it',
  async () => {
    const server = await startRedisServer();
    onTestFinished(() => server.dispose());
    const client = createClient({ url: server.url });
    await client.connect();
    onTestFinished(() => client.destroy());
    const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
    const storage = await openRedisStorage({ ...PATIENT, ...tools, url: server.url, prefix: 'test' });
    onTestFinished(() => storage.close());
    const jobs = ['a', 'b', 'c'];
    for (const id of jobs) {
      await storage.jobs.create(songJob({ id }));
      await storage.schedule.wake(id, systemClock.now() + 3_600_000);
    }
    const receive = (body: string) =>
      Promise.allSettled(jobs.map((job) => storage.receive({ job, body, receivedAt: 1 })));

    await client.sendCommand(['CONFIG', 'RESETSTAT']);
    await receive('first');
    expect(await client.info('commandstats')).toMatch(/cmdstat_evalsha:calls=1,/);

    await client.set('test:inbox:b', 'no list');
    expect((await receive('second')).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    for (const job of ['a', 'c']) {
      const entries = await storage.inbox.read(job, 0);
      expect(entries.map(({ body }) => body)).toEqual(['first', 'second']);
    }
  },
);
