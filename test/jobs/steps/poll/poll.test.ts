import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/gateway/transport/errors.ts';
import { pollPause } from '../../../../src/jobs/steps/poll/poll-schedule.ts';
import { simulatePolls } from '../../../bench/polls.ts';
import { createWorld, VIDEO, type World } from '../../world.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FILM = { status: 'succeeded', videoUrl: 'https://gateway.example/film.mp4' } as const;

describe('the interval', () => {
  /** When a task is asked about, from its submission, while it does not end. */
  function asked(until: number, typicalMs?: number): number[] {
    const times: number[] = [];
    for (let at = 0; at < until; ) {
      at += pollPause({ elapsedMs: at, typicalMs }, () => 0.5);
      times.push(at);
    }
    return times;
  }
  const between = (times: number[], from: number, to: number) =>
    times.filter((at) => at >= from && at < to).length;

  it('is shortest around the time when such tasks mostly end', () => {
    for (const typical of [30 * SECOND, 2 * MINUTE, 5 * MINUTE]) {
      const times = asked(2 * typical, typical);
      const around = between(times, typical - 10 * SECOND, typical + 10 * SECOND);
      expect(around).toBeGreaterThan(between(times, 0, 20 * SECOND));
      expect(around).toBeGreaterThan(between(times, 2 * typical - 20 * SECOND, 2 * typical));
    }
  });

  it('is short at first where nothing is known, and slower later', () => {
    const times = asked(10 * MINUTE);
    expect(times[0]).toBeLessThan(10 * SECOND);
    expect(between(times, 0, MINUTE)).toBeGreaterThan(2 * between(times, 9 * MINUTE, 10 * MINUTE));
  });

  it('finds a task that ends as most did soon after, and never asks more than once in two seconds, nor less than in 15', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: HOUR }),
        fc.option(fc.integer({ min: 0, max: HOUR }), { nil: undefined }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (elapsedMs, typicalMs, random) => {
          const pause = pollPause({ elapsedMs, typicalMs }, () => random);
          expect(pause).toBeGreaterThanOrEqual(1.8 * SECOND);
          expect(pause).toBeLessThanOrEqual(16.5 * SECOND);
        },
      ),
    );
    for (const typical of [10 * SECOND, MINUTE, 5 * MINUTE]) {
      const found = asked(2 * typical, typical).find((at) => at >= typical) ?? 0;
      expect(found - typical).toBeLessThan(4 * SECOND);
    }
  });
});

describe('the interval with history', () => {
  it.each([20, 60, 180, 600])(
    'asks about videos of %i s half as often as every five seconds would, and finds them as soon',
    (seconds) => {
      const { product, steady } = simulatePolls(seconds * SECOND, 0.15, 200);
      expect(product.polls).toBeLessThan(0.5 * steady.polls);
      expect(product.delayMs).toBeLessThan(1.1 * steady.delayMs);
    },
  );

  it('finds what ends far earlier or later than any before, and never waits for ever', () => {
    const durations = [290, 300, 310, 305, 295].map((seconds) => seconds * SECOND);
    const longest = (from: number, to: number) => {
      let most = 0;
      for (let at = from; at < to; ) {
        const pause = pollPause({ elapsedMs: at, durations }, () => 0.5);
        most = Math.max(most, pause);
        at += pause;
      }
      return most;
    };
    expect(longest(0, 80 * SECOND)).toBeLessThan(21 * SECOND);
    expect(longest(0, 290 * SECOND)).toBeLessThan(65 * SECOND);
    expect(longest(0, HOUR)).toBeLessThan(0.12 * HOUR);
    expect(longest(290 * SECOND, 320 * SECOND)).toBeLessThan(10 * SECOND);
  });

  it('is a time for whatever durations there are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 24 * HOUR }),
        fc.array(fc.integer({ min: 0, max: 24 * HOUR }), { maxLength: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (elapsedMs, durations, random) => {
          const pause = pollPause({ elapsedMs, durations }, () => random);
          expect(pause).toBeGreaterThan(SECOND);
          expect(pause).toBeLessThanOrEqual(Math.max(21 * SECOND, 0.27 * elapsedMs));
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('a video that is asked about', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  /** Looks when the job asks for it, until it says never or `until` says so. Resolves to how often. */
  async function follow(job: string, until: () => boolean = () => false): Promise<number> {
    for (let looks = 1; ; looks++) {
      const next = await world.advance(job);
      if (next === undefined || until()) return looks;
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

  it('goes on through a 404, as through a word that is not known', async () => {
    world.gateway.polls.push(notFound, { status: 'unknown' }, notFound, { status: 'running' }, FILM);
    const job = await world.start(VIDEO);
    await follow(job);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('that was finished while the bot was down is shown, and not said to be late', async () => {
    const job = await world.start(VIDEO);
    await world.advance(job);
    world.clock.advance(5 * HOUR);
    world.gateway.polls.push(FILM);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.platform.history.filter(({ text }) => text?.includes('in time'))).toEqual([]);
  });

  it('is asked about once more at its deadline, and then its person is told', async () => {
    const job = await world.start(VIDEO);
    await world.advance(job);
    world.clock.advance(5 * HOUR);
    world.gateway.polls.push({ status: 'running' }, FILM);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('expired');
    expect(world.gateway.polls).toHaveLength(1);
  });

  it('goes on through a word that no one knows, for a while', async () => {
    world.gateway.polls.push({ status: 'unknown' }, { status: 'unknown' }, { status: 'running' }, FILM);
    const job = await world.start(VIDEO);
    await follow(job);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it.each([
    ['a word', { status: 'unknown' } as const],
    ['a 404', notFound],
  ])(
    'ends with a sentence when the gateway says by %s for minutes that it does not know it',
    async (_, reply) => {
      world.gateway.polls.push(...Array.from({ length: 500 }, () => reply));
      const job = await world.start(VIDEO);
      const began = world.clock.now();
      const failed = async () => (await world.read(job)).state === 'failed';
      while (!(await failed())) await follow(job, () => world.message()?.progress === undefined);
      expect(world.message()?.text).toContain('lost track');
      expect(world.message()?.text).toContain('paid for anew');
      expect(world.message()?.actions?.map(({ label }) => label)).toEqual(['Again']);
      expect(world.clock.now() - began).toBeGreaterThanOrEqual(5 * MINUTE);
      expect(world.clock.now() - began).toBeLessThan(10 * MINUTE);
      world.gateway.polls.length = 0;
      world.gateway.polls.push(reply, FILM);
      await follow(job);
      expect((await world.read(job)).state, 'it was asked about on').toBe('delivered');
      expect(world.message()?.media).toHaveLength(1);
    },
  );

  it('that is finished after its deadline is still delivered, and asked about ever more rarely', async () => {
    const job = await world.start(VIDEO);
    const expired = async () => (await world.read(job)).state === 'expired';
    while (!(await expired())) await follow(job, () => world.message()?.progress === undefined);
    world.clock.advance(3 * HOUR);
    world.gateway.polls.push({ status: 'running' }, FILM);
    expect(await follow(job)).toBeLessThan(10);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.media).toHaveLength(1);
  });

  it('is given up when the gateway has forgotten it, a day later', async () => {
    const job = await world.start(VIDEO);
    expect(await follow(job)).toBeLessThan(500);
    expect((await world.read(job)).state).toBe('expired');
  });
});
