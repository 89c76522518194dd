import { afterEach, beforeEach, expect, test } from 'vitest';
import { eraseJobs, forgetPerson } from '../../src/jobs/forget.ts';
import type { Job } from '../../src/jobs/job.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { memoryStorage } from '../settings/memory-storage.ts';
import { songJob } from '../storage/jobs.ts';

const file = (letter: string) => `${letter.repeat(64)}.mp3`;
const kept = (name: string) => ({ name, bytes: 1, contentType: 'audio/mpeg' });
const bob = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };

let storage: Storage;
let removed: string[];

beforeEach(async () => {
  ({ storage } = await memoryStorage());
  removed = [];
});
afterEach(() => storage.close());

const dependencies = () => ({
  storage,
  removeFile: async (name: string) => {
    removed.push(name);
  },
});
const store = async (...jobs: Job[]) => {
  for (const job of jobs) await storage.jobs.create(job);
};
const left = async () => (await Array.fromAsync(storage.jobs.all())).map(({ id }) => id);

test('a person’s jobs go with every file that nobody else’s job holds, wherever it stands in the record', async () => {
  await store(
    songJob({ id: 'ada1', state: 'delivered', kept: { 'https://gateway.example/a': kept(file('a')) } }),
    songJob({
      id: 'ada2',
      state: 'failed',
      kept: { 'https://gateway.example/b': kept(file('b')), 'https://gateway.example/gone': null },
      work: {
        route: 'media.video',
        request: { model: 'reel', prompt: 'x' },
        image: kept(file('c')),
      },
    }),
    songJob({ id: 'bob1', person: bob, state: 'delivered', kept: { shared: kept(file('b')) } }),
  );
  const erased = await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies());
  expect(erased).toEqual({ jobs: 2, files: 2 });
  expect(removed.toSorted()).toEqual([file('a'), file('c')]);
  expect(await left()).toEqual(['bob1']);
});

test('somebody of the same id on another platform is somebody else', async () => {
  await store(songJob({ id: 'ada1', state: 'delivered' }));
  expect(await forgetPerson({ platform: 'slack', person: 'ada' }, dependencies())).toEqual({
    jobs: 0,
    files: 0,
  });
  expect(await left()).toEqual(['ada1']);
});

test('while something runs nothing is erased, and it says so', async () => {
  await store(songJob({ id: 'done', state: 'delivered' }), songJob({ id: 'running', state: 'waiting' }));
  await expect(forgetPerson({ platform: 'discord', person: 'ada' }, dependencies())).rejects.toThrow(
    'Something of yours is still running (1). Wait for it, or cancel it with /jobs, and ask again.',
  );
  expect(await left()).toHaveLength(2);
});

test('what is too old goes, but never what still runs', async () => {
  await store(
    songJob({ id: 'old', state: 'delivered', createdAt: 1, finishedAt: 2 }),
    songJob({ id: 'waiting', state: 'waiting', createdAt: 1 }),
    songJob({ id: 'new', state: 'delivered', createdAt: 1, finishedAt: 9 }),
  );
  await eraseJobs(({ finishedAt, createdAt }) => (finishedAt ?? createdAt) < 5, dependencies());
  expect((await left()).toSorted()).toEqual(['new', 'waiting']);
});

test('a crash between the files and the jobs leaves jobs that lead to the rest', async () => {
  await store(songJob({ id: 'ada1', state: 'delivered', kept: { a: kept(file('a')) } }));
  const dying = {
    storage,
    removeFile: async () => {
      throw new TypeError('the process died here');
    },
  };
  await expect(forgetPerson({ platform: 'discord', person: 'ada' }, dying)).rejects.toThrow('died');
  expect(await left()).toEqual(['ada1']);
  expect(await forgetPerson({ platform: 'discord', person: 'ada' }, dependencies())).toEqual({
    jobs: 1,
    files: 1,
  });
});
