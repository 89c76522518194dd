import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/gateway/transport/errors.ts';
import { pollPause } from '../../../src/jobs/steps/poll.ts';
import { createWorld, VIDEO, type World } from '../world.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FILM = { status: 'succeeded', videoUrl: 'https://gateway.example/film.mp4' } as const;

describe('the interval', () => {
  /** Times of the polls of a video that does not end, from its submission. */
  function pollTimes(until: number, typicalMs?: number): number[] {
    const times: number[] = [];
    for (let at = 0; at < until; ) {
      at += pollPause({ elapsedMs: at, typicalMs }, () => 0.5);
      times.push(at);
    }
    return times;
  }

  it('starts at 80 % of the typical duration', () => {
    for (const typical of [30 * SECOND, 2 * MINUTE, 10 * MINUTE])
      expect(pollTimes(typical, typical)[0]).toBe(0.8 * typical);
  });

  it('starts immediately if the typical duration is unknown', () => {
    expect(pollTimes(MINUTE)[0]).toBe(3 * SECOND);
  });

  it('then grows from 3 to 15 seconds with the elapsed time', () => {
    const times = pollTimes(20 * MINUTE, 20 * SECOND);
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect([pauses[0], pauses.at(-1)]).toEqual([3 * SECOND, 15 * SECOND]);
  });

  it('is between 3 and 15 seconds after the typical duration, plus or minus jitter', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 24 * HOUR }),
        fc.integer({ min: 0, max: HOUR }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (overtimeMs, typicalMs, random) => {
          const pause = pollPause({ elapsedMs: typicalMs + overtimeMs, typicalMs }, () => random);
          expect(pause).toBeGreaterThanOrEqual(2.8 * SECOND);
          expect(pause).toBeLessThanOrEqual(16 * SECOND);
        },
      ),
    );
  });
});

describe('a polled video', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  /** Advances the job whenever it is due, until it stops or `until` returns true. Resolves to the number of runs. */
  async function runUntilDone(job: string, until: () => boolean = () => false): Promise<number> {
    for (let runs = 1; ; runs++) {
      const next = await world.advance(job);
      if (next === undefined || until()) return runs;
      world.clock.advance(Math.max(1, next - world.clock.now()));
    }
  }

  const notFound = new GatewayError({
    code: 'not-found',
    route: 'media/task',
    retryable: false,
    taken: 'no',
    status: 404,
  });

  it('continues after a 404, as after an unknown status', async () => {
    world.gateway.polls.push(notFound, { status: 'unknown' }, notFound, { status: 'running' }, FILM);
    const job = await world.start(VIDEO);
    await runUntilDone(job);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('that was finished during downtime is delivered, not reported as late', async () => {
    const job = await world.start(VIDEO);
    await world.advance(job);
    world.clock.advance(5 * HOUR);
    world.gateway.polls.push(FILM);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.platform.history.filter(({ text }) => text?.includes('in time'))).toEqual([]);
  });

  it('is polled once more at its deadline, and then expires', async () => {
    const job = await world.start(VIDEO);
    await world.advance(job);
    world.clock.advance(5 * HOUR);
    world.gateway.polls.push({ status: 'running' }, FILM);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('expired');
    expect(world.gateway.polls).toHaveLength(1);
  });

  it('continues after an unknown status for a while', async () => {
    world.gateway.polls.push({ status: 'unknown' }, { status: 'unknown' }, { status: 'running' }, FILM);
    const job = await world.start(VIDEO);
    await runUntilDone(job);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it.each([
    ['an unknown status', { status: 'unknown' } as const],
    ['a 404', notFound],
  ])('ends with a message if the gateway reports it as unknown by %s for minutes', async (_, reply) => {
    world.gateway.polls.push(...Array.from({ length: 500 }, () => reply));
    const job = await world.start(VIDEO);
    const startedAt = world.clock.now();
    const failed = async () => (await world.read(job)).state === 'failed';
    while (!(await failed())) await runUntilDone(job, () => world.message()?.progress === undefined);
    expect(world.message()?.text).toContain('lost track');
    expect(world.message()?.text).toContain('charged too');
    expect(world.message()?.actions?.map(({ label }) => label)).toEqual(['Again']);
    expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(world.clock.now() - startedAt).toBeLessThan(10 * MINUTE);
    world.gateway.polls.length = 0;
    world.gateway.polls.push(reply, FILM);
    await runUntilDone(job);
    expect((await world.read(job)).state, 'polling continued').toBe('delivered');
    expect(world.message()?.media).toHaveLength(1);
  });

  it('finished after its deadline is still delivered, and polled at growing intervals', async () => {
    const job = await world.start(VIDEO);
    const expired = async () => (await world.read(job)).state === 'expired';
    while (!(await expired())) await runUntilDone(job, () => world.message()?.progress === undefined);
    world.clock.advance(3 * HOUR);
    world.gateway.polls.push({ status: 'running' }, FILM);
    expect(await runUntilDone(job)).toBeLessThan(10);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.media).toHaveLength(1);
  });

  it('is given up after a day, when the gateway no longer stores it', async () => {
    const job = await world.start(VIDEO);
    expect(await runUntilDone(job)).toBeLessThan(500);
    expect((await world.read(job)).state).toBe('expired');
  });
});
