import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { StorageError } from '../../../src/storage/storage.ts';
import { gatewayError } from '../scripted-gateway.ts';
import { createWorld, PICTURE, QUESTION, SONG, songCallback, VIDEO, type World } from '../world.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const songRequests = () => world.gateway.taken.filter(({ route }) => route === 'music.generate').length;
const positionOf = async (job: string) => (await world.read(job)).queuePosition;

/** Songs requested one after the other. */
async function songs(count: number): Promise<string[]> {
  const jobs: string[] = [];
  for (let index = 0; index < count; index++) {
    const job = await world.start(SONG);
    await world.advance(job);
    jobs.push(job);
  }
  return jobs;
}

async function deliver(job: string | undefined): Promise<void> {
  if (job === undefined) throw new TypeError('There is no such job');
  await world.callback(job, songCallback('complete', `task of ${job}`));
  await world.advance(job);
  expect((await world.read(job)).state).toBe('delivered');
}

it('sends at most the allowed number of songs, and shows the others their position', async () => {
  const jobs = await songs(13);
  expect(songRequests()).toBe(10);
  expect(await Promise.all(jobs.slice(9).map(positionOf))).toEqual([undefined, 1, 2, 3]);
  expect(world.message()?.progress).toMatchObject({ stage: 'Waiting for its turn', queuePosition: 3 });
  expect(world.message()?.actions?.map(({ label }) => label)).toEqual(['Cancel']);
});

it('lets the next song in when one is finished, and moves the others up', async () => {
  const jobs = await songs(12);
  await deliver(jobs[0]);
  const [, next = '', last = ''] = jobs.slice(9);
  await world.advance(last);
  expect(await positionOf(last)).toBe(1);
  expect(world.message()?.progress?.queuePosition).toBe(1);
  await world.advance(next);
  expect((await world.read(next)).state).toBe('waiting');
  expect(songRequests()).toBe(11);
});

it('wakes the next job immediately, without waiting for its timer', async () => {
  const jobs = await songs(11);
  const woken: string[] = [];
  await world.storage.schedule.start(
    async (job) => {
      woken.push(job);
      return undefined;
    },
    { concurrency: 1 },
  );
  await deliver(jobs[0]);
  await expect.poll(() => woken).toContain(jobs[10]);
});

it('measures the duration from the slot, not from the request', async () => {
  const [first, ...rest] = await songs(11);
  world.clock.advance(600_000);
  await deliver(first);
  const last = rest.at(-1) ?? '';
  await world.advance(last);
  expect(world.message()?.progress).toMatchObject({
    stage: 'Recording take 1',
    startedAt: world.clock.now(),
  });
});

it('checks automatically, less often further back in the queue', async () => {
  const jobs = await songs(41);
  const pauses = await Promise.all(
    [10, 20, 40].map(async (index) => ((await world.advance(jobs[index] ?? '')) ?? 0) - world.clock.now()),
  );
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  expect(new Set(pauses).size).toBe(3);
});

it.each([
  ['never calls back', 10, async () => undefined],
  [
    'may never have been sent',
    3,
    async () => void world.gateway.replies.push(gatewayError('timeout', { taken: 'unknown' })),
  ],
])('a job that %s releases its slot after %i minutes, and keeps waiting', async (_what, minutes, trouble) => {
  await trouble();
  const jobs = await songs(11);
  const [lost = '', last = ''] = [jobs[0], jobs[10]];
  world.clock.advance((minutes - 1) * 60_000);
  await world.advance(lost);
  await world.advance(last);
  expect((await world.read(last)).state).toBe('accepted');
  world.clock.advance(60_000);
  await world.advance(lost);
  await world.advance(last);
  expect((await world.read(last)).state).toBe('waiting');
  await deliver(lost);
});

it('each family has its own queue', async () => {
  await songs(10);
  const video = await world.start(VIDEO);
  await world.advance(video);
  expect((await world.read(video)).state).toBe('waiting');
  const picture = await world.start(PICTURE);
  await world.advance(picture);
  expect((await world.read(picture)).state).toBe('delivered');
});

it.each([
  ['cancelled in the queue', async (job: string) => void (await world.jobs.cancel(job, 'ada'))],
  ['erased', (job: string) => world.storage.jobs.erase(job)],
])('a job that was %s blocks nobody', async (_how, endJob) => {
  const jobs = await songs(12);
  const [, first = '', second = ''] = jobs.slice(9);
  await endJob(first);
  await world.advance(first);
  await world.jobs.run(world.dependencies.invoke);
  await world.jobs.stop();
  await deliver(jobs[0]);
  await world.advance(second);
  expect((await world.read(second)).state).toBe('waiting');
});

it.each([
  ['the gateway refused', async () => void world.gateway.replies.push(gatewayError('credits'))],
  [
    'whose platform is unavailable',
    async () => void world.platform.failures.push(new PlatformError('unavailable', 'away')),
  ],
  ['whose channel is gone', async () => void world.platform.failures.push(new PlatformError('gone', 'gone'))],
])('a job that %s releases its slot', async (_what, trouble) => {
  await songs(9);
  await trouble();
  const failing = await world.start(SONG);
  await world.advance(failing);
  await songs(1);
  expect(songRequests()).toBe(10);
});

it('an answer and an image release their slots once they are finished', async () => {
  for (let index = 0; index < 20; index++) {
    world.gateway.streams.push([
      { type: 'part', part: { type: 'text', text: 'Because.' } },
      { type: 'finish', finish: { reason: 'stop' } },
    ]);
    const answer = await world.start(QUESTION);
    await world.advance(answer);
    expect((await world.read(answer)).state).toBe('delivered');
    const picture = await world.start(PICTURE);
    await world.advance(picture);
    expect((await world.read(picture)).state).toBe('delivered');
  }
  expect(await world.storage.semaphores.holdersAndNext('ask', 16)).toEqual([]);
  expect(await world.storage.semaphores.holdersAndNext('image', 4)).toEqual([]);
});

it('the slot of an unreadable job is released', async () => {
  const jobs = await songs(11);
  const unreadable = jobs[0] ?? '';
  const { read } = world.dependencies.storage.jobs;
  world.dependencies.storage.jobs.read = async (id) => {
    if (id === unreadable) throw new StorageError('schema', 'from a newer version');
    return read(id);
  };
  await world.jobs.run(world.dependencies.invoke);
  await expect.poll(songRequests).toBe(11);
  await world.jobs.stop();
});
