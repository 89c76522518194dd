import { expect, test } from 'vitest';
import { createPageSource } from '../../../src/app/routes/page-source.ts';
import type { Job } from '../../../src/core/job.ts';
import { createContestStore } from '../../../src/settings/contests/contests.ts';
import { createDecisionStore } from '../../../src/settings/decisions.ts';
import { memoryStorage } from '../../settings/memory-storage.ts';
import { songJob } from '../../storage/jobs.ts';

const ADDRESS = { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada', public: true };
const FILE = { name: 'cover.png', bytes: 10, contentType: 'image/png' };

/** Loads the page of a job. Only the file `cover.png` is stored. */
async function visit(fields: Partial<Job>) {
  const { storage, clock } = await memoryStorage();
  const job = songJob({ id: 'job', address: ADDRESS, options: { prompt: 'a tune for rain' }, ...fields });
  const source = createPageSource({
    storage: { jobs: { ...storage.jobs, read: async () => job, recentSongs: async () => [] } },
    media: { stat: async (name) => (name === FILE.name ? FILE : undefined), path: (name) => `files/${name}` },
    decisions: createDecisionStore({ store: storage.settings, now: clock.now, newId: () => 'id' }),
    contests: createContestStore(storage),
    pathOf: ({ id }) => `songs/${id}/signature`,
  });
  return { page: await source.song('job'), isOpen: await source.isOpen('job') };
}

test('a song that is being created has a page with its progress', async () => {
  const { page, isOpen } = await visit({ state: 'waiting', startedAt: 5_000, estimateMs: 90_000 });
  expect(page).toMatchObject({
    title: 'a tune for rain',
    progress: { stage: 'Composing', startedAt: 5_000, estimateMs: 90_000 },
    takes: [],
  });
  expect(isOpen).toBe(true);
});

test('a song in the queue has no estimate', async () => {
  const { page } = await visit({ queuePosition: 2, estimateMs: 90_000 });
  expect(page).toMatchObject({ progress: { stage: 'Waiting for its turn', startedAt: 1_000 } });
  expect(page).not.toHaveProperty('progress.estimateMs');
});

test('shows the title, the cover and the lyrics as soon as they are known', async () => {
  const song = { audioId: 'a', title: 'Rain', imageUrl: 'https://files.example/1', lyrics: 'Rain on me' };
  const { page } = await visit({
    state: 'waiting',
    result: { songs: [song], lyrics: [], images: [], stems: [] },
    stored: { 'https://files.example/1': FILE },
  });
  expect(page).toMatchObject({
    title: 'Rain',
    lyrics: 'Rain on me',
    cover: { path: 'files/cover.png' },
    progress: { stage: 'Composing' },
  });
});

test.each<[string, Partial<Job>, string]>([
  ['a failed song', { state: 'failed', end: 'failed' }, 'failed'],
  ['a cancelled song', { state: 'cancelled', end: 'cancelled' }, 'failed'],
  ['a song in a private channel', { state: 'waiting', address: { ...ADDRESS, public: false } }, 'off'],
  ['a song whose page was removed', { state: 'waiting', pageWithdrawn: true }, 'withdrawn'],
  [
    'other work',
    { state: 'waiting', work: { route: 'music.generateLyrics', request: { prompt: 'rain' } } },
    'erased',
  ],
])('%s has no page', async (_, fields, reason) => {
  expect(await visit(fields)).toEqual({ page: reason, isOpen: false });
});
