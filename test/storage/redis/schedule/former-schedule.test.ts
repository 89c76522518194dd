import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openRedisStorage } from '../../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../../src/storage/schedule.ts';
import type { Storage } from '../../../../src/storage/storage.ts';
import {
  connectRedis,
  noRedis,
  PATIENT,
  type RedisServer,
  startRedisServer,
} from '../../../servers/redis.ts';
import { oneSong, songJob } from '../../jobs.ts';
import { RecordingLog } from '../../recording-log.ts';

const MINUTE = 60_000;
const PREFIX = 'former';

describe.runIf(noRedis === undefined)(noRedis ?? 'a Redis of version 0.1', () => {
  let server: RedisServer;
  let log: RecordingLog;
  const opened: Storage[] = [];

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.dispose());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()));
    const redis = await connectRedis(server.url);
    await redis.flushAll();
    redis.destroy();
  });

  async function open(): Promise<Storage> {
    log = new RecordingLog();
    const tools = { clock: systemClock, random: Math.random, log };
    const storage = await openRedisStorage({
      ...tools,
      ...PATIENT,
      url: server.url,
      prefix: PREFIX,
      leaseMs: 1_500,
    });
    opened.push(storage);
    return storage;
  }

  /** What version 0.1 leaves: times, jobs that ran, and a BullMQ job for each of them. */
  async function writeFormer(times: Record<string, number>, ran: readonly string[]): Promise<void> {
    const redis = await connectRedis(server.url);
    const queue = `${PREFIX}:wake-ups`;
    await redis.hSet(`${queue}:meta`, { 'opts.maxLenEvents': '100', version: 'bullmq:6.7.0' });
    await redis.set(`${queue}:id`, '7');
    for (const [job, at] of Object.entries(times)) {
      await redis.zAdd(`${PREFIX}:wishes`, { score: at, value: job });
      await redis.zAdd(`${queue}:delayed`, { score: at * 4096, value: `job-${job}` });
      await redis.zAdd(`${queue}:marker`, { score: at, value: '1' });
    }
    for (const job of ran) {
      await redis.hSet(`${PREFIX}:handling`, job, 'the lock of a dead replica');
      await redis.lPush(`${queue}:active`, `job-${job}`);
    }
    for (const job of [...Object.keys(times), ...ran]) {
      await redis.hSet(`${queue}:job-${job}`, {
        name: 'wake-ups',
        data: JSON.stringify({ job }),
        opts: '{"attempts":0,"delay":1,"jobId":"job","removeOnComplete":true,"removeOnFail":true}',
        timestamp: '1',
        delay: '1',
        priority: '0',
      });
    }
    await redis.hSet(`${PREFIX}:handler-failures`, 'due', '3');
    redis.destroy();
  }

  test('is opened: its jobs run at their times, by one of the replicas that open it at once', async () => {
    const former = await open();
    const ids = ['due', 'soon', 'late', 'ran'];
    for (const id of ids) await former.jobs.create(songJob({ id }));
    await former.close();
    const soon = Date.now() + 1_500;
    await writeFormer({ due: Date.now() - MINUTE, soon, late: Date.now() + 10 * MINUTE }, ['ran']);

    const replicas = await Promise.all([open(), open()]);
    const runs: { job: string; at: number }[] = [];
    for (const { schedule } of replicas) {
      await schedule.start(
        async (job) => {
          runs.push({ job, at: Date.now() });
          return undefined;
        },
        { concurrency: 4 },
      );
    }
    await expect.poll(() => runs.map(({ job }) => job).sort()).toEqual(['due', 'ran', 'soon']);
    expect(runs.find(({ job }) => job === 'soon')?.at).toBeGreaterThanOrEqual(soon - 1);
    expect(await replicas[0]?.schedule.unscheduled(ids)).toEqual(['due', 'soon', 'ran']);
  });

  test('keeps nothing of the former schedule', async () => {
    await writeFormer({ a: Date.now() + MINUTE }, ['b']);
    await open();
    const redis = await connectRedis(server.url);
    const names = ['wishes', 'handling', 'handler-failures', 'wake-ups:*'];
    const left = await Promise.all(names.map((name) => redis.keys(`${PREFIX}:${name}`)));
    expect(left.flat()).toEqual([]);
    redis.destroy();
  });

  test('lists its songs by server, too, once', async () => {
    const former = await open();
    const address = { platform: 'discord', guild: 'guild', channel: 'a: b', person: 'ada' };
    const songs = [
      songJob({ id: 'old', createdAt: 1_000, state: 'delivered', result: oneSong('old'), address }),
      songJob({ id: 'new', createdAt: 2_000, state: 'delivered', result: oneSong('new') }),
      songJob({
        id: 'alone',
        state: 'delivered',
        result: oneSong('alone'),
        address: { platform: 'discord', channel: 'alone', person: 'ada' },
      }),
    ];
    for (const song of songs) await former.jobs.create(song);
    await former.close();
    const redis = await connectRedis(server.url);
    const made = await redis.keys(`${PREFIX}:server-songs*`);
    expect(made).toHaveLength(2);
    await redis.del(made);
    for (const { id } of songs) await redis.hDel(`${PREFIX}:job:${id}`, 'server songs');

    const [{ jobs } = former] = await Promise.all([open(), open()]);
    const ids = async () =>
      (await jobs.recentServerSongs({ platform: 'discord', guild: 'guild' }, 9)).map(({ id }) => id);
    expect(await ids()).toEqual(['new', 'old']);
    await jobs.erase('new');
    expect(await redis.zRange(`${PREFIX}:server-songs:discord:guild`, 0, -1)).toEqual(['old']);
    redis.destroy();
  });

  test('that a former replica writes again is carried over by the next start', async () => {
    await writeFormer({ a: Date.now() + MINUTE }, []);
    const storage = await open();
    await writeFormer({ b: Date.now() + MINUTE }, []);
    expect(await storage.schedule.unscheduled(['a', 'b'])).toEqual(['b']);
    await open();
    expect(await storage.schedule.unscheduled(['a', 'b'])).toEqual([]);
  });
});
