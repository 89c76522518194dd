import { expect, test } from 'vitest';
import { type Acceptance, StorageError } from '../../src/storage/storage.ts';
import type { Ceiling } from '../../src/storage/usage.ts';
import { songJob } from '../storage/jobs.ts';
import type { StorageUnderTest } from './storage.ts';

const NOON = Date.parse('2026-03-10T12:00:00Z');
const DAY = 24 * 3_600_000;
const COUNTERS = ['person ada', 'server'];

const daily = (most: number, more: Partial<Ceiling> = {}): Ceiling => ({
  counter: 'person ada',
  windowMs: DAY,
  of: 'requests',
  most,
  ...more,
});

interface AcceptFields {
  readonly id: string;
  readonly invocation?: string;
  readonly ceilings?: readonly Ceiling[];
  readonly units?: number;
  readonly at?: number;
}

function acceptance({
  id,
  invocation = id,
  ceilings = [],
  units = 0,
  at = Date.now(),
}: AcceptFields): Acceptance {
  return {
    job: songJob({ id, invocation }),
    reservation: {
      id: invocation,
      at: NOON,
      units,
      counters: COUNTERS,
      facts: { platform: 'discord', guild: 'guild', person: 'ada', displayName: 'Ada', family: 'song' },
    },
    ceilings,
    at,
    now: NOON,
  };
}

/** Accepting checks limits, stores the job and schedules its first run in one transaction. */
export function acceptContract(current: StorageUnderTest): void {
  const accept = (fields: AcceptFields) => current.storage.accept(acceptance(fields));
  const used = () => current.storage.usage.used('server', NOON - DAY);

  async function openJobs(): Promise<string[]> {
    const ids: string[] = [];
    for await (const id of current.storage.jobs.open()) ids.push(id);
    return ids.sort();
  }

  test('an accepted job is stored, counted and scheduled, even after a restart', async () => {
    expect(await accept({ id: 'a', ceilings: [daily(1)], units: 2.5 })).toEqual({ type: 'accepted' });
    await current.reopen();
    expect(await current.storage.jobs.read('a')).toEqual(songJob({ id: 'a', invocation: 'a' }));
    expect(await used()).toEqual({ requests: 1, units: 2.5 });
    expect(await current.storage.schedule.unscheduled(['a'])).toEqual([]);
    const run: string[] = [];
    await current.storage.schedule.start(
      async (job) => {
        run.push(job);
        return undefined;
      },
      { concurrency: 1 },
    );
    await expect.poll(() => run).toEqual(['a']);
  });

  test('runs for the first time at the requested time', async () => {
    const run: number[] = [];
    await current.storage.schedule.start(
      async () => {
        run.push(Date.now());
        return undefined;
      },
      { concurrency: 1 },
    );
    const at = Date.now() + 400;
    await accept({ id: 'a', at });
    await expect.poll(() => run).toHaveLength(1);
    expect(run[0]).toBeGreaterThanOrEqual(at - 1);
  });

  test('a refusal leaves nothing behind', async () => {
    await accept({ id: 'a', ceilings: [daily(1)] });
    expect(await accept({ id: 'b', ceilings: [daily(5), daily(1, { counter: 'server' })] })).toEqual({
      type: 'refused',
      ceiling: 1,
      freesAt: NOON + DAY,
    });
    expect(await current.storage.jobs.read('b')).toBeUndefined();
    expect(await openJobs()).toEqual(['a']);
    expect(await used()).toEqual({ requests: 1, units: 0 });
    expect(await accept({ id: 'c', invocation: 'b' }), 'its invocation is unknown').toEqual({
      type: 'accepted',
    });
  });

  test('accepts one of two concurrent requests for the last free slot', async () => {
    const answers = await Promise.all(['a', 'b'].map((id) => accept({ id, ceilings: [daily(1)] })));
    expect(answers.map(({ type }) => type).sort()).toEqual(['accepted', 'refused']);
    expect(await openJobs()).toHaveLength(1);
    expect(await used()).toEqual({ requests: 1, units: 0 });
  });

  test('limits in units count what the job costs', async () => {
    const ceilings = [daily(10, { of: 'units' })];
    expect(await accept({ id: 'a', ceilings, units: 7.5 })).toEqual({ type: 'accepted' });
    expect(await accept({ id: 'b', ceilings, units: 5 })).toMatchObject({ type: 'refused', ceiling: 0 });
    expect(await accept({ id: 'c', ceilings, units: 2.5 })).toEqual({ type: 'accepted' });
    expect(await used()).toEqual({ requests: 2, units: 10 });
  });

  test('the same invocation is accepted once, and counted once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => accept({ id: `job${index}`, invocation: 'same' })),
    );
    expect(answers.filter(({ type }) => type === 'accepted')).toHaveLength(1);
    const [stored] = await openJobs();
    expect(answers.filter(({ type }) => type === 'known')).toEqual(
      Array(19).fill({ type: 'known', job: stored }),
    );
    await current.reopen();
    expect(await accept({ id: 'late', invocation: 'same', ceilings: [daily(0)] })).toEqual({
      type: 'known',
      job: stored,
    });
    expect(await openJobs()).toHaveLength(1);
    expect(await used()).toEqual({ requests: 1, units: 0 });
  });

  test('the same id is accepted once and stays unchanged', async () => {
    await accept({ id: 'a' });
    expect(await accept({ id: 'a', invocation: 'another' })).toEqual({ type: 'known', job: 'a' });
    expect(await current.storage.jobs.read('a')).toMatchObject({ invocation: 'a' });
    expect(await used()).toEqual({ requests: 1, units: 0 });
  });

  test('a reservation without a job counts once', async () => {
    await current.storage.usage.settle(acceptance({ id: 'a' }).reservation, 'yes');
    expect(await accept({ id: 'a', ceilings: [daily(1)] })).toEqual({ type: 'accepted' });
    expect(await used()).toEqual({ requests: 1, units: 0 });
  });

  test('rejects an invalid time', async () => {
    await expect(accept({ id: 'a', at: Number.NaN })).rejects.toThrow(RangeError);
    expect(await openJobs()).toEqual([]);
  });

  test('rejects after close', async () => {
    const closed = current.storage;
    await current.reopen();
    await expect(closed.accept(acceptance({ id: 'a' }))).rejects.toThrow(StorageError);
    expect(await openJobs()).toEqual([]);
  });
}
