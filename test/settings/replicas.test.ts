import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/util/clock.ts';
import { createFeedback } from '../../src/settings/feedback.ts';
import type { MeteredJob } from '../../src/settings/limits/meter.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../servers/redis.ts';
import { ManualClock } from '../storage/manual-clock.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { usageDays } from '../storage/usage-days.ts';
import { rule } from './access/rules.ts';
import { type Administered, administer } from './administration.ts';
import { ADA, HERE, MOD } from './samples.ts';

const DAY = 24 * 3_600_000;

describe.runIf(noRedis === undefined)(noRedis ?? 'limits of three replicas on one Redis', () => {
  let server: RedisServer;
  let replicas: { storage: Storage; administered: Administered }[];
  let clock: ManualClock;
  let deployments = 0;
  let events = 0;

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.dispose());
  beforeEach(async () => {
    clock = new ManualClock();
    const prefix = `limits${++deployments}`;
    replicas = await Promise.all(
      [1, 2, 3].map(async () => {
        const storage = await openRedisStorage({
          ...PATIENT,
          url: server.url,
          prefix,
          clock: systemClock,
          random: Math.random,
          log: new RecordingLog(),
        });
        return { storage, administered: administer({ storage, clock }) };
      }),
    );
    await replica(0).administered.moderation(HERE, MOD).rules.set(rule('limit everyone all 10'), 'server');
  });
  afterEach(() => Promise.all(replicas.map(({ storage }) => storage.close())));

  function replica(index: number) {
    const found = replicas[index % 3];
    if (!found) throw new TypeError('There is no such replica');
    return found;
  }

  function request(): MeteredJob {
    return {
      invocation: `discord:event-${++events}`,
      address: HERE,
      person: ADA,
      work: {
        route: 'music.generate',
        request: { customMode: false, instrumental: false, model: 'V5', prompt: 'x' },
      },
      createdAt: clock.now(),
    };
  }

  /** Sends simultaneous requests to the replicas. Resolves to those that passed. */
  async function sendAtOnce(count: number): Promise<MeteredJob[]> {
    const outcomes = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const job = request();
        const passed = await replica(index)
          .administered.accept(job)
          .then(
            () => true,
            (error: Error) => {
              expect(error.message).toContain('10 jobs per person per day');
              return false;
            },
          );
        return passed ? [job] : [];
      }),
    );
    return outcomes.flat();
  }

  const used = async () => (await replica(1).administered.limitsInForce(HERE, ADA))[0]?.used;

  test('exactly ten of a hundred simultaneous requests pass', async () => {
    expect(await sendAtOnce(100)).toHaveLength(10);
    expect(await used()).toBe(10);
  });

  test('any replica can refund failed requests, any number of times', async () => {
    const passed = await sendAtOnce(100);
    const failed = passed.slice(0, 4);
    await Promise.all(
      [...failed, ...failed, ...failed].map((job, index) => replica(index).administered.meter.refund(job)),
    );
    await Promise.all(
      [...passed.slice(4), ...passed.slice(4)].map((job, index) =>
        replica(index).administered.meter.settle(job, 'yes'),
      ),
    );
    expect(await used()).toBe(6);
    expect(await sendAtOnce(100)).toHaveLength(4);
    const days = await usageDays(replica(2).storage.usage, { platform: 'discord', guild: 'guild' });
    expect(days).toMatchObject([{ person: 'ada', family: 'song', requests: 6 }]);
  });

  test('reservations of a dead replica count while their jobs are open', async () => {
    const passed = await sendAtOnce(100);
    await replica(0).storage.close();
    replicas = replicas.slice(1);
    await Promise.all(passed.slice(0, 3).map((job) => replica(1).administered.meter.settle(job, 'yes')));
    clock.advance(DAY - 1);
    await expect(replica(1).administered.accept(request())).rejects.toThrow('Limit reached');
    await Promise.all(passed.slice(3).map((job) => replica(1).administered.meter.refund(job)));
    expect(await used()).toBe(3);
  });

  test('ten are allowed again after a day', async () => {
    const passed = await sendAtOnce(20);
    await Promise.all(passed.map((job) => replica(0).administered.meter.settle(job, 'yes')));
    clock.advance(DAY - 1);
    expect(await sendAtOnce(20)).toHaveLength(0);
    clock.advance(1);
    expect(await sendAtOnce(100)).toHaveLength(10);
  });

  test('votes on several replicas at the same moment all count, one per person and answer', async () => {
    const stores = replicas.map(({ storage }) => createFeedback(storage));
    const vote = { model: 'chat-small', day: '2026-11-22', judgement: 'good' as const };
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        stores[n % 3]?.vote(HERE, { ...vote, job: `job${n % 2}`, person: `person${n % 10}` }),
      ),
    );
    expect(await stores[0]?.summary(HERE, '2026-11-22', 1)).toEqual([
      { model: 'chat-small', good: 10, bad: 0 },
    ]);
    await stores[1]?.vote(HERE, { ...vote, job: 'job0', person: 'person0', judgement: 'bad' });
    expect(await stores[2]?.summary(HERE, '2026-11-22', 1)).toEqual([
      { model: 'chat-small', good: 9, bad: 1 },
    ]);
    await stores[2]?.forget(HERE.platform, 'person0');
    expect(await stores[0]?.summary(HERE, '2026-11-22', 1)).toEqual([
      { model: 'chat-small', good: 9, bad: 0 },
    ]);
  });
});
