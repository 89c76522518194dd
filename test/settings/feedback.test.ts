import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFeedback, type FeedbackStore, type Vote } from '../../src/settings/feedback.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { exportLines, importLines } from '../../src/storage/transfer.ts';
import { memoryStorage } from './memory-storage.ts';

const HERE = { platform: 'slack', guild: 'team', channel: 'music' };
const DAY = '2026-11-22';

let storage: Storage;
let feedback: FeedbackStore;

beforeEach(async () => {
  ({ storage } = await memoryStorage());
  feedback = createFeedback(storage);
});
afterEach(() => storage.close());

const vote = (person: string, judgement: Vote['judgement'], more: Partial<Vote> = {}) =>
  feedback.vote(HERE, { job: 'j1', model: 'chat-small', day: DAY, person, judgement, ...more });
const week = (where = HERE) => feedback.summary(where, '2026-11-16', 7);

it('a person has one vote per answer and may change it', async () => {
  expect(await vote('ada', 'good')).toBeUndefined();
  expect(await vote('ada', 'good')).toBe('good');
  expect(await week()).toEqual([{ model: 'chat-small', good: 1, bad: 0 }]);
  expect(await vote('ada', 'bad')).toBe('good');
  expect(await vote('bob', 'good')).toBeUndefined();
  await vote('ada', 'good', { job: 'j2' });
  expect(await week()).toEqual([{ model: 'chat-small', good: 2, bad: 1 }]);
});

it('votes at the same moment all count', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => vote(`person${n}`, n % 2 ? 'good' : 'bad')));
  expect(await week()).toEqual([{ model: 'chat-small', good: 10, bad: 10 }]);
});

it('votes are counted by model for their workspace and the requested days', async () => {
  await vote('ada', 'good');
  await vote('ada', 'bad', { job: 'j2', model: 'other', day: '2026-11-16' });
  await vote('bob', 'bad', { job: 'j2', model: 'other', day: '2026-11-16' });
  await vote('ada', 'bad', { job: 'j0', day: '2026-11-15' });
  expect(await week()).toEqual([
    { model: 'other', good: 0, bad: 2 },
    { model: 'chat-small', good: 1, bad: 0 },
  ]);
  expect(await week({ ...HERE, guild: 'another' })).toEqual([]);
  expect(await feedback.summary({ platform: 'slack', channel: 'music' }, '2026-11-16', 7)).toEqual([]);
});

it('a forgotten person’s votes and old votes are erased', async () => {
  await vote('ada', 'good');
  await vote('bob', 'bad');
  await vote('bob', 'bad', { job: 'j0', day: '2026-11-15' });
  await feedback.forget('discord', 'ada');
  await feedback.forget('slack', 'ada');
  expect(await Array.fromAsync(exportLines(storage))).not.toContainEqual(expect.stringContaining('ada'));
  expect(await week()).toEqual([{ model: 'chat-small', good: 0, bad: 1 }]);
  await feedback.prune(DAY);
  expect(await Array.fromAsync(storage.settings.keys())).toHaveLength(1);
  expect(await week()).toHaveLength(1);
});

it('votes move to another storage', async () => {
  await vote('ada', 'good');
  const lines = await Array.fromAsync(exportLines(storage));
  const { storage: other } = await memoryStorage();
  await importLines(async function* () {
    yield* lines;
  }, other);
  expect(await createFeedback(other).summary(HERE, DAY, 1)).toEqual([
    { model: 'chat-small', good: 1, bad: 0 },
  ]);
  await other.close();
});

it('votes of a newer version are not overwritten', async () => {
  await vote('ada', 'good');
  const [key = ''] = await Array.fromAsync(storage.settings.keys());
  await storage.settings.set(key, { version: 2, answers: 'otherwise' });
  await expect(vote('bob', 'bad')).rejects.toThrow('This version');
});
