import { describe, expect, test } from 'vitest';
import { createLossWatch } from '../../../src/jobs/runner/lost.ts';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { openRedisStorage } from '../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../src/storage/schedule.ts';
import { StorageError } from '../../../src/storage/storage.ts';
import { connectRedis, noRedis, startRedisServer } from '../../servers/redis.ts';
import { RecordingLog } from '../../storage/recording-log.ts';
import { createWorld, SONG, type World } from '../world.ts';

const SWEEP_MS = 11 * 60_000;

describe.runIf(noRedis === undefined)(noRedis ?? 'a Redis that was emptied', () => {
  test('ends what people see with a sentence; what they forgot themselves is left alone', async () => {
    await using cleanup = new AsyncDisposableStack();
    const server = await startRedisServer();
    cleanup.defer(() => server.dispose());
    const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
    const opened = await openRedisStorage({ url: server.url, ...tools });
    let checks = 0;
    const secret: typeof opened.secret = (name, make) => {
      checks += 1;
      return opened.secret(name, make);
    };
    const storage = { ...opened, secret };
    const world = await createWorld(undefined, storage);
    cleanup.use(world);
    const redis = await connectRedis(server.url);
    cleanup.defer(() => redis.destroy());
    await world.jobs.run(world.dependencies.invoke);
    cleanup.defer(() => world.jobs.stop());

    const run = async () => {
      const id = await world.start(SONG);
      await storage.schedule.wake(id, 1);
      await expect.poll(async () => (await storage.jobs.read(id))?.state).toBe('waiting');
      return id;
    };
    /** The one before it has ended, and waits for its time. */
    const sweep = async () => {
      await expect.poll(() => world.clock.timers).toBeGreaterThan(0);
      const before = checks;
      world.clock.advance(SWEEP_MS);
      await expect.poll(() => checks).toBe(before + 1);
    };
    const forgotten = await run();
    await storage.jobs.erase(forgotten);
    // The run that showed it may end only now.
    await sweep();
    await sweep();
    await run();

    await redis.flushAll();
    await sweep();
    const told = () =>
      [...world.platform.shown.values()].map(({ text = '' }) => text.includes('was deleted'));
    await expect.poll(told).toEqual([false, true]);
  });

  test('tells each person once in private where the channel is gone, however many replicas saw their work', async () => {
    await using cleanup = new AsyncDisposableStack();
    const server = await startRedisServer();
    cleanup.defer(() => server.dispose());
    const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
    const world = await createWorld(undefined, await openRedisStorage({ url: server.url, ...tools }));
    cleanup.use(world);
    const { replicas, empty } = await watchedBy(2, world);
    const redis = await connectRedis(server.url);
    cleanup.defer(() => redis.destroy());
    await redis.flushAll();
    empty();
    world.platform.failures.push(new PlatformError('gone', 'deleted'), new PlatformError('gone', 'deleted'));
    for (const check of [...replicas, ...replicas]) await check();
    expect(world.platform.privateMessages).toMatchObject([{ text: expect.stringContaining('was deleted') }]);
    expect(world.platform.history).toEqual([]);
  });
});

/** Replicas that saw a job of a storage which is emptied then. */
async function watchedBy(count: number, world: World) {
  const job = await world.read(await world.start(SONG));
  const { signal } = new AbortController();
  const { storage } = world.dependencies;
  let epoch = 'first';
  const secret = async () => epoch;
  const jobs: typeof storage.jobs = {
    ...storage.jobs,
    async *open() {
      if (epoch === 'first') yield job.id;
    },
  };
  const dependencies = { ...world.dependencies, storage: { ...storage, secret, jobs } };
  const replicas = await Promise.all(
    Array.from({ length: count }, async () => {
      const watch = createLossWatch(dependencies);
      watch.saw(job);
      await watch.check(signal);
      return () => watch.check(signal);
    }),
  );
  return {
    replicas,
    empty: () => {
      epoch = 'second';
    },
  };
}

test('a person whom the chat lets nobody tell now is told at a later look, once', async () => {
  await using world = await createWorld();
  const { replicas, empty } = await watchedBy(1, world);
  const [check] = replicas;
  empty();
  const away = () => new PlatformError('unavailable', 'away');
  world.platform.failures.push(away(), away());
  await check?.();
  await check?.();
  expect(world.platform.history).toEqual([]);
  await check?.();
  expect(world.message()?.text).toContain('was deleted');
  await check?.();
  expect(world.platform.history).toHaveLength(1);
});

test('a Redis that was emptied and goes away in the middle of the look is looked at again', async () => {
  await using world = await createWorld();
  const job = await world.read(await world.start(SONG));
  const { storage } = world.dependencies;
  let epoch = 'first';
  let isAway = false;
  const watch = createLossWatch({
    ...world.dependencies,
    storage: {
      ...storage,
      secret: async () => epoch,
      jobs: {
        ...storage.jobs,
        async *open() {
          if (isAway) throw new StorageError('unavailable', 'away');
          if (epoch === 'first') yield job.id;
        },
      },
    },
  });
  const { signal } = new AbortController();
  watch.saw(job);
  await watch.check(signal);
  [epoch, isAway] = ['second', true];
  await expect(watch.check(signal)).rejects.toThrow('away');
  isAway = false;
  await watch.check(signal);
  expect(world.message()?.text).toContain('was deleted');
  await watch.check(signal);
  expect(world.platform.history).toHaveLength(1);
});
