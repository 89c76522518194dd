import { expect, test } from 'vitest';
import { INBOX_LIMIT, StorageError } from '../../src/storage/storage.ts';
import { songJob } from '../storage/jobs.ts';
import type { StorageUnderTest } from './storage.ts';

/** Receiving stores a callback and schedules its job in one transaction. */
export function receiveContract(current: StorageUnderTest): void {
  const receive = (job: string, body: string, receivedAt = Date.now()) =>
    current.storage.receive({ job, body, receivedAt });
  const bodies = async (job: string) => (await current.storage.inbox.read(job, 0)).map(({ body }) => body);

  /** Runs jobs; resolves to the live list of runs. */
  async function startRuns(): Promise<string[]> {
    const run: string[] = [];
    await current.storage.schedule.start(
      async (job) => {
        run.push(job);
        return undefined;
      },
      { concurrency: 1 },
    );
    return run;
  }

  test('stores a callback and makes its job due, even after a restart', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    await current.storage.schedule.add('a', Date.now() + 3_600_000);
    expect(await receive('a', 'first')).toBe('stored');
    await current.reopen();
    expect(await bodies('a')).toEqual(['first']);
    const run = await startRuns();
    await expect.poll(() => run).toEqual(['a']);
  });

  test('runs a job without a timer again', async () => {
    await current.storage.jobs.create(songJob({ id: 'a', state: 'delivered' }));
    const run = await startRuns();
    expect(await receive('a', 'late')).toBe('stored');
    await expect.poll(() => run).toEqual(['a']);
    expect(await bodies('a')).toEqual(['late']);
  });

  test('runs a job again if a callback arrives during a run', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    const read: string[][] = [];
    await current.storage.schedule.start(
      async (job) => {
        read.push(await bodies(job));
        if (read.length === 1) await receive(job, 'second');
        return undefined;
      },
      { concurrency: 1 },
    );
    await receive('a', 'first');
    await expect.poll(() => read).toEqual([['first'], ['first', 'second']]);
  });

  test('stores nothing for an unknown job', async () => {
    expect(await receive('nobody', 'body')).toBe('unknown-job');
    expect(await bodies('nobody')).toEqual([]);
    expect(await current.storage.schedule.unscheduled(['nobody'])).toEqual(['nobody']);
  });

  test('stores the same body once and makes its job due again', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    const answers = await Promise.all(Array.from({ length: 100 }, () => receive('a', 'same')));
    expect(new Set(answers)).toEqual(new Set(['stored']));
    expect(await bodies('a')).toEqual(['same']);
    const run = await startRuns();
    await expect.poll(() => run.length).toBeGreaterThan(0);
    const before = run.length;
    await receive('a', 'same');
    await expect.poll(() => run.length).toBe(before + 1);
  });

  test('returns a separate result for each concurrent callback', async () => {
    for (const id of ['a', 'b']) await current.storage.jobs.create(songJob({ id }));
    const jobs = ['a', 'nobody', 'b'];
    expect(await Promise.all(jobs.map((job) => receive(job, 'body')))).toEqual([
      'stored',
      'unknown-job',
      'stored',
    ]);
  });

  test('a full inbox drops callbacks but still makes its job due', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    const results = Array.from({ length: INBOX_LIMIT + 1 }, (_, index) => receive('a', `body ${index}`));
    expect(new Set(await Promise.all(results))).toEqual(new Set(['stored']));
    expect(await bodies('a')).toHaveLength(INBOX_LIMIT);
    const run = await startRuns();
    await expect.poll(() => run).toEqual(['a']);
  });

  test('erases the callbacks of an erased job, and starts again if the job is created again', async () => {
    for (let time = 0; time < 2; time += 1) {
      await current.storage.jobs.create(songJob({ id: 'a' }));
      for (const body of ['one', 'two']) await receive('a', body);
      expect(await bodies('a')).toEqual(['one', 'two']);
      await current.storage.jobs.erase('a');
      expect(await bodies('a')).toEqual([]);
    }
  });

  test('rejects an invalid time', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    await expect(receive('a', 'body', Number.NaN)).rejects.toThrow(RangeError);
    expect(await bodies('a')).toEqual([]);
  });

  test('rejects after close', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    const closed = current.storage;
    await current.reopen();
    await expect(closed.receive({ job: 'a', body: 'body', receivedAt: 1 })).rejects.toThrow(StorageError);
    expect(await bodies('a')).toEqual([]);
  });
}
