import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/gateway/transport/errors.ts';
import { MediaError } from '../../../src/media/errors.ts';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { openStudio, privateText } from '../../commands/song/world.ts';
import { gatewayError } from '../scripted-gateway.ts';
import { createWorld, PICTURE, SONG, songCallback, VIDEO, type World } from '../world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const labels = () => world.message()?.actions?.map(({ label }) => label);

/** The error of a 429 or 503 with Retry-After. */
const busy = (retryAfterMs: number, route: 'music/generate' | 'media/task' = 'music/generate') =>
  new GatewayError({ code: 'rate', route, retryable: true, taken: 'no', retryAfterMs });

describe('a Retry-After of the gateway', () => {
  it('is respected for up to a minute, and shown with its end', async () => {
    world.gateway.replies.push(busy(50 * SECOND));
    const job = await world.start(SONG);
    const until = world.clock.now() + 50 * SECOND;
    expect(await world.advance(job)).toBeGreaterThanOrEqual(until);
    expect(world.message()?.progress?.stage).toContain('busy');
    expect(world.message()?.progress?.until).toBeGreaterThanOrEqual(until);
    expect(labels()).toEqual(['Cancel']);
    world.clock.advance(51 * SECOND);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('waiting');
    expect(world.message()?.progress).toMatchObject({ stage: 'Recording take 1' });
    expect(world.message()?.progress).not.toHaveProperty('until');
  });

  it('is respected even if the job is woken, and callbacks are still read', async () => {
    world.gateway.replies.push(busy(50 * SECOND));
    const job = await world.start(SONG);
    const until = await world.advance(job);
    for (let wake = 0; wake < 5; wake++) {
      world.clock.advance(5 * SECOND);
      expect(await world.advance(job)).toBe(until);
    }
    expect(world.gateway.taken).toEqual([]);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.gateway.taken).toEqual([]);
  });

  it('does not delay a cancellation', async () => {
    world.gateway.replies.push(busy(50 * SECOND));
    const job = await world.start(SONG);
    await world.advance(job);
    await world.jobs.cancel(job, 'ada');
    await world.advance(job);
    expect(world.message()?.text).toBe('Cancelled.');
  });

  it('of more than a minute fails the job with the time to retry, and the next job starts', async () => {
    const songs = await Promise.all(Array.from({ length: 11 }, () => world.start(SONG)));
    world.gateway.replies.push(busy(12 * MINUTE));
    for (const song of songs) await world.advance(song);
    const [first = '', last = ''] = [songs[0], songs[10]];
    expect((await world.read(first)).state).toBe('failed');
    expect((await world.read(last)).state).toBe('waiting');
    const message = world.platform.history.find(({ text }) => text?.includes('12 minutes'));
    const time = new Date(world.clock.now() + 12 * MINUTE).toISOString().slice(11, 16);
    expect(message?.text).toContain(`${time} UTC`);
    expect(message?.actions?.map(({ label }) => label)).toEqual(['Again']);
  });
});

it('chat platform errors do not count as tries at the gateway', async () => {
  const job = await world.start(PICTURE);
  for (let time = 0; time < 6; time++) {
    world.platform.failures.push(new PlatformError('unavailable', 'away'));
    await world.advance(job);
  }
  world.gateway.replies.push(gatewayError('rate', { retryable: true }));
  await world.advance(job);
  expect((await world.read(job)).state).toBe('accepted');
  await world.advance(job);
  expect((await world.read(job)).state).toBe('delivered');
});

it('a Retry-After of the platform is respected even if the job is woken', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  world.platform.failures.push(new PlatformError('unavailable', 'slower', { retryAfterMs: 30 * SECOND }));
  const until = await world.advance(job);
  const shownBefore = world.platform.history.length;
  world.clock.advance(10 * SECOND);
  await world.callback(job, songCallback('first'));
  expect(await world.advance(job)).toBe(until);
  expect(world.platform.history).toHaveLength(shownBefore);
  world.clock.advance(21 * SECOND);
  await world.advance(job);
  expect((await world.read(job)).state).toBe('delivered');
});

it('early results respect a Retry-After, and do not block callbacks', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  world.platform.failures.push(new PlatformError('unavailable', 'slower', { retryAfterMs: 30 * SECOND }));
  await world.callback(job, songCallback('text'));
  await world.advance(job);
  const shown = world.platform.history.length;
  world.clock.advance(5 * SECOND);
  await world.callback(job, songCallback('first'));
  await world.advance(job);
  expect(world.platform.history).toHaveLength(shown);
  expect((await world.read(job)).result?.songs[0]?.audioUrl).toBeDefined();
  world.clock.advance(26 * SECOND);
  await world.callback(job, songCallback('complete'));
  await world.advance(job);
  expect((await world.read(job)).state).toBe('delivered');
});

describe.each([60 * MINUTE, 999_999_999 * SECOND])(
  'a file host with Retry-After of %i ms',
  (retryAfterMs) => {
    const FILE = 'https://gateway.example/two.mp3';

    async function finished(): Promise<string> {
      const job = await world.start(SONG);
      await world.advance(job);
      await world.callback(job, songCallback('complete'));
      const details = { status: 503, retryable: true, retryAfterMs };
      world.unreachable.set(FILE, new MediaError('status', '503', details));
      return job;
    }

    it('does not block the other files, and is retried within ten minutes', async () => {
      const job = await finished();
      const next = await world.advance(job);
      expect(world.message()?.footer).toContain('Created, but not here yet: Rain (take 2)');
      expect(world.message()?.media).toHaveLength(2);
      world.unreachable.clear();
      expect(next).toBeLessThanOrEqual(world.clock.now() + 10 * MINUTE);
      world.clock.advance(10 * MINUTE);
      await world.advance(job);
      expect(world.message()?.media).toHaveLength(3);
      expect((await world.read(job)).state).toBe('delivered');
    });

    it('is retried for at most a day', async () => {
      const job = await finished();
      const from = world.clock.now();
      let next = await world.advance(job);
      for (let tries = 0; tries < 200 && next !== undefined; tries++) {
        world.clock.advance(Math.max(1, next - world.clock.now()));
        next = await world.advance(job);
      }
      expect((await world.read(job)).state).toBe('delivered');
      expect(world.message()?.footer).toContain('the download failed');
      expect(world.clock.now() - from).toBeLessThan(25 * 60 * MINUTE);
    });
  },
);

describe('a Retry-After for polls', () => {
  it('applies to its own task, for at most ten minutes', async () => {
    const [first, second] = [await world.start(VIDEO), await world.start(VIDEO)];
    await world.advance(first);
    await world.advance(second);
    world.clock.advance(20 * SECOND);
    world.gateway.polls.push(busy(24 * 60 * MINUTE, 'media/task'), { status: 'running' });
    const until = await world.advance(first);
    expect(until).toBe(world.clock.now() + 10 * MINUTE);
    expect(await world.advance(second)).toBeLessThan(world.clock.now() + MINUTE);
    expect(world.gateway.polls).toEqual([]);
    world.clock.advance(MINUTE);
    world.gateway.polls.push({ status: 'running' });
    expect(await world.advance(first), 'woken early').toBe(until);
    expect(world.gateway.polls).toHaveLength(1);
  });
});

it('/jobs shows the reason for waiting', async () => {
  await using studio = await openStudio();
  const { world } = studio;
  // As displayed: without Markdown escapes.
  const jobsOf = async () => privateText(await studio.ask('jobs')).replaceAll('\\', '');
  const song = { prompt: 'rain' };
  world.gateway.replies.push(busy(50 * SECOND));
  const heldJob = await studio.stored(await studio.ask('song', song));
  await world.advance(heldJob.id);
  expect(await jobsOf()).toContain('waiting because the service is busy; next try in 0:5');
  world.clock.advance(52 * SECOND);
  await world.advance(heldJob.id);
  expect(await jobsOf()).toMatch(/running, .* so far/);

  await world.callback(heldJob.id, songCallback('complete'));
  world.platform.failures.push(new PlatformError('unavailable', 'slower', { retryAfterMs: 30 * SECOND }));
  await world.advance(heldJob.id);
  expect(await jobsOf()).toContain('finished; waiting because the chat platform is busy; next try in 0:30');
  world.clock.advance(31 * SECOND);
  await world.advance(heldJob.id);

  world.gateway.replies.push(gatewayError('network', { taken: 'unknown' }));
  const lostJob = await studio.stored(await studio.ask('song', song));
  await world.advance(lostJob.id);
  expect(await jobsOf()).toContain('may not have accepted it; waiting up to 30:00 more');
});

describe('after a submission with a lost response', () => {
  it('the progress shows the uncertainty and the deadline', async () => {
    world.gateway.replies.push(gatewayError('network', { taken: 'unknown' }));
    const job = await world.start(SONG);
    await world.advance(job);
    expect(world.message()?.progress?.stage).toContain('waiting to hear');
    expect(world.message()?.progress?.until).toBe((await world.read(job)).deadlineAt);
    await world.callback(job, songCallback('text'));
    await world.advance(job);
    expect(world.message()?.progress).toMatchObject({ stage: 'Recording take 1' });
    expect(world.message()?.progress).not.toHaveProperty('until');
  });

  it('without a callback, the job expires and was probably not accepted', async () => {
    world.gateway.replies.push(gatewayError('network', { taken: 'unknown' }));
    const job = await world.start(SONG);
    await world.advance(job);
    world.clock.advance(31 * MINUTE);
    await world.advance(job);
    expect(world.message()?.text).toContain("probably didn't accept this request");
    expect(labels()).toEqual(['Again']);
  });
});
