import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/util/clock.ts';
import { createVoices } from '../../src/settings/voices.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { exportLines, importLines, TransferError } from '../../src/storage/transfer.ts';
import { MINSTREL, PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../servers/redis.ts';
import { songJob } from './jobs.ts';
import { RecordingLog } from './recording-log.ts';

const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
const PLACE = { platform: 'discord', guild: 'guild', channel: 'channel' };
const VOICE = {
  personaId: 'persona',
  name: 'Rainy',
  savedBy: { id: 'ada', displayName: 'Ada' },
  savedAt: 5,
};

async function sqlite(): Promise<Storage> {
  const storage = await openSqliteStorage({ path: ':memory:', ...tools });
  onTestFinished(() => storage.close());
  return storage;
}

/** A storage after several months: old songs with all ids, an open job, callbacks read and unread. */
async function fill(storage: Storage): Promise<void> {
  await storage.secret('signing', () => 'the secret');
  await storage.settings.set('discord:guild', { version: 1, models: { song: { id: 'V5' } } });
  await createVoices(storage).save(PLACE, VOICE);
  await storage.jobs.create(songJob({ id: 'open', state: 'waiting', inboxRead: 1 }));
  await storage.receive({ job: 'open', body: '{"read":1}', receivedAt: 10 });
  await storage.receive({ job: 'open', body: '{"unread":2}', receivedAt: 11 });
  await storage.jobs.create(
    songJob({
      id: 'old',
      state: 'delivered',
      taskId: 'task',
      parent: 'open',
      basedOn: '“Rain”,\u2028take 1\u2029',
      // Its callbacks were deleted a month after it ended.
      inboxRead: 3,
      result: { songs: [{ audioId: 'audio', title: 'Rain' }], lyrics: [], images: [], stems: [] },
      stored: { 'https://gateway.example/a.mp3': { name: 'a.mp3', bytes: 1, contentType: 'audio/mpeg' } },
    }),
  );
  await storage.jobs.create(songJob({ id: 'late', state: 'expired', end: 'expired', taskId: 'film' }));
  await storage.usage.settle(
    { id: 'one', at: SETTLED_AT, units: 3, counters: [], facts: FACTS },
    'uncertain',
  );
}

const SETTLED_AT = Date.parse('2026-03-10T12:00:00Z');
const FACTS = { platform: 'discord', guild: 'guild', person: 'ada', displayName: 'Ada', family: 'song' };

const linesOf = (storage: Storage) => Array.fromAsync(exportLines(storage));
const take = (lines: readonly string[], storage: Storage) =>
  importLines(async function* () {
    yield* lines;
  }, storage);

async function expectEverything(storage: Storage): Promise<void> {
  expect(await storage.secret('signing', () => 'another')).toBe('the secret');
  expect(await storage.settings.get('discord:guild')).toEqual({ version: 1, models: { song: { id: 'V5' } } });
  expect(await createVoices(storage).list(PLACE)).toEqual([VOICE]);
  const [song] = await storage.jobs.recentSongs({ platform: 'discord', channel: 'channel' }, 5);
  expect(song).toMatchObject({
    id: 'old',
    taskId: 'task',
    parent: 'open',
    basedOn: '“Rain”,\u2028take 1\u2029',
    inboxRead: 0,
    stored: { 'https://gateway.example/a.mp3': { name: 'a.mp3' } },
  });
  expect(await Array.fromAsync(storage.jobs.open())).toEqual(['open']);
  const open = await storage.jobs.read('open');
  const unread = await storage.inbox.read('open', open?.inboxRead ?? 0);
  expect(unread.map(({ body }) => body)).toEqual(['{"unread":2}']);
  expect(await Array.fromAsync(storage.usage.history())).toEqual([
    { ...FACTS, day: '2026-03-10', requests: 1, units: 3, uncertain: 1 },
  ]);
}

describe('an export', () => {
  it('imports everything into another SQLite file, and a second import changes nothing', async () => {
    const [from, to] = [await sqlite(), await sqlite()];
    await fill(from);
    const lines = await linesOf(from);
    expect(await take(lines, to)).toEqual({ secrets: 1, settings: 2, jobs: 3, usage: 1, known: 0 });
    await expectEverything(to);
    expect(await take(lines, to)).toEqual({ secrets: 1, settings: 0, jobs: 0, usage: 0, known: 6 });
    await expectEverything(to);
  });

  it('wakes open jobs and jobs that may get a late result, because timers are not exported', async () => {
    const [from, to] = [await sqlite(), await sqlite()];
    await fill(from);
    await take(await linesOf(from), to);
    const woken: string[] = [];
    await to.schedule.start(
      async (id) => {
        woken.push(id);
        return undefined;
      },
      { concurrency: 1 },
    );
    await expect.poll(() => woken.toSorted()).toEqual(['late', 'open']);
  });

  it('does not overwrite existing data', async () => {
    const [from, to] = [await sqlite(), await sqlite()];
    await fill(from);
    await to.settings.set('discord:guild', 'chosen there');
    await take(await linesOf(from), to);
    expect(await to.settings.get('discord:guild')).toBe('chosen there');
  });

  it('is refused if links were signed with another secret, and nothing is written', async () => {
    const [from, to] = [await sqlite(), await sqlite()];
    await fill(from);
    await to.secret('signing', () => 'its own');
    await expect(take(await linesOf(from), to)).rejects.toThrow(/different secret “signing”/);
    expect(await Array.fromAsync(to.settings.keys())).toEqual([]);
    expect(await to.jobs.read('old')).toBeUndefined();
  });

  it.each<[string, (lines: string[]) => string[], RegExp]>([
    ['cut short', (lines) => lines.slice(0, -1), /ends too early/],
    ['with a line missing', (lines) => lines.toSpliced(2, 1), /is missing lines/],
    [
      'with a line that is not JSON',
      (lines) => lines.with(2, '{"job":'),
      /Line 3 of the export is not valid JSON/,
    ],
    [
      'with a line of another kind',
      (lines) => lines.with(2, '{"song":1}'),
      /Line 3 of the export cannot be read/,
    ],
    ['of another version', (lines) => lines.with(0, '{"minstrel":"export","version":2}'), /has version 2/],
    ['of another program', (lines) => lines.with(0, '{}'), /not a Minstrel export/],
    ['followed by another', (lines) => [...lines, ...lines], /text after the end/],
    ['that is empty', () => [], /is empty/],
  ])('%s is refused whole', async (_name, damage, sentence) => {
    const [from, to] = [await sqlite(), await sqlite()];
    await fill(from);
    const importing = take(damage(await linesOf(from)), to);
    await expect(importing).rejects.toThrow(TransferError);
    await expect(importing).rejects.toThrow(sentence);
    expect(await linesOf(to)).toHaveLength(2);
  });
});

describe.runIf(noRedis === undefined)(noRedis ?? 'between SQLite and Redis', () => {
  let server: RedisServer;
  let deployments = 0;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.dispose());

  async function redis(): Promise<Storage> {
    deployments += 1;
    const storage = await openRedisStorage({
      ...PATIENT,
      url: server.url,
      prefix: `transfer${deployments}`,
      ...tools,
    });
    onTestFinished(() => storage.close());
    return storage;
  }

  it('moves everything there and back', async () => {
    const [file, there, back] = [await sqlite(), await redis(), await sqlite()];
    await fill(file);
    await take(await linesOf(file), there);
    await expectEverything(there);
    await take(await linesOf(there), back);
    await expectEverything(back);
  });
});

it('npm run export and npm run import move a deployment with a file that only its owner can read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-transfer-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const run = (program: string, data: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [MINSTREL, program, ...args], {
      cwd: PROJECT,
      env: { ...PROGRAM_ENVIRONMENT, DATA_DIR: join(directory, data) },
    });
  const before = await openSqliteStorage({ path: join(directory, 'a', 'minstrel.sqlite'), ...tools });
  await fill(before);
  await before.close();

  const file = join(directory, 'export.jsonl');
  expect((await run('export', 'a', file)).stdout).toContain('Keep it secret');
  expect((await stat(file)).mode & 0o077).toBe(0);
  await expect(run('export', 'a', file)).rejects.toThrow(/already exists/);
  expect((await run('import', 'b', file)).stdout).toContain(
    'Imported jobs: 3, settings: 2, secrets: 1, usage: 1',
  );
  const after = await openSqliteStorage({ path: join(directory, 'b', 'minstrel.sqlite'), ...tools });
  await expectEverything(after);
  await after.close();

  await writeFile(file, (await readFile(file, 'utf8')).slice(0, -20));
  await expect(run('import', 'c', file)).rejects.toThrow(/not valid JSON|ends too early/);
  await expect(run('import', 'c')).rejects.toThrow(/Usage/);
});
