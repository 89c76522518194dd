/** Opens what each released version stored (test/fixtures/records) with this version, and finishes its jobs. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { Job } from '../../src/core/job.ts';
import { PLANS } from '../../src/jobs/route-plans.ts';
import { createPartyStore } from '../../src/party/store.ts';
import { createInstallations } from '../../src/platforms/slack/connection/oauth/installations.ts';
import { createContestStore } from '../../src/settings/contests/contests.ts';
import { createDecisionStore } from '../../src/settings/decisions.ts';
import { createFeedback } from '../../src/settings/feedback.ts';
import { createScheduleStore } from '../../src/settings/schedules/schedules.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import type { RunTools } from '../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { loadRedis, loadSqlite } from '../fixtures/records/dumps.ts';
import {
  CLIENT_SECRET,
  ENTRY,
  finishJob,
  PLACE,
  SETTING_NAMES,
  WORKSPACE,
} from '../fixtures/records/history.ts';
import { createWorld, type World } from '../jobs/world.ts';
import { connectRedis, noRedis, PATIENT, startRedisServer } from '../servers/redis.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/records');
const versions = readdirSync(FOLDER, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

type Open = (version: string) => Promise<(tools: RunTools) => Promise<Storage>>;

const openSqlite: Open = async (version) => {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-records-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'minstrel.db');
  loadSqlite(join(FOLDER, version, 'sqlite.sql'), path);
  return (tools) => openSqliteStorage({ ...tools, path });
};

const openRedis: Open = async (version) => {
  const server = await startRedisServer();
  onTestFinished(() => server.dispose());
  const client = await connectRedis(server.url);
  await loadRedis(join(FOLDER, version, 'redis.json'), client);
  client.destroy();
  return (tools) => openRedisStorage({ ...tools, ...PATIENT, url: server.url });
};

const STORES = [
  { store: 'SQLite', open: openSqlite, skip: undefined },
  { store: 'Redis', open: openRedis, skip: noRedis },
];

test('this version has records (npm run records writes them)', () => {
  expect(versions).toContain(packageJson.version);
});

describe.each(versions)('the records of %s', (version) => {
  const callbacks = JSON.parse(readFileSync(join(FOLDER, version, 'callbacks.json'), 'utf8'));

  describe.each(STORES)('on $store', ({ open, skip }) => {
    async function openWorld(): Promise<World> {
      const world = await createWorld(undefined, await open(version));
      onTestFinished(() => world[Symbol.asyncDispose]());
      return world;
    }

    test.skipIf(skip)('can all be read', async () => {
      const world = await openWorld();
      const jobs = await Array.fromAsync(world.storage.jobs.all());
      // Unreadable records would be skipped, with an error in the log.
      expect(world.log.lines).toEqual([]);
      expect(Object.keys(PLANS)).toEqual(
        expect.arrayContaining([...new Set(jobs.map(({ work }) => work.route))]),
      );
      expect(new Set(jobs.map(({ state }) => state)).size).toBe(8);
    });

    test.skipIf(skip)('end, and no request is sent again', async () => {
      const world = await openWorld();
      const before = await Array.fromAsync(world.storage.jobs.all());
      world.clock.advance(Math.max(...before.map(({ createdAt }) => createdAt)) - world.clock.now());
      const unsent = before.filter(({ state }) => state === 'accepted');
      // Jobs in the queue end in a later round.
      for (let round = 0; round < 5; round += 1)
        for await (const id of world.storage.jobs.open())
          await finishJob(world, id, { callbacks, advance: () => world.advance(id), stepMs: 1_000 });
      const after = new Map((await Array.fromAsync(world.storage.jobs.all())).map((job) => [job.id, job]));
      const unexpected = before.flatMap((job) => {
        const { state = 'missing', failure } = after.get(job.id) ?? {};
        const expected = endOf(job);
        return state === expected ? [] : [{ title: job.title, was: job.state, state, expected, failure }];
      });
      expect(unexpected).toEqual([]);
      expect([...world.platform.shown.values()].filter(({ progress }) => progress)).toEqual([]);
      const resent = world.gateway.taken.filter(({ request: { callBackUrl } }) =>
        before.some(
          ({ id, state, lyrics }) =>
            String(callBackUrl).includes(`/${id}/`) && state !== 'accepted' && lyrics !== 'sent',
        ),
      );
      expect(resent).toEqual([]);
      expect(world.gateway.taken.length).toBeGreaterThanOrEqual(unsent.length);
    });

    test.skipIf(skip)('deliver late results of ended jobs', async () => {
      const world = await openWorld();
      for await (const { id, state, work, taskId = 'task-1' } of world.storage.jobs.all()) {
        if (state !== 'expired' && state !== 'failed') continue;
        for (const body of callbacks[work.route]) await world.callback(id, body.replaceAll('task-1', taskId));
        await world.advance(id);
        expect(await world.read(id)).toMatchObject({ state: 'delivered' });
      }
    });

    test.skipIf(skip)('hold every setting', async () => {
      const { storage, clock, voices } = await openWorld();
      const { settings } = storage;
      const { now } = clock;
      const decisions = createDecisionStore({ store: settings, now, newId: () => 'change' });
      const stored = await decisions.read(PLACE);
      expect(Object.keys({ ...stored.channel, ...stored.server })).toEqual(
        expect.arrayContaining(SETTING_NAMES),
      );
      expect(stored.server.rules.map(({ type }) => type).toSorted()).toEqual([
        'allow',
        'deny',
        'limit',
        'unlimited',
      ]);
      expect(await decisions.changes(PLACE, 100)).not.toEqual([]);
      expect(await voices.list(PLACE)).toMatchObject([{ personaId: 'persona-of-audio-1' }]);
      expect(await voices.removed(PLACE)).toMatchObject([{ personaId: 'persona-2' }]);
      expect(await createFeedback({ settings }).summary(PLACE, '2023-11-14', 1)).toEqual([
        { model: 'chat-small', good: 1, bad: 1 },
      ]);
      expect(await createPartyStore({ settings, platform: 'discord', now }).read('guild')).toMatchObject({
        current: { title: 'Rain' },
        queue: [{ index: 1 }],
      });
      const schedules = createScheduleStore({ settings });
      expect(await schedules.read(schedules.keyOf(PLACE))).toMatchObject({
        timeZone: 'Europe/Berlin',
        requests: [{ command: 'song', person: { id: 'ada' } }, { command: 'image' }],
      });
      const contests = createContestStore(storage);
      expect(await contests.read(contests.keyOf(PLACE))).toMatchObject({
        current: { theme: 'Rain', state: 'voting', entries: [{ job: ENTRY }], votes: { bob: ENTRY } },
        past: [{ theme: 'Snow', standings: [{ title: 'Snow', votes: 1 }] }],
      });
      expect(await storage.jobs.read(ENTRY)).toMatchObject({ contest: { id: 'contest-2' }, hidden: true });
      const { log } = await createWorld();
      const installations = createInstallations({ settings, clientSecrets: [CLIENT_SECRET], now, log });
      expect(await installations.fetchInstallation(WORKSPACE)).toMatchObject({
        bot: { token: 'xoxb-fixture' },
      });
      expect(await storage.secrets()).toEqual([['callbacks', 'a secret of this deployment']]);
    });

    test.skipIf(skip)('count as usage', async () => {
      const { storage } = await openWorld();
      const days = await Array.fromAsync(storage.usage.history());
      expect(new Set(days.map(({ family }) => family))).toEqual(new Set(['song', 'ask', 'image', 'video']));
    });
  });
});

/** The state that an old job ends in. */
function endOf({ state, cancelRequestedBy }: Job): Job['state'] {
  switch (state) {
    case 'accepted':
    case 'submitting':
    case 'waiting':
    case 'ready':
      return cancelRequestedBy === undefined ? 'delivered' : 'cancelled';
    case 'delivered':
    case 'failed':
    case 'expired':
    case 'cancelled':
      return state;
    default:
      return state satisfies never;
  }
}
