import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/util/clock.ts';
import { readSettings } from '../../src/settings/decisions.ts';
import { SettingsError } from '../../src/settings/records.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../servers/redis.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { rule } from './access/rules.ts';
import { administer } from './administration.ts';
import { memoryStorage } from './memory-storage.ts';
import { HERE, MOD, person } from './samples.ts';

const openSqlite = (path: string) =>
  openSqliteStorage({ path, clock: systemClock, random: Math.random, log: new RecordingLog() });

/** Sets a setting of every kind. */
async function setEverything(storage: Storage): Promise<void> {
  const mod = administer({ storage, clock: systemClock }).moderation(HERE, MOD);
  await mod.models.choose('ask', 'chat-small', 'channel');
  await mod.models.choose('song', 'V4', 'server');
  await mod.answers.change({ systemPrompt: 'Sei kurz 🎵', assistant: true, footer: false }, 'server');
  await mod.rules.set(rule('limit everyone song 3'), 'server');
  await mod.rules.set(rule('limit everyone all 0 hour together'), 'channel');
  await mod.rules.set(rule('unlimited moderators all'), 'server');
  await mod.rules.set(rule('allow @dj video'), 'channel');
  await mod.rules.set(rule('deny troll all'), 'server');
  await mod.rules.set(rule('allow @helper moderation'), 'server');
  await mod.rules.pause(true);
}

async function everything(storage: Storage): Promise<unknown> {
  const mod = administer({ storage, clock: systemClock }).moderation(HERE, MOD);
  return {
    models: await mod.inForce.models(),
    answers: await mod.inForce.answers(),
    rules: await mod.inForce.rules(),
    changes: await mod.audit(100),
  };
}

describe('settings of moderators', () => {
  let folder: string;
  let redis: RedisServer | undefined;
  let deployments = 0;

  beforeAll(async () => {
    if (noRedis === undefined) redis = await startRedisServer();
  });
  afterAll(() => redis?.dispose());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'minstrel-settings-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const openRedis = (prefix = `move${++deployments}`) =>
    openRedisStorage({
      ...PATIENT,
      url: redis?.url ?? '',
      prefix,
      clock: systemClock,
      random: Math.random,
      log: new RecordingLog(),
    });

  test('survive a restart', async () => {
    const path = join(folder, 'minstrel.sqlite');
    const before = await openSqlite(path);
    await setEverything(before);
    const decided = await everything(before);
    expect(JSON.stringify(decided)).toContain('Sei kurz 🎵');
    await before.close();
    const after = await openSqlite(path);
    expect(await everything(after)).toEqual(decided);
    await after.close();
  });

  test.runIf(noRedis === undefined)('move from SQLite to Redis and back, entry by entry', async () => {
    const sqlite = await openSqlite(join(folder, 'one.sqlite'));
    await setEverything(sqlite);
    const decided = await everything(sqlite);
    const onRedis = await openRedis();
    for await (const key of sqlite.settings.keys())
      await onRedis.settings.set(key, await sqlite.settings.get(key));
    expect(await everything(onRedis)).toEqual(decided);
    const back = await openSqlite(join(folder, 'two.sqlite'));
    for await (const key of onRedis.settings.keys())
      await back.settings.set(key, await onRedis.settings.get(key));
    expect(await everything(back)).toEqual(decided);
    for (const storage of [sqlite, onRedis, back]) await storage.close();
  });

  test.runIf(noRedis === undefined)('keep every simultaneous edit of three replicas', async () => {
    const prefix = `edits${++deployments}`;
    const replicas = await Promise.all([openRedis(prefix), openRedis(prefix), openRedis(prefix)]);
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const storage = replicas[index % 3];
        if (!storage) throw new TypeError('no replica');
        const mod = administer({ storage, clock: systemClock }).moderation(HERE, MOD);
        return mod.rules.set(rule(`deny troll${index} all`), 'server');
      }),
    );
    const [storage] = replicas;
    if (!storage) throw new TypeError('no replica');
    const mod = administer({ storage, clock: systemClock }).moderation(HERE, MOD);
    expect((await mod.inForce.rules()).rules).toHaveLength(30);
    expect(await mod.audit(100)).toHaveLength(30);
    for (const replica of replicas) await replica.close();
  });
});

describe('the schema', () => {
  const older = { version: 1, models: { ask: { id: 'seer', by: { id: 'mod', displayName: 'Mod' }, at: 1 } } };

  test('uses defaults for missing values, and ignores unknown ones', () => {
    const settings = readSettings('discord:guild', { ...older, invented: { later: true } });
    expect(settings).toMatchObject({ rules: [], changes: [] });
  });

  test.each([
    ['of a newer version', { version: 99 }],
    ['that is not an object', 'nonsense'],
    ['without a version', { models: {} }],
    ['with a damaged limit', { version: 1, rules: [{ ...rule('limit everyone all 1'), per: 'week' }] }],
  ])('refuses anything %s, so that nothing is overwritten', (_name, stored) => {
    expect(() => readSettings('discord:guild', stored)).toThrow(SettingsError);
  });

  test('a change does not affect settings of a newer version', async () => {
    const { storage, clock } = await memoryStorage();
    await storage.settings.set('discord:guild', { version: 99, secret: 'kept' });
    const mod = administer({ storage, clock }).moderation(HERE, MOD);
    await expect(mod.rules.set(rule('deny troll all'), 'server')).rejects.toThrow(SettingsError);
    expect(await storage.settings.get('discord:guild')).toEqual({ version: 99, secret: 'kept' });
    await storage.close();
  });
});

describe('the audit log', () => {
  test('lists who changed what, when and where, in the server and all its channels', async () => {
    const { storage, clock } = await memoryStorage();
    const administered = administer({ storage, clock });
    const mod = administered.moderation(HERE, MOD);
    await mod.models.choose('ask', 'chat-small', 'server');
    clock.advance(1_000);
    await mod.models.choose('ask', 'seer', 'channel').catch(() => undefined);
    await administered
      .moderation({ ...HERE, channel: 'other' }, person('eve', { moderator: true }))
      .rules.set(rule('limit everyone all 5 day together'), 'channel');
    clock.advance(1_000);
    await mod.models.choose('ask', 'canvas-plus', 'server');
    const changes = await mod.audit(10);
    expect(changes.map(({ by, where, what, from, to }) => [by.displayName, where, what, from, to])).toEqual([
      ['Mod', 'server', 'model for answers', 'chat-small', 'canvas-plus'],
      [
        'Eve',
        'channel other',
        'limit on jobs',
        'no rule',
        '5 jobs per day in this channel, shared by everyone',
      ],
      ['Mod', 'server', 'model for answers', 'not set', 'chat-small'],
    ]);
    expect(changes[0]?.at).toBe(clock.now());
    await storage.close();
  });

  test('an edit is made once after a lost answer', async () => {
    const { storage, clock } = await memoryStorage();
    const { settings } = storage;
    // The store writes, gets no answer, and calls the change again with the stored value.
    const update: typeof settings.update = async (key, change) => {
      await settings.update(key, change);
      return settings.update(key, change);
    };
    const lossyStorage = { ...storage, settings: { ...settings, update } };
    const mod = administer({ storage: lossyStorage, clock }).moderation(HERE, MOD);
    await mod.rules.set(rule('limit everyone all 3'), 'server');
    await mod.rules.pause(true);
    expect((await mod.audit(10)).map(({ from, to }) => [from, to])).toEqual([
      ['no rule', '3 jobs per person per day'],
      ['no', 'yes'],
    ]);
    await storage.close();
  });

  test('is bounded, forgets a person on request, and is pruned by age', async () => {
    const { storage, clock } = await memoryStorage();
    const administered = administer({ storage, clock });
    const mod = administered.moderation(HERE, MOD);
    await storage.settings.set('voices:discord:server:guild', { version: 1, voices: [] });
    await storage.settings.set('something:else', 'that others keep');
    for (let index = 0; index < 210; index += 1) await mod.rules.pause(index % 2 === 0);
    expect(await mod.audit(1_000)).toHaveLength(200);
    await administered.decisions.forget('slack', 'mod');
    expect((await mod.audit(1))[0]?.by.id).toBe('mod');
    await administered.decisions.forget('discord', 'mod');
    expect((await mod.audit(1))[0]?.by).toEqual({
      id: '',
      displayName: 'someone whose data was deleted',
    });
    clock.advance(1_000);
    await mod.rules.pause(true);
    await administered.decisions.prune(clock.now());
    expect(await mod.audit(1_000)).toHaveLength(1);
    expect(await storage.settings.get('something:else')).toBe('that others keep');
    await storage.close();
  });
});
