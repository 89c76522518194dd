import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Job } from '../../src/core/job.ts';
import { systemClock } from '../../src/core/util/clock.ts';
import type { InquiryTurn } from '../../src/core/work.ts';
import { eraseJobs, forgetPerson } from '../../src/jobs/forget.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { connectRedis, noRedis, startRedisServer } from '../servers/redis.ts';
import { memoryStorage } from '../settings/memory-storage.ts';
import { oneSong, songJob } from '../storage/jobs.ts';
import { RecordingLog } from '../storage/recording-log.ts';

const file = (letter: string) => `${letter.repeat(64)}.mp3`;
const storedFile = (name: string) => ({ name, bytes: 1, contentType: 'audio/mpeg' });
const bob = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };

let storage: Storage;
let removed: string[];
let measured: (readonly unknown[])[];
let log: RecordingLog;

beforeEach(async () => {
  ({ storage } = await memoryStorage());
  removed = [];
  measured = [];
  log = new RecordingLog();
});
afterEach(() => storage.close());

const dependencies = () => ({
  storage,
  removeFile: async (name: string) => {
    removed.push(name);
  },
  measure: (...measurement: readonly unknown[]) => void measured.push(measurement),
  log,
});
const store = async (...jobs: Job[]) => {
  for (const job of jobs) await storage.jobs.create(job);
};
const remainingIds = async () => (await Array.fromAsync(storage.jobs.all())).map(({ id }) => id);

test("erases a person's jobs and all files in their records that no other job uses", async () => {
  await store(
    songJob({
      id: 'ada1',
      state: 'delivered',
      stored: { 'https://gateway.example/a': storedFile(file('a')) },
    }),
    songJob({
      id: 'ada2',
      state: 'failed',
      stored: { 'https://gateway.example/b': storedFile(file('b')) },
      lost: ['https://gateway.example/gone'],
      work: {
        route: 'media.video',
        request: { model: 'reel', prompt: 'x' },
        image: storedFile(file('c')),
      },
    }),
    songJob({ id: 'bob1', person: bob, state: 'delivered', stored: { shared: storedFile(file('b')) } }),
  );
  const erased = await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies());
  expect(erased).toEqual({ jobs: 2, files: 2 });
  expect(removed.toSorted()).toEqual([file('a'), file('c')]);
  expect(await remainingIds()).toEqual(['bob1']);
});

test('keeps jobs that are revealed or repeated meanwhile, and their files', async () => {
  const withFile = (id: string, letter: string) =>
    songJob({ id, state: 'cancelled', stored: { [id]: storedFile(file(letter)) } });
  await store(withFile('shown', 'a'), withFile('asked again', 'b'), withFile('old', 'c'));
  const { jobs } = storage;
  const racingJobs = {
    ...jobs,
    // While the records are being read.
    async *records() {
      yield* jobs.records();
      await jobs.replace({ ...withFile('shown', 'a'), state: 'ready' });
      await jobs.create(
        songJob({
          id: 'again',
          work: {
            route: 'media.video',
            request: { model: 'reel', prompt: 'x' },
            image: storedFile(file('b')),
          },
        }),
      );
    },
  };
  const racingDependencies = { ...dependencies(), storage: { jobs: racingJobs } };
  expect(await eraseJobs(jobs.endedBefore(Infinity), racingDependencies)).toEqual({ jobs: 2, files: 1 });
  expect(removed).toEqual([file('c')]);
  expect((await remainingIds()).toSorted()).toEqual(['again', 'shown']);
});

test('keeps a job that is revealed between the last read and its removal', async () => {
  await store(songJob({ id: 'shown', state: 'cancelled' }), songJob({ id: 'old', state: 'delivered' }));
  const { jobs } = storage;
  const racingJobs = {
    ...jobs,
    async *open() {
      yield* jobs.open();
      await jobs.replace({ ...songJob({ id: 'shown' }), state: 'ready' });
    },
  };
  const racingDependencies = { ...dependencies(), storage: { jobs: racingJobs } };
  expect(await eraseJobs(jobs.endedBefore(Infinity), racingDependencies)).toEqual({ jobs: 1, files: 0 });
  expect(await remainingIds()).toEqual(['shown']);
});

test('distinguishes people with the same id on different platforms', async () => {
  await store(songJob({ id: 'ada1', state: 'delivered' }));
  expect(await forgetPerson({ platform: 'slack', person: 'ada' }, dependencies())).toEqual({
    jobs: 0,
    files: 0,
  });
  expect(await remainingIds()).toEqual(['ada1']);
});

test('refuses to erase anything while a job is running', async () => {
  await store(songJob({ id: 'done', state: 'delivered' }), songJob({ id: 'running', state: 'waiting' }));
  await expect(forgetPerson({ platform: 'discord', person: 'ada' }, dependencies())).rejects.toThrow(
    'You have 1 running job. Let running jobs finish, or cancel them with /jobs, then try again.',
  );
  expect(await remainingIds()).toHaveLength(2);
});

test('erases expired jobs, but never running ones', async () => {
  await store(
    songJob({ id: 'old', state: 'delivered', createdAt: 1, finishedAt: 2 }),
    songJob({ id: 'waiting', state: 'waiting', createdAt: 1 }),
    songJob({ id: 'new', state: 'delivered', createdAt: 1, finishedAt: 9 }),
  );
  await eraseJobs(storage.jobs.endedBefore(5), dependencies());
  expect((await remainingIds()).toSorted()).toEqual(['new', 'waiting']);
});

test('a crash between files and jobs leaves jobs that list the remaining files', async () => {
  await store(songJob({ id: 'ada1', state: 'delivered', stored: { a: storedFile(file('a')) } }));
  const dyingDependencies = {
    ...dependencies(),
    removeFile: async () => {
      throw new TypeError('the process died here');
    },
  };
  await expect(forgetPerson({ platform: 'discord', person: 'ada' }, dyingDependencies)).rejects.toThrow(
    'died',
  );
  expect(await remainingIds()).toEqual(['ada1']);
  expect(await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies())).toEqual({
    jobs: 1,
    files: 1,
  });
});

const turn = (role: InquiryTurn['role'], text: string, person?: string): InquiryTurn => ({
  role,
  parts: [{ type: 'text', text }],
  ...(person === undefined ? {} : { person }),
});
const questionJob = (
  id: string,
  person: Job['person'],
  turns: readonly InquiryTurn[],
  fields: Partial<Job> = {},
) =>
  songJob({
    id,
    person,
    state: 'delivered',
    command: 'ask',
    work: { route: 'answer', dialect: 'chat', request: { model: 'm', maxTokens: 10, turns } },
    ...fields,
  });
const ada = songJob({ id: 'x' }).person;
const turnsOf = async (id: string) => {
  const work = (await storage.jobs.read(id))?.work;
  return work?.route === 'answer' ? work.request.turns : undefined;
};

test("removes a person's messages from other jobs, with the answers and files; the other jobs still work", async () => {
  const question = turn('user', 'my secret', 'ada');
  const picture: InquiryTurn = {
    role: 'user',
    parts: [{ type: 'image', file: { ...storedFile(file('d')), contentType: 'image/png' } }],
    person: 'ada',
  };
  await store(
    questionJob('ada1', ada, [picture, question]),
    questionJob('bob1', bob, [
      turn('user', 'hello', 'bob'),
      turn('assistant', 'hello Bob', 'bob'),
      picture,
      turn('assistant', 'a fine picture', 'ada'),
      question,
      turn('assistant', 'told about it', 'ada'),
      turn('user', 'and now?', 'bob'),
    ]),
    questionJob('carl1', { ...bob, id: 'carl' }, [turn('user', 'my secret', 'carl')]),
  );
  const erased = await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies());
  expect(erased).toEqual({ jobs: 1, files: 1 });
  expect(removed).toEqual([file('d')]);
  expect(await turnsOf('bob1')).toEqual([
    turn('user', 'hello', 'bob'),
    turn('assistant', 'hello Bob', 'bob'),
    turn('user', 'and now?', 'bob'),
  ]);
  expect(await turnsOf('carl1')).toHaveLength(1);
});

test("removes a person's titles from jobs made from theirs, and only those", async () => {
  const cover = (id: string, parent: string, fields: Partial<Job> = {}) =>
    songJob({
      id,
      person: bob,
      state: 'delivered',
      title: 'Creating cover art for “Secret rain”',
      parent,
      basedOn: '“Secret rain”',
      ...fields,
    });
  await store(
    songJob({ id: 'ada1', state: 'delivered', result: oneSong('Secret rain') }),
    songJob({ id: 'bob1', person: bob, state: 'delivered', result: oneSong('Secret rain') }),
    cover('finished', 'ada1'),
    cover('running', 'ada1', { state: 'waiting' }),
    cover('unrelated', 'bob1'),
    cover('voice', 'ada1', {
      work: {
        route: 'music.generatePersona',
        request: {
          taskId: 'task',
          audioId: 'audio',
          name: 'Deep',
          description: 'The voice of “Secret rain”',
          vocalStart: 0,
          vocalEnd: 20,
        },
      },
    }),
  );
  await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies());
  for (const id of ['finished', 'running']) {
    const job = await storage.jobs.read(id);
    expect(job).toMatchObject({ title: 'Creating cover art for the original', parent: 'ada1' });
    expect(job).not.toHaveProperty('basedOn');
  }
  expect(JSON.stringify(await storage.jobs.read('voice'))).not.toContain('Secret rain');
  expect(await storage.jobs.read('unrelated')).toMatchObject({ basedOn: '“Secret rain”' });
});

test("counts and reports a write to someone else's job that breaks an invariant", async () => {
  await store(
    questionJob('bob1', bob, [turn('user', 'my secret', 'ada'), turn('user', 'and now?', 'bob')]),
    questionJob('bob2', bob, [turn('user', 'my secret', 'ada'), turn('user', 'and then?', 'bob')]),
  );
  const { jobs } = storage;
  const replace: typeof jobs.replace = (job) =>
    jobs.replace(job.id === 'bob2' ? { ...job, state: 'accepted' } : job);
  await forgetPerson(
    { platform: 'discord', person: 'ada' },
    { ...dependencies(), storage: { jobs: { ...jobs, replace } } },
  );
  expect(measured).toEqual([['minstrel_invariants_broken_total', { invariant: 'sent_once' }]]);
  expect(log.lines).toMatchObject([
    { level: 'error', fields: { job: 'bob2', invariant: 'sent_once', from: 'delivered', to: 'accepted' } },
  ]);
});

test('does not block other work while it erases many jobs', async () => {
  const jobs = Array.from({ length: 600 }, (_, index) =>
    songJob({
      id: `job${index}`,
      person: index % 2 ? ada : bob,
      state: 'delivered',
      finishedAt: index,
      stored: { a: storedFile(file('a')) },
    }),
  );
  await Promise.all(jobs.map((job) => storage.jobs.create(job)));
  let otherRuns = 0;
  const count = () => {
    otherRuns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  try {
    await Array.fromAsync(storage.jobs.records());
    expect(otherRuns).toBeGreaterThanOrEqual(12);
    otherRuns = 0;
    expect(await Array.fromAsync(storage.jobs.endedBefore(300))).toHaveLength(300);
    expect(otherRuns).toBeGreaterThanOrEqual(6);
    expect(await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies())).toMatchObject({
      jobs: 300,
    });
  } finally {
    clearImmediate(immediate);
  }
  expect(await remainingIds()).toHaveLength(300);
});

const WORDS = 'a letter to my grandmother';

async function askAndForget(): Promise<void> {
  const long = `${WORDS} `.repeat(500);
  await store(
    questionJob('ada1', ada, [turn('user', WORDS, 'ada')], { title: WORDS, state: 'waiting' }),
    questionJob('ada2', ada, [turn('user', long, 'ada')], { title: WORDS }),
    questionJob('bob1', bob, [turn('user', long, 'ada'), turn('user', 'and now?', 'bob')]),
  );
  await storage.receive({ job: 'ada1', body: JSON.stringify({ prompt: WORDS }), receivedAt: 1 });
  const job = await storage.jobs.read('ada1');
  if (job) await storage.jobs.replace({ ...job, state: 'delivered', title: 'short' });
  await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies());
  await storage.scrub();
}

async function filesWithWords(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(names.map(async (name) => ({ name, content: await readFile(name) })));
  return contents.filter(({ content }) => content.includes('grandmother')).map(({ name }) => name);
}

test('erased data is in no file of SQLite', async () => {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-forget-'));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const log = new RecordingLog();
  const path = join(folder, 'minstrel.sqlite');
  await storage.close();
  storage = await openSqliteStorage({ path, clock: systemClock, random: Math.random, log });
  await askAndForget();
  expect(await filesWithWords(folder)).toEqual([]);
});

describe.skipIf(noRedis)('on Redis', () => {
  test('erased data is in no key, and in no file once Redis has rewritten it', async () => {
    await using cleanup = new AsyncDisposableStack();
    const server = await startRedisServer();
    cleanup.defer(() => server.dispose());
    const log = new RecordingLog();
    await storage.close();
    storage = await openRedisStorage({ url: server.url, clock: systemClock, random: Math.random, log });
    await askAndForget();
    await storage.close();

    const redis = await connectRedis(server.url);
    cleanup.defer(() => redis.destroy());
    for await (const keys of redis.scanIterator()) {
      for (const key of keys)
        expect(String(await redis.sendCommand(['DUMP', key]))).not.toContain('grandmother');
    }
    const { dir } = await redis.configGet('dir');
    await expect.poll(() => filesWithWords(String(dir))).toEqual([]);
  });
});
