import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PartLeases, Renewal, Replicas } from '../../../src/core/replicas.ts';
import { openRedisStorage } from '../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../src/storage/schedule.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../../servers/redis.ts';
import { RecordingLog } from '../recording-log.ts';

const LEASE = 60_000;
const SOON = 120;

describe.runIf(noRedis === undefined)(noRedis ?? 'what replicas share in Redis', () => {
  let server: RedisServer;
  let storage: Storage;
  let brief: Storage;
  let replicas: Replicas;
  /** With leases that end within the test. */
  let hasty: Replicas;
  let task: string;
  let tasks = 0;

  async function open(leaseMs: number): Promise<Storage & { readonly replicas: Replicas }> {
    const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
    const { replicas: shared, ...others } = await openRedisStorage({
      ...PATIENT,
      ...tools,
      url: server.url,
      leaseMs,
    });
    if (!shared) throw new TypeError('Redis is shared');
    return { ...others, replicas: shared };
  }

  beforeAll(async () => {
    server = await startRedisServer();
    const opened = await Promise.all([open(LEASE), open(SOON)]);
    [storage, brief] = opened;
    [{ replicas }, { replicas: hasty }] = opened;
  });
  afterAll(async () => {
    await Promise.all([storage.close(), brief.close()]);
    await server.dispose();
  });
  beforeEach(() => {
    tasks += 1;
    task = `task ${tasks}`;
  });

  const renew = (replica: string, more: Partial<Renewal> = {}, by = replicas): Promise<PartLeases> =>
    by.renew(task, { replica, parts: 7, released: [], notes: new Map(), ...more });
  const held = ({ held: parts }: PartLeases) => [...parts.keys()].sort((one, other) => one - other);

  describe('parts of a task', () => {
    test('one replica holds all of them; with a second and a third, each holds its share', async () => {
      expect(held(await renew('a'))).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(await renew('b')).toEqual({ parts: 7, replicas: 2, held: new Map(), excess: [] });
      const { excess } = await renew('a');
      expect(excess).toEqual([6, 5, 4]);
      await renew('a', { released: excess });
      expect(held(await renew('b'))).toEqual([4, 5, 6]);
      // 3, 2 and 2: the replica that held most keeps the third.
      await renew('c');
      const [a, b] = [await renew('a'), await renew('b')];
      expect([a.excess, b.excess]).toEqual([[3], [6]]);
      await renew('a', { released: a.excess });
      await renew('b', { released: b.excess });
      expect(held(await renew('c'))).toEqual([3, 6]);
      expect([held(await renew('a')), held(await renew('b'))]).toEqual([
        [0, 1, 2],
        [4, 5],
      ]);
    });

    test('no part has two holders, however many ask at once', async () => {
      const names = Array.from({ length: 12 }, (_, index) => `r${index}`);
      const give: Record<string, readonly number[]> = {};
      for (let round = 0; round < 4; round += 1) {
        const answers = await Promise.all(
          names.map((name) => renew(name, { parts: 32, released: give[name] ?? [] })),
        );
        names.forEach((name, index) => {
          give[name] = answers[index]?.excess ?? [];
        });
      }
      const answers = await Promise.all(names.map((name) => renew(name)));
      expect(answers.flatMap(held).sort((one, other) => one - other)).toEqual(
        Array.from({ length: 32 }, (_, part) => part),
      );
      expect(answers.map((answer) => answer.held.size).sort()).toEqual([2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
    });

    test('more replicas than parts: some hold none', async () => {
      const first = await renew('a', { parts: 1 });
      expect(held(first)).toEqual([0]);
      expect((await renew('b', { parts: 1 })).held.size).toBe(0);
      expect((await renew('a', { parts: 1 })).excess).toEqual([]);
    });

    test('what a replica that leaves gives up is free at once, with its notes', async () => {
      await renew('a');
      const all = [0, 1, 2, 3, 4, 5, 6];
      await renew('b');
      const left = await renew('a', { leaving: true, released: all, notes: new Map([[2, 'session 2']]) });
      expect(left).toMatchObject({ replicas: 1, held: new Map() });
      const taken = await renew('b');
      expect(held(taken)).toEqual(all);
      expect(taken.held.get(2)).toBe('session 2');
      expect(taken.held.get(3)).toBeUndefined();
    });

    test('what a silent replica held is free after its lease, and it learns of it when it comes back', async () => {
      await renew('a', { notes: new Map([[0, 'of a']]) }, hasty);
      await renew('a', { notes: new Map([[0, 'of a']]) }, hasty);
      await expect.poll(async () => held(await renew('b'))).toEqual([0, 1, 2, 3, 4, 5, 6]);
      const late = await renew('a', { notes: new Map([[0, 'too late']]), released: [1] });
      expect(late.held.size).toBe(0);
      expect((await renew('b')).held.get(0)).toBe('of a');
      expect(held(await renew('b'))).toContain(1);
    });

    test('a replica that comes back late keeps what no other took', async () => {
      await renew('a', {}, hasty);
      await expect.poll(async () => (await renew('watch', { leaving: true })).replicas).toBe(0);
      await renew('a', { parts: 7 });
      expect(held(await renew('a'))).toEqual([0, 1, 2, 3, 4, 5, 6]);
    });

    test('after all were silent, as while Redis was away, each has the time of a lease to come back', async () => {
      const all = [0, 1, 2, 3, 4, 5, 6];
      await renew('a', {}, hasty);
      await renew('b', {}, hasty);
      const { excess } = await renew('a', {}, hasty);
      await renew('a', { released: excess }, hasty);
      const [a, b] = [held(await renew('a', {}, hasty)), held(await renew('b', {}, hasty))];
      expect([...a, ...b]).toEqual(all);
      await new Promise((resolve) => setTimeout(resolve, 2 * SOON));
      expect(held(await renew('a'))).toEqual(a);
      expect(held(await renew('b'))).toEqual(b);
    });

    test('their number stays while one is held, and is chosen anew by the first one after', async () => {
      await renew('a', { notes: new Map() });
      expect((await renew('b', { parts: 16 })).parts).toBe(7);
      const all = [0, 1, 2, 3, 4, 5, 6];
      await renew('b', { leaving: true });
      await renew('a', { leaving: true, released: all, notes: new Map([[0, 'of seven']]) });
      const anew = await renew('b', { parts: 16 });
      expect(anew.parts).toBe(16);
      expect(anew.held.size).toBe(16);
      // A session of seven shards that is resumed as one of sixteen is refused.
      expect(anew.held.get(0)).toBeUndefined();
    });
  });

  describe('a gate', () => {
    test('lets one pass in its time, and tells the others how long to wait', async () => {
      const waits = await Promise.all(Array.from({ length: 5 }, () => replicas.pass(task, LEASE)));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(1);
      for (const wait of waits.filter((one) => one > 0)) expect(wait).toBeLessThanOrEqual(LEASE);
      expect(await replicas.pass(`${task} other`, LEASE)).toBe(0);
      expect(await replicas.pass(`${task} short`, SOON)).toBe(0);
      await expect.poll(() => replicas.pass(`${task} short`, SOON)).toBe(0);
    });
  });

  describe('a budget', () => {
    test('grants no more than there is in a second, to all replicas together', async () => {
      const asks = Array.from({ length: 40 }, () => replicas.take(task, { perSecond: 50, wanted: 10 }));
      const grants = await Promise.all(asks);
      const total = grants.reduce((sum, { granted }) => sum + granted, 0);
      expect(total).toBeGreaterThanOrEqual(50);
      // The second may end meanwhile.
      expect(total).toBeLessThanOrEqual(100);
      for (const { milliseconds } of grants) expect(milliseconds).toBeGreaterThan(0);
      for (const { milliseconds } of grants) expect(milliseconds).toBeLessThanOrEqual(1_000);
      await expect
        .poll(async () => (await replicas.take(task, { perSecond: 50, wanted: 1 })).granted)
        .toBe(1);
    });

    test('grants nothing while it is blocked', async () => {
      await replicas.block(task, LEASE);
      const { granted, milliseconds } = await replicas.take(task, { perSecond: 50, wanted: 1 });
      expect(granted).toBe(0);
      expect(milliseconds).toBeGreaterThan(LEASE / 2);
      await replicas.block(task, 1);
      await expect
        .poll(async () => (await replicas.take(task, { perSecond: 50, wanted: 1 })).granted)
        .toBe(1);
    });
  });
});
