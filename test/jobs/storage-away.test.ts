import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import { UserError } from '../../src/core/errors.ts';
import { systemClock } from '../../src/core/util/clock.ts';
import { musicCallbackRoutes, signCallback } from '../../src/http/music-callback.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { listen } from '../http/listener.ts';
import { noRedis, type RedisServer, startRedisServer } from '../servers/redis.ts';
import { NOTHING_DECIDED } from '../settings/samples.ts';
import { createAdvancing, createWorld, PICTURE, SONG, songCallback, type World } from './world.ts';

const SECRET = 'a secret for signatures in this test alone';

describe.runIf(noRedis === undefined)(noRedis ?? 'while Redis is away', () => {
  let world: World;
  let redis: RedisServer;
  let storage: Storage;
  let jobs: Jobs;

  beforeEach(async () => {
    world = await createWorld();
    redis = await startRedisServer();
    storage = await openRedisStorage({
      url: redis.url,
      clock: systemClock,
      random: Math.random,
      log: world.log,
      patienceMs: 2_000,
    });
    jobs = createJobs({ ...world.dependencies, storage, now: Date.now });
  });
  afterEach(async () => {
    await storage.close();
    await redis.dispose();
    await world[Symbol.asyncDispose]();
  });

  const ask = (id: string, request: StartRequest = SONG) =>
    jobs.start(
      request,
      {
        id,
        command: 'song',
        options: {},
        address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
        person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
      },
      NOTHING_DECIDED,
    );

  it('work is declined with a message, and never starts later', async () => {
    await redis.kill();
    const refused = ask('declined');
    await expect(refused).rejects.toBeInstanceOf(UserError);
    await expect(refused).rejects.toThrow('I may not be able to start this');

    await redis.start();
    await expect
      .poll(() =>
        storage.check().then(
          () => 'back',
          () => 'away',
        ),
      )
      .toBe('back');
    expect(await Array.fromAsync(storage.jobs.open())).toEqual([]);
    // The connections recover one by one, and work is declined until then.
    await expect
      .poll(() =>
        ask('taken').then(
          ({ type }) => type,
          () => 'declined',
        ),
      )
      .toBe('accepted');
    expect(await Array.fromAsync(storage.jobs.open())).toHaveLength(1);
  });

  it('a callback is rejected, so that the gateway repeats it', async () => {
    const outcome = await ask('song');
    if (outcome.type !== 'accepted') throw new TypeError('The work was not accepted');
    const { url } = await listen({
      routes: [
        musicCallbackRoutes({ measure: () => {}, secrets: [SECRET], log: world.log, receive: jobs.receive }),
      ],
    });
    const post = async () =>
      (
        await fetch(`${url}/callbacks/music/${outcome.job}/${signCallback(outcome.job, SECRET)}`, {
          method: 'POST',
          body: JSON.stringify(songCallback('complete')),
        })
      ).status;
    await redis.kill();
    expect(await post()).toBe(503);
    await redis.start();
    await expect.poll(post).toBe(200);
    expect(await storage.inbox.read(outcome.job, 0)).toHaveLength(1);
  });

  it('a response of the gateway is delivered once storage is back', async () => {
    const requested = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<'taken'>();
    world.gateway.replies.push(answered.promise);
    world.gateway.crash = (point) => {
      if (point === 'before media.image') requested.resolve();
    };
    const sleep = (milliseconds: number) => delay(milliseconds);
    const dependencies = { ...world.dependencies, storage, now: Date.now, sleep };
    const advance = createAdvancing(dependencies);
    await storage.schedule.start((job, signal, lease) => advance(job, { ...lease, signal }), {
      concurrency: 1,
    });
    const outcome = await ask('picture', { ...PICTURE, command: 'image' });
    if (outcome.type !== 'accepted') throw new TypeError('The work was not accepted');
    outcome.begin();
    await requested.promise;
    await redis.kill();
    answered.resolve('taken');
    await expect.poll(() => world.gateway.taken).toHaveLength(1);
    // Longer than one write may take.
    await delay(2_500);
    await redis.start();
    await expect
      .poll(() =>
        storage.jobs.read(outcome.job).then(
          (job) => job?.state,
          () => 'away',
        ),
      )
      .toBe('delivered');
    expect(world.message()?.media).toHaveLength(1);
    expect(world.gateway.taken).toHaveLength(1);
  });
});
