import { afterEach, beforeEach, expect, it } from 'vitest';
import { StorageError } from '../../src/storage/storage.ts';
import { oneSong, songJob } from '../storage/jobs.ts';
import { createWorld, SONG, songCallback, type World } from './world.ts';

/** Tests how jobs continue after a start, with a clock that the test advances. */
let world: World;
/** Counts all external calls of running jobs. */
let activity = 0;

beforeEach(async () => {
  activity = 0;
  world = await createWorld(() => {
    activity += 1;
  });
});
afterEach(async () => {
  const stopped = world.jobs.stop();
  world.clock.advance(60_000);
  await stopped;
  await world[Symbol.asyncDispose]();
});

const SECOND = 1_000;

/** A job that was just accepted. */
const freshJob: typeof songJob = (fields) => songJob({ createdAt: world.clock.now(), ...fields });

/** Idle turns of the event loop after which nothing happens until the clock advances. */
const QUIET_TURNS = 30;

async function waitUntilIdle(): Promise<void> {
  let before = -1;
  while (activity !== before) {
    before = activity;
    for (let turn = 0; turn < QUIET_TURNS; turn++) await new Promise(setImmediate);
  }
}

/** Advances the clock step by step and runs everything due. Resolves to the number of messages shown in each second. */
async function pass(seconds: number): Promise<number[]> {
  const shown: number[] = [];
  for (let second = 0; second < seconds; second++) {
    const before = world.platform.history.length;
    for (let step = 0; step < 10; step++) {
      world.clock.advance(SECOND / 10);
      await waitUntilIdle();
    }
    shown.push(world.platform.history.length - before);
  }
  return shown;
}

it('a thousand due jobs resume without overloading the gateway', async () => {
  const jobs = Array.from({ length: 1_000 }, (_, index) =>
    index % 2 === 0
      ? freshJob({ id: `new${index}` })
      : freshJob({ id: `done${index}`, state: 'ready', end: 'delivered', result: oneSong(`Song ${index}`) }),
  );
  await Promise.all(
    jobs.map(async (job) => {
      await world.storage.jobs.create(job);
      await world.storage.schedule.wake(job.id);
    }),
  );
  await world.jobs.run(world.dependencies.invoke);
  const shown = await pass(60);
  expect(
    shown.reduce((sum, count) => sum + count),
    'every job has run',
  ).toBeGreaterThanOrEqual(1_000);
  expect(world.gateway.taken).toHaveLength(10);
  for (const { id } of jobs.filter(({ state }) => state === 'ready'))
    expect((await world.read(id)).state).toBe('delivered');
});

it('jobs with lost timers are found and woken one after the other', async () => {
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => world.storage.jobs.create(freshJob({ id: `job${index}` }))),
  );
  await world.jobs.run(world.dependencies.invoke);
  await waitUntilIdle();
  const shown = await pass(25);
  expect(shown.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(200);
  expect(Math.max(...shown)).toBeLessThanOrEqual(41);
  expect(world.gateway.taken).toHaveLength(10);
});

it('the next sweep finds a timer that is lost while the bot runs', async () => {
  await world.jobs.run(world.dependencies.invoke);
  await waitUntilIdle();
  await world.storage.jobs.create(freshJob({ id: 'lost' }));
  world.clock.advance(11 * 60 * SECOND);
  await waitUntilIdle();
  await pass(12);
  expect((await world.read('lost')).state).toBe('waiting');
});

it('a job waiting for its callback costs nothing at startup', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.storage.schedule.add(job, world.clock.now() + 30 * 60 * SECOND);
  const [shown, { version }] = [world.platform.history.length, await world.read(job)];
  await world.jobs.run(world.dependencies.invoke);
  await pass(15);
  expect(world.platform.history).toHaveLength(shown);
  expect((await world.read(job)).version).toBe(version);
});

it('an unreadable record is skipped after one read, and other jobs continue', async () => {
  const { jobs } = world.dependencies.storage;
  const { read } = jobs;
  let reads = 0;
  jobs.read = async (id) => {
    if (id !== 'unreadable') return read(id);
    reads += 1;
    throw new StorageError('schema', 'It is of a newer version.');
  };
  await world.storage.jobs.create(freshJob({ id: 'unreadable' }));
  await world.storage.schedule.wake('unreadable');
  await world.jobs.run(world.dependencies.invoke);
  await pass(5);
  const fine = await world.start(SONG);
  await pass(11);
  expect((await world.read(fine)).state).toBe('waiting');
  for (let sweeps = 0; sweeps < 5; sweeps++) {
    world.clock.advance(11 * 60 * SECOND);
    await waitUntilIdle();
    await pass(12);
  }
  expect(reads).toBe(1);
  await world.callback(fine, songCallback('complete'));
  await world.storage.schedule.wake(fine);
  await pass(2);
  expect((await world.read(fine)).state).toBe('delivered');
  expect(world.log.lines.filter(({ sentence }) => sentence.includes('cannot be read'))).toHaveLength(1);
});

it('an unreadable record without a timer does not block the sweep', async () => {
  const { jobs } = world.dependencies.storage;
  const { read } = jobs;
  jobs.read = async (id) => {
    if (id === 'a newer one') throw new StorageError('schema', 'It is of a newer version.');
    return read(id);
  };
  await world.storage.jobs.create(freshJob({ id: 'a newer one' }));
  await world.storage.jobs.create(freshJob({ id: 'lost' }));
  await world.jobs.run(world.dependencies.invoke);
  await pass(12);
  expect((await world.read('lost')).state).toBe('waiting');
  await pass(1);
  world.clock.advance(11 * 60 * SECOND);
  await waitUntilIdle();
  await pass(12);
  expect(world.log.lines.filter(({ sentence }) => sentence.includes('cannot be read'))).toHaveLength(1);
});
