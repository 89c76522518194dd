import { expect, test } from 'vitest';
import { INBOX_MOST, StorageError } from '../../src/storage/storage.ts';
import { songJob } from '../storage/jobs.ts';
import type { StorageUnderTest } from './storage.ts';

/** A callback and the run that reads it: both or nothing. */
export function receiveContract(current: StorageUnderTest): void {
  const receive = (job: string, body: string, receivedAt = Date.now()) =>
    current.storage.receive({ job, body, receivedAt });
  const bodies = async (job: string) => (await current.storage.inbox.read(job, 0)).map(({ body }) => body);

  /** Runs jobs; resolves to what has run so far. */
  async function running(): Promise<string[]> {
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

  test('what was received is kept and its job due, also after a restart', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    await current.storage.schedule.add('a', Date.now() + 3_600_000);
    expect(await receive('a', 'first')).toBe('stored');
    await current.reopen();
    expect(await bodies('a')).toEqual(['first']);
    const run = await running();
    await expect.poll(() => run).toEqual(['a']);
  });

  test('a job that has no timer any more runs again', async () => {
    await current.storage.jobs.create(songJob({ id: 'a', state: 'delivered' }));
    const run = await running();
    expect(await receive('a', 'late')).toBe('stored');
    await expect.poll(() => run).toEqual(['a']);
    expect(await bodies('a')).toEqual(['late']);
  });

  test('a job that runs while its callback comes runs once more', async () => {
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

  test('what names no job leaves nothing behind', async () => {
    expect(await receive('nobody', 'body')).toBe('unknown-job');
    expect(await bodies('nobody')).toEqual([]);
    expect(await current.storage.schedule.unscheduled(['nobody'])).toEqual(['nobody']);
  });

  test('the same body is kept once, and its job due again', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    const answers = await Promise.all(Array.from({ length: 100 }, () => receive('a', 'same')));
    expect(new Set(answers)).toEqual(new Set(['stored']));
    expect(await bodies('a')).toEqual(['same']);
    const run = await running();
    await expect.poll(() => run.length).toBeGreaterThan(0);
    const before = run.length;
    await receive('a', 'same');
    await expect.poll(() => run.length).toBe(before + 1);
  });

  test('of those that come at once, each has its own answer', async () => {
    for (const id of ['a', 'b']) await current.storage.jobs.create(songJob({ id }));
    const jobs = ['a', 'nobody', 'b'];
    expect(await Promise.all(jobs.map((job) => receive(job, 'body')))).toEqual([
      'stored',
      'unknown-job',
      'stored',
    ]);
  });

  test('an inbox that is full takes no more, and its job is due all the same', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    const sent = Array.from({ length: INBOX_MOST + 1 }, (_, index) => receive('a', `body ${index}`));
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['stored']));
    expect(await bodies('a')).toHaveLength(INBOX_MOST);
    const run = await running();
    await expect.poll(() => run).toEqual(['a']);
  });

  test('what came for an erased job is gone with it, and begins anew if the job does', async () => {
    for (let time = 0; time < 2; time += 1) {
      await current.storage.jobs.create(songJob({ id: 'a' }));
      for (const body of ['one', 'two']) await receive('a', body);
      expect(await bodies('a')).toEqual(['one', 'two']);
      await current.storage.jobs.erase('a');
      expect(await bodies('a')).toEqual([]);
    }
  });

  test('a time that is no number is refused', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    await expect(receive('a', 'body', Number.NaN)).rejects.toThrow(RangeError);
    expect(await bodies('a')).toEqual([]);
  });

  test('after close it rejects', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    const closed = current.storage;
    await current.reopen();
    await expect(closed.receive({ job: 'a', body: 'body', receivedAt: 1 })).rejects.toThrow(StorageError);
    expect(await bodies('a')).toEqual([]);
  });
}
