import { expect, test } from 'vitest';
import type { Job } from '../../src/core/job.ts';
import { oneSong, songJob } from '../storage/jobs.ts';
import type { StorageUnderTest } from './storage.ts';

const channel = { platform: 'discord', channel: 'channel' };

async function createJobs(current: StorageUnderTest, ...jobs: Job[]): Promise<void> {
  for (const job of jobs) expect(await current.storage.jobs.create(job)).toBe(true);
}

async function openJobs(current: StorageUnderTest): Promise<string[]> {
  const ids: string[] = [];
  for await (const id of current.storage.jobs.open()) ids.push(id);
  return ids.sort();
}

export function jobRecordContract(current: StorageUnderTest): void {
  test('reads a job as it was created, even after a restart', async () => {
    const job = songJob({
      id: 'a',
      title: 'Regen für “Ada” \u0000 🎵',
      result: oneSong('Rain'),
      posted: { x: [1, null] },
    });
    await createJobs(current, job);
    expect(await current.storage.jobs.read('a')).toEqual(job);
    await current.reopen();
    expect(await current.storage.jobs.read('a')).toEqual(job);
  });

  test('preserves unknown fields from a newer version', async () => {
    const job = songJob({ id: 'a' });
    const newer = { ...job, colour: 'blue', address: { ...job.address, floor: 3 } };
    await createJobs(current, newer);
    const read = await current.storage.jobs.read('a');
    expect(read).toEqual(newer);
    await current.storage.jobs.replace({ ...job, ...read, state: 'submitting' });
    expect(await current.storage.jobs.read('a')).toEqual({ ...newer, version: 2, state: 'submitting' });
  });

  test('returns undefined for an unknown job', async () => {
    expect(await current.storage.jobs.read('unknown')).toBeUndefined();
  });

  test('creates the same id once', async () => {
    await createJobs(current, songJob({ id: 'a' }));
    expect(await current.storage.jobs.create(songJob({ id: 'a', invocation: 'other', title: 'other' }))).toBe(
      false,
    );
    expect(await current.storage.jobs.read('a')).toEqual(songJob({ id: 'a' }));
  });

  test('creates one job per invocation, and leaves nothing behind otherwise', async () => {
    await createJobs(current, songJob({ id: 'a', invocation: 'same' }));
    expect(await current.storage.jobs.create(songJob({ id: 'b', invocation: 'same' }))).toBe(false);
    expect(await current.storage.jobs.read('b')).toBeUndefined();
    expect(await openJobs(current)).toEqual(['a']);
    expect(await current.storage.jobs.running(channel, 'ada')).toHaveLength(1);
  });

  test('finds a job by its invocation', async () => {
    await createJobs(current, songJob({ id: 'a', invocation: 'discord:1' }));
    expect(await current.storage.jobs.ofInvocation('discord:1')).toMatchObject({ id: 'a' });
    expect(await current.storage.jobs.ofInvocation('discord:2')).toBeUndefined();
  });

  test('creates one job from concurrent requests with one invocation', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        current.storage.jobs.create(songJob({ id: `job${index}`, invocation: 'same' })),
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await openJobs(current)).toHaveLength(1);
  });

  test('replacing increments the version and returns the stored record', async () => {
    await createJobs(current, songJob({ id: 'a' }));
    const written = await current.storage.jobs.replace(songJob({ id: 'a', state: 'submitting' }));
    expect(written).toEqual(songJob({ id: 'a', state: 'submitting', version: 2 }));
    expect(await current.storage.jobs.read('a')).toEqual(written);
  });

  test('replacing an older version changes nothing', async () => {
    await createJobs(current, songJob({ id: 'a' }));
    await current.storage.jobs.replace(songJob({ id: 'a', state: 'submitting' }));
    expect(await current.storage.jobs.replace(songJob({ id: 'a', state: 'failed' }))).toBeUndefined();
    expect(await current.storage.jobs.read('a')).toMatchObject({ state: 'submitting', version: 2 });
    expect(await openJobs(current)).toEqual(['a']);
  });

  test('replacing an unknown job changes nothing', async () => {
    expect(await current.storage.jobs.replace(songJob({ id: 'a' }))).toBeUndefined();
    expect(await current.storage.jobs.read('a')).toBeUndefined();
  });

  test('stores exactly one of several concurrent replacements', async () => {
    await createJobs(current, songJob({ id: 'a' }));
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        current.storage.jobs.replace(songJob({ id: 'a', title: `writer ${index}` })),
      ),
    );
    const winners = results.filter((job) => job !== undefined);
    expect(winners).toHaveLength(1);
    expect(await current.storage.jobs.read('a')).toEqual(winners[0]);
  });

  test('compare-and-set loses no updates', async () => {
    await createJobs(current, songJob({ id: 'a' }));
    const count = async () => {
      for (;;) {
        const job = await current.storage.jobs.read('a');
        if (job && (await current.storage.jobs.replace({ ...job, polls: job.polls + 1 }))) return;
      }
    };
    await Promise.all(Array.from({ length: 20 }, count));
    expect(await current.storage.jobs.read('a')).toMatchObject({ polls: 20, version: 21 });
  });
}

export function jobQueryContract(current: StorageUnderTest): void {
  test('lists all jobs, including finished ones', async () => {
    const manyJobs = Array.from({ length: 30 }, (_, index) => songJob({ id: `job${index}` }));
    await createJobs(current, ...manyJobs, songJob({ id: 'done', state: 'delivered', finishedAt: 9_000 }));
    const ids = (await Array.fromAsync(current.storage.jobs.all())).map(({ id }) => id);
    expect(ids.toSorted()).toEqual([...manyJobs.map(({ id }) => id), 'done'].toSorted());
  });

  test('erases a job from all lists, with everything stored for it', async () => {
    const { jobs, inbox } = current.storage;
    const done = songJob({
      id: 'gone',
      state: 'delivered',
      submittedAt: 1_000,
      finishedAt: 9_000,
      result: oneSong('rain'),
    });
    await createJobs(current, done, songJob({ id: 'stays', state: 'delivered', result: oneSong('wind') }));
    await current.storage.receive({ job: 'gone', body: 'a callback', receivedAt: 1 });
    await jobs.erase('gone');
    await jobs.erase('gone');
    expect(await jobs.read('gone')).toBeUndefined();
    expect(await inbox.read('gone', 0)).toEqual([]);
    expect((await Array.fromAsync(jobs.all())).map(({ id }) => id)).toEqual(['stays']);
    expect((await jobs.recentSongs(done.address, 10)).map(({ id }) => id)).toEqual(['stays']);
    expect(await jobs.recentDurations({ route: 'music.generate' }, 10)).toHaveLength(0);
    expect(await jobs.create(done)).toBe(true);
  });

  test('does not erase a job that has changed', async () => {
    const { jobs, inbox } = current.storage;
    const done = songJob({ id: 'shown', state: 'cancelled' });
    await createJobs(current, done);
    await current.storage.receive({ job: 'shown', body: 'a callback', receivedAt: 1 });
    await jobs.replace({ ...done, state: 'ready' });
    expect(await jobs.erase('shown', done.version)).toBe(false);
    expect(await jobs.read('shown')).toMatchObject({ state: 'ready' });
    expect(await inbox.read('shown', 0)).toHaveLength(1);
    expect(await Array.fromAsync(jobs.open())).toEqual(['shown']);
    expect(await jobs.erase('shown', done.version + 1)).toBe(true);
    expect(await jobs.erase('shown', done.version + 1)).toBe(false);
    expect(await Array.fromAsync(jobs.open())).toEqual([]);
  });

  test('running: the open jobs of one person in one channel, oldest first', async () => {
    const elsewhere = { platform: 'discord', channel: 'elsewhere', person: 'ada' };
    const bob = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };
    await createJobs(
      current,
      songJob({ id: 'newest', createdAt: 3_000, state: 'ready' }),
      songJob({ id: 'oldest', createdAt: 1_000, state: 'waiting' }),
      songJob({ id: 'middle', createdAt: 2_000, state: 'submitting' }),
      songJob({ id: 'done', createdAt: 1_500, state: 'delivered', finishedAt: 9_000 }),
      songJob({ id: 'elsewhere', address: elsewhere }),
      songJob({ id: 'slack', address: { ...elsewhere, platform: 'slack', channel: 'channel' } }),
      songJob({ id: 'bob', person: bob }),
    );
    const ids = (await current.storage.jobs.running(channel, 'ada')).map(({ id }) => id);
    expect(ids).toEqual(['oldest', 'middle', 'newest']);
  });

  test('running: without a channel, the open jobs of the person on the whole platform', async () => {
    const inChannel = (name: string) => ({ platform: 'discord', channel: name, person: 'ada' });
    const similar = { id: 'x:ada', displayName: 'X', moderator: false, roles: [] };
    await createJobs(
      current,
      songJob({ id: 'second', createdAt: 2_000, address: inChannel('here') }),
      songJob({ id: 'first', createdAt: 1_000, address: inChannel('there') }),
      songJob({ id: 'done', state: 'delivered', address: inChannel('here') }),
      songJob({ id: 'slack', address: { ...inChannel('here'), platform: 'slack' } }),
      songJob({ id: 'similar', person: similar, address: inChannel('here') }),
    );
    const ids = (await current.storage.jobs.running({ platform: 'discord' }, 'ada')).map(({ id }) => id);
    expect(ids).toEqual(['first', 'second']);
  });

  test('finds the jobs of a person and the jobs that ended before a time', async () => {
    const bob = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };
    const slack = { platform: 'slack', channel: 'channel', person: 'bob' };
    const manyJobs = Array.from({ length: 120 }, (_, index) =>
      songJob({ id: `job${index}`, state: 'delivered', createdAt: 1, finishedAt: 5_000 + (index % 60) }),
    );
    await createJobs(
      current,
      ...manyJobs,
      songJob({ id: 'bob1', person: bob, createdAt: 1 }),
      songJob({ id: 'bob2', person: bob, state: 'failed', createdAt: 1 }),
      songJob({ id: 'bob3', person: bob, address: slack, state: 'delivered', finishedAt: 9_000 }),
    );
    const { jobs } = current.storage;
    const idsOf = async (found: AsyncIterable<{ id: string }>) =>
      (await Array.fromAsync(found)).map(({ id }) => id).toSorted();
    expect(await idsOf(jobs.ofPerson('discord', 'bob'))).toEqual(['bob1', 'bob2']);
    expect(await idsOf(jobs.ofPerson('discord', 'ada'))).toHaveLength(120);
    expect(await idsOf(jobs.endedBefore(5_000))).toEqual(['bob2']);
    expect(await idsOf(jobs.endedBefore(5_059))).toHaveLength(119);
    expect(await idsOf(jobs.records())).toHaveLength(123);
  });

  test('running: excludes a job once it ends', async () => {
    await createJobs(current, songJob({ id: 'a' }));
    await current.storage.jobs.replace(songJob({ id: 'a', state: 'cancelled', finishedAt: 2_000 }));
    expect(await current.storage.jobs.running(channel, 'ada')).toEqual([]);
  });

  test('finds a moved job only at its new location', async () => {
    const moved = { platform: 'discord', channel: 'direct', person: 'ada' };
    await createJobs(current, songJob({ id: 'a', state: 'ready', result: oneSong('Rain') }));
    await current.storage.jobs.replace(
      songJob({ id: 'a', state: 'ready', result: oneSong('Rain'), address: moved }),
    );
    for (const [where, found] of [[channel, 0] as const, [moved, 1] as const]) {
      expect(await current.storage.jobs.running(where, 'ada')).toHaveLength(found);
      expect(await current.storage.jobs.recentSongs(where, 5)).toHaveLength(found);
    }
  });

  test('separates names that look like parts of keys', async () => {
    const location = (platform: string, name: string) => ({ platform, channel: name, person: 'ada' });
    await createJobs(
      current,
      songJob({ id: 'a', address: location('discord', 'x:ada') }),
      songJob({ id: 'b', address: location('discord:x', 'ada') }),
    );
    const found = await current.storage.jobs.running(location('discord', 'x:ada'), 'ada');
    expect(found.map(({ id }) => id)).toEqual(['a']);
  });

  test('undelivered: results that could not be shown anywhere, newest first, from all channels', async () => {
    const elsewhere = { platform: 'discord', channel: 'elsewhere', person: 'ada' };
    const bob = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };
    const undelivered = { state: 'delivered', undelivered: true } as const;
    await createJobs(
      current,
      songJob({ id: 'older', createdAt: 1_000, ...undelivered }),
      songJob({ id: 'newer', createdAt: 2_000, ...undelivered, address: elsewhere }),
      songJob({ id: 'shown', state: 'delivered' }),
      songJob({ id: 'bob', ...undelivered, person: bob }),
      songJob({ id: 'slack', ...undelivered, address: { ...elsewhere, platform: 'slack' } }),
    );
    const ids = async (limit: number) =>
      (await current.storage.jobs.undelivered('discord', 'ada', limit)).map(({ id }) => id);
    expect(await ids(10)).toEqual(['newer', 'older']);
    expect(await ids(1)).toEqual(['newer']);
    const { undelivered: _, ...shown } = songJob({ id: 'newer', createdAt: 2_000, ...undelivered });
    await current.storage.jobs.replace({ ...shown, state: 'ready' });
    expect(await ids(10)).toEqual(['older']);
    await current.storage.jobs.erase('older');
    expect(await ids(10)).toEqual([]);
  });

  test('recentSongs: the newest songs of the channel first, up to a limit', async () => {
    await createJobs(
      current,
      songJob({ id: 'second', createdAt: 2_000, state: 'delivered', result: oneSong('two') }),
      songJob({ id: 'third', createdAt: 3_000, state: 'ready', result: oneSong('three') }),
      songJob({ id: 'first', createdAt: 1_000, state: 'failed', result: oneSong('one') }),
      songJob({
        id: 'none',
        createdAt: 4_000,
        state: 'delivered',
        result: { ...oneSong(''), songs: [] },
      }),
      songJob({ id: 'partial', createdAt: 5_000, state: 'waiting', result: oneSong('half') }),
      songJob({
        id: 'elsewhere',
        createdAt: 6_000,
        state: 'delivered',
        result: oneSong('other'),
        address: { platform: 'discord', channel: 'elsewhere', person: 'ada' },
      }),
    );
    const ids = async (limit: number) =>
      (await current.storage.jobs.recentSongs(channel, limit)).map(({ id }) => id);
    expect(await ids(10)).toEqual(['third', 'second', 'first']);
    expect(await ids(2)).toEqual(['third', 'second']);
  });

  test('recentSongs: includes a job once its songs are complete', async () => {
    await createJobs(current, songJob({ id: 'a', state: 'waiting', result: oneSong('Rain') }));
    expect(await current.storage.jobs.recentSongs(channel, 5)).toEqual([]);
    await current.storage.jobs.replace(songJob({ id: 'a', state: 'ready', result: oneSong('Rain') }));
    expect(await current.storage.jobs.recentSongs(channel, 5)).toHaveLength(1);
  });

  test('recentSongs: leaves out a hidden song until others may see it', async () => {
    const song = songJob({ id: 'a', state: 'delivered', result: oneSong('Rain'), hidden: true });
    await createJobs(current, song);
    expect(await current.storage.jobs.recentSongs(channel, 5)).toEqual([]);
    await current.storage.jobs.replace({ ...song, hidden: false });
    expect(await current.storage.jobs.recentSongs(channel, 5)).toHaveLength(1);
  });

  test('recentServerSongs: the newest songs of all channels of a server, without direct messages', async () => {
    const { jobs } = current.storage;
    const at = (name: string, more: Partial<Job['address']> = {}) => ({
      platform: 'discord',
      guild: 'guild',
      channel: name,
      person: 'ada',
      ...more,
    });
    const song = (id: string, createdAt: number, address: Job['address']) =>
      songJob({ id, createdAt, state: 'delivered', result: oneSong(id), address });
    await createJobs(
      current,
      song('first', 1_000, at('here')),
      song('second', 2_000, at('there')),
      song('third', 3_000, at('here')),
      song('other', 4_000, at('here', { guild: 'other' })),
      song('slack', 5_000, at('here', { platform: 'slack' })),
      song('direct', 6_000, at('alone', { direct: true })),
      song('no server', 7_000, { platform: 'discord', channel: 'here', person: 'ada' }),
      songJob({ id: 'waiting', createdAt: 8_000, state: 'waiting', address: at('here') }),
    );
    const ids = async (limit: number) =>
      (await jobs.recentServerSongs({ platform: 'discord', guild: 'guild' }, limit)).map(({ id }) => id);
    expect(await ids(10)).toEqual(['third', 'second', 'first']);
    expect(await ids(2)).toEqual(['third', 'second']);
    expect(await ids(0)).toEqual([]);
    await jobs.erase('third');
    await jobs.replace(song('second', 2_000, at('there', { guild: 'other' })));
    expect(await ids(10)).toEqual(['first']);
  });

  test('openCounts: open jobs by route and state, with the number in the queue and the oldest', async () => {
    expect(await current.storage.jobs.openCounts()).toEqual([]);
    await createJobs(
      current,
      songJob({ id: 'a', createdAt: 3_000.5 }),
      songJob({ id: 'b', createdAt: 2_000, queuePosition: 4 }),
      songJob({ id: 'c', createdAt: 9_000, state: 'waiting' }),
      songJob({ id: 'd', createdAt: 1_000, state: 'delivered', end: 'delivered', finishedAt: 2_000 }),
    );
    const counts = await current.storage.jobs.openCounts();
    expect(counts.toSorted((a, b) => a.oldestAt - b.oldestAt)).toEqual([
      { route: 'music.generate', state: 'accepted', count: 2, queued: 1, oldestAt: 2_000 },
      { route: 'music.generate', state: 'waiting', count: 1, queued: 0, oldestAt: 9_000 },
    ]);
  });

  test('open: all open jobs of all channels', async () => {
    const ids = Array.from({ length: 1_203 }, (_, index) => `job${index}`);
    await Promise.all(ids.map((id) => current.storage.jobs.create(songJob({ id }))));
    await current.storage.jobs.replace(songJob({ id: 'job7', state: 'expired' }));
    expect(await openJobs(current)).toEqual(ids.filter((id) => id !== 'job7').sort());
  });

  test('recentDurations: videos by model', async () => {
    const { jobs } = current.storage;
    const videos = [
      ['a', 'reel', 20],
      ['b', 'film', 90],
      ['c', 'reel', 30],
    ] as const;
    for (const [index, [id, model, seconds]] of videos.entries()) {
      await jobs.create(
        songJob({
          id,
          state: 'delivered',
          work: { route: 'media.video', request: { model, prompt: 'rain' } },
          submittedAt: 1_000,
          endedAt: 1_000 + seconds * 1_000,
          finishedAt: 200_000 + index,
        }),
      );
    }
    expect(await jobs.recentDurations({ route: 'media.video', model: 'reel' }, 10)).toEqual([30_000, 20_000]);
    expect(await jobs.recentDurations({ route: 'media.video', model: 'reel' }, 1)).toEqual([30_000]);
    expect(await jobs.recentDurations({ route: 'media.video', model: 'new' }, 10)).toEqual([]);
  });

  test('recentDurations: from the start of the progress to the end at the gateway, latest delivery first', async () => {
    await createJobs(
      current,
      songJob({ id: 'a', state: 'delivered', createdAt: 0, submittedAt: 1_000, finishedAt: 60_000 }),
      songJob({
        id: 'b',
        state: 'delivered',
        createdAt: 0,
        // It waited in the queue, then its lyrics were written before the song was requested.
        startedAt: 5_000,
        submittedAt: 50_000,
        endedAt: 95_000,
        finishedAt: 900_000,
      }),
      songJob({ id: 'c', state: 'delivered', createdAt: 0, finishedAt: 30_000 }),
      songJob({ id: 'd', state: 'failed', createdAt: 0, submittedAt: 1_000, finishedAt: 99_000 }),
      songJob({ id: 'e', state: 'waiting', createdAt: 0, submittedAt: 1_000 }),
      songJob({
        id: 'f',
        state: 'delivered',
        submittedAt: 1_000,
        finishedAt: 2_000,
        work: { route: 'music.wavGenerate', request: { taskId: 't', audioId: 'a' } },
      }),
    );
    expect(await current.storage.jobs.recentDurations({ route: 'music.generate' }, 10)).toEqual([
      90_000, 60_000, 30_000,
    ]);
    expect(await current.storage.jobs.recentDurations({ route: 'music.generate' }, 1)).toEqual([90_000]);
    expect(await current.storage.jobs.recentDurations({ route: 'media.video', model: 'film' }, 10)).toEqual(
      [],
    );
  });
}
