import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/util/clock.ts';
import type { JobDependencies } from '../../../src/jobs/dependencies.ts';
import { createJobs } from '../../../src/jobs/jobs.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { gatewayAt } from '../../gateway/support.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../../servers/redis.ts';
import { NOTHING_DECIDED } from '../../settings/samples.ts';
import { RecordingLog } from '../../storage/recording-log.ts';
import { advanceOnce, createWorld, QUESTION, type World } from '../world.ts';
import { chatEvent, events, startUpstream, type Upstream } from './upstream.ts';

/** Tests two replicas on one Redis: one writes an answer, the other receives the request to stop it. */
describe.runIf(noRedis === undefined)(noRedis ?? 'Stop, pressed where another replica answers', () => {
  let redis: RedisServer;
  let world: World;
  let upstream: Upstream;
  let storages: Storage[];

  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.dispose());

  beforeEach(async () => {
    world = await createWorld();
    upstream = await startUpstream();
    const open = () =>
      openRedisStorage({
        ...PATIENT,
        url: redis.url,
        clock: systemClock,
        random: Math.random,
        log: new RecordingLog(),
      });
    storages = [await open(), await open()];
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
    await upstream[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  function replica(storage: Storage): JobDependencies {
    const { gateway } = gatewayAt(upstream.url);
    return { ...world.dependencies, storage, gateway, now: Date.now };
  }

  it('aborts the request by notification, and keeps the text shown', async () => {
    // The clock that triggers reads of the record does not move here, so only the notification can abort.
    const [answering, pressed] = storages.map(replica);
    if (!answering || !pressed) throw new TypeError('Two replicas are needed');
    upstream.next(
      '/chat/completions',
      (response) => void events(response).write(chatEvent('I was about to say')),
    );
    const outcome = await createJobs(pressed).start(
      QUESTION,
      {
        id: 'event',
        command: 'ask',
        options: {},
        address: { platform: 'discord', channel: 'channel', person: 'ada' },
        person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
      },
      NOTHING_DECIDED,
    );
    if (outcome.type !== 'accepted') throw new TypeError('The question was not accepted');
    const answered = advanceOnce(answering, outcome.job);
    await expect.poll(() => world.platform.history.at(-1)?.text).toBe('I was about to say');

    await createJobs(pressed).cancel(outcome.job, 'ada');
    await expect.poll(() => upstream.abandoned).toBe(1);
    await answered;
    expect(world.message()?.footer).toContain('Stopped');
    expect(world.message()?.text).toBe('I was about to say');
  });
});
