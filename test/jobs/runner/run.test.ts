import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EMPTY_RESULT, type Job } from '../../../src/core/job.ts';
import type { JobEvent } from '../../../src/jobs/events.ts';
import { JobRun } from '../../../src/jobs/runner/run.ts';
import { StorageError } from '../../../src/storage/storage.ts';
import { createWorld, SONG, type World } from '../world.ts';

let world: World;
let job: string;
/** Outcomes of the next writes, in order; later writes succeed. */
let writes: ('away' | 'locked' | 'answer lost' | 'full')[];
let pauses: number[];
let lease: { isHeld: boolean; stopping: AbortController };

beforeEach(async () => {
  damage = {};
  measured = [];
  world = await createWorld();
  job = await world.start(SONG);
  writes = [];
  pauses = [];
  lease = { isHeld: true, stopping: new AbortController() };
});
afterEach(() => world[Symbol.asyncDispose]());

/** Fields that the run writes by mistake. */
let damage: Partial<Job>;
let measured: (readonly unknown[])[];

const POSTED = { type: 'recorded', fields: { posted: { id: 'message-1' } } } as const;

async function load(): Promise<JobRun> {
  const { jobs } = world.storage;
  const replace: typeof jobs.replace = async (record) => {
    const outcome = writes.shift();
    if (outcome === 'away') throw new StorageError('unavailable', outcome);
    if (outcome === 'full' || outcome === 'locked') throw new StorageError(outcome, outcome);
    const written = await jobs.replace({ ...record, ...damage });
    if (outcome === 'answer lost') throw new StorageError('unavailable', outcome);
    return written;
  };
  const run = await JobRun.load(
    job,
    {
      storage: { jobs: { read: (id) => jobs.read(id), replace } },
      measure: (...measurement) => void measured.push(measurement),
      log: world.log,
    },
    {
      isHeld: () => lease.isHeld,
      signal: lease.stopping.signal,
      random: () => 0.5,
      sleep: async (milliseconds) => {
        pauses.push(milliseconds);
      },
    },
  );
  if (!run) throw new TypeError('The job was not stored');
  return run;
}

async function claimDuring(outcome: 'away' | 'answer lost'): Promise<void> {
  const run = await load();
  writes = [outcome];
  run.apply(POSTED);
  const claim = run.claim({ type: 'submitting', work: run.job.work, at: world.clock.now() });
  await expect(claim).rejects.toThrow(outcome);
}

const posted = async () => (await world.read(job)).posted;

describe('a posted message', () => {
  it('is stored as soon as storage is back', async () => {
    const run = await load();
    writes = ['away', 'away', 'away'];
    run.apply(POSTED);
    await run.save();
    expect(await posted()).toEqual({ id: 'message-1' });
    expect(pauses).toEqual([500, 1_000, 2_000]);
  });

  it('is stored once if only the confirmation was lost', async () => {
    const run = await load();
    writes = ['answer lost'];
    run.apply(POSTED);
    await run.save();
    const { version, overtaken, mayHavePosted } = await world.read(job);
    expect({ version, overtaken, mayHavePosted }).toEqual({ version: 2 });
    run.apply({ type: 'recorded', fields: { shown: 'digest' } });
    await run.save();
    expect(await world.read(job)).toMatchObject({ version: 3, shown: 'digest' });
  });

  it('is stored even if the claim written with it fails', async () => {
    await claimDuring('away');
    expect(await world.read(job)).toMatchObject({ state: 'accepted', posted: { id: 'message-1' } });
  });

  it('is not followed by a request if the confirmation of the claim was lost', async () => {
    await claimDuring('answer lost');
    expect(await world.read(job)).toMatchObject({ state: 'submitting', posted: { id: 'message-1' } });
  });

  it('waits for storage no longer than a lease', async () => {
    const run = await load();
    writes = ['away', 'away', 'away', 'away', 'away'];
    run.apply(POSTED);
    await expect(run.save()).rejects.toThrow('away');
    expect(pauses.reduce((sum, pause) => sum + pause)).toBeLessThan(15_000);
    expect(await posted()).toBeUndefined();
  });

  it.each<[string, () => void]>([
    [
      'the lease was lost',
      () => {
        lease.isHeld = false;
      },
    ],
    ['the bot is stopping', () => lease.stopping.abort()],
  ])('is not retried once %s', async (_, happens) => {
    const run = await load();
    writes = ['away'];
    run.apply(POSTED);
    happens();
    await expect(run.save()).rejects.toThrow('away');
    expect(await posted()).toBeUndefined();
  });

  it('is not retried on a full disk', async () => {
    const run = await load();
    writes = ['full'];
    run.apply(POSTED);
    await expect(run.save()).rejects.toThrow('full');
    expect(pauses).toEqual([]);
  });
});

describe('a response to paid work', () => {
  const SUBMITTED = { type: 'submitted', taskId: 'task-1', deadlineAt: 1_000_000, at: 1 } as const;
  const COMPLETED = { type: 'completed', result: EMPTY_RESULT, at: 1 } as const;
  const NOT_TAKEN = { type: 'notTaken' } as const;
  const FAILED = {
    type: 'failed',
    failure: { code: 'blocked', sentence: 'It is refused.', reference: 'r', taken: 'no' },
  } as const;

  async function sent(): Promise<JobRun> {
    const run = await load();
    await run.claim({ type: 'submitting', work: run.job.work, at: world.clock.now() });
    return run;
  }

  it.each<[JobEvent, Job['state']]>([
    [SUBMITTED, 'waiting'],
    [COMPLETED, 'ready'],
    [NOT_TAKEN, 'accepted'],
    [FAILED, 'ready'],
  ])('is stored as soon as storage is back: $type', async (answer, state) => {
    const run = await sent();
    writes = ['away', 'locked', 'away'];
    run.apply(answer);
    await run.save();
    expect((await world.read(job)).state).toBe(state);
  });

  it('is retried while the bot is stopping, but not endlessly', async () => {
    const run = await sent();
    run.apply(SUBMITTED);
    lease.stopping.abort();
    writes = ['away', 'away'];
    await run.save();
    expect((await world.read(job)).taskId).toBe('task-1');

    writes = Array.from({ length: 20 }, () => 'away' as const);
    run.apply(COMPLETED);
    await expect(run.save()).rejects.toThrow('away');
    expect(pauses).toEqual([500, 1_000, 500, 1_000, 2_000, 4_000]);
  });

  it('is left to the replica that took over', async () => {
    const run = await sent();
    writes = ['away'];
    run.apply(SUBMITTED);
    lease.isHeld = false;
    await expect(run.save()).rejects.toThrow('away');
    expect((await world.read(job)).state).toBe('submitting');
  });
});

it('repeatable writes are not retried', async () => {
  const run = await load();
  writes = ['away'];
  run.apply({ type: 'retried' });
  await expect(run.save()).rejects.toThrow('away');
  expect(pauses).toEqual([]);
});

it('counts and reports a written record that breaks an invariant', async () => {
  const run = await load();
  run.apply(POSTED);
  await run.save();
  expect(measured).toEqual([]);
  damage = { state: 'waiting' };
  run.record({ shown: 'digest' });
  await run.save();
  expect(measured).toEqual([['minstrel_invariants_broken_total', { invariant: 'written_ahead' }]]);
  expect(world.log.lines.at(-1)).toMatchObject({
    level: 'error',
    fields: { job, invariant: 'written_ahead', from: 'accepted', to: 'waiting' },
  });
});
