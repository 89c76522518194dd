import { Headers } from 'undici';
import { expect, it } from 'vitest';
import { createEditPace } from '../../../../src/platforms/discord/deliver/edit-pace.ts';

const CHANNEL = '100000000000000001';
const { signal } = new AbortController();

/** Creates a pace in virtual time, and reads Discord's responses to edits. */
function createPace() {
  const clock = { time: 0 };
  const pace = createEditPace({
    elapsed: () => clock.time,
    async sleep(milliseconds) {
      clock.time += milliseconds;
    },
  });
  const respond = (path: string, remaining: number, seconds: number, method = 'PATCH') =>
    pace.read(
      { method, path: `/${path}` },
      {
        headers: new Headers({
          'x-ratelimit-remaining': String(remaining),
          'x-ratelimit-reset-after': String(seconds),
        }),
      },
    );
  /** Returns the time of the next edit. */
  const next = async (isFirst = false, budget = CHANNEL) => {
    await pace.slot({ budget, other: CHANNEL, isFirst }, signal);
    return clock.time;
  };
  return { respond, next, pace, clock };
}

it('spreads the remaining budget over the time until its reset', async () => {
  const { respond, next } = createPace();
  const times = [await next(true)];
  // Five edits in two seconds.
  for (let used = 1; used <= 5; used += 1) {
    respond(`channels/${CHANNEL}/messages/1`, 5 - used, 2 - (used - 1) * 0.4);
    times.push(await next());
  }
  expect(times.map(Math.round)).toEqual([0, 400, 800, 1_200, 1_600, 2_000]);
});

it('edits every 1.2 seconds without headers', async () => {
  const { respond, next } = createPace();
  // Not the response to an edit.
  respond(`channels/${CHANNEL}/messages`, 0, 60, 'POST');
  expect([await next(true), await next(), await next()]).toEqual([0, 1_200, 2_400]);
});

it('does not delay the first edit, and gives each interaction its own budget', async () => {
  const { respond, next } = createPace();
  respond(`channels/${CHANNEL}/messages/1`, 0, 3);
  expect(await next(true)).toBe(0);
  respond('webhooks/7/a-token/messages/@original', 1, 10);
  expect(await next(false, 'a-token')).toBe(5_000);
});

it('stops waiting when the text is complete', async () => {
  const { pace, respond, clock } = createPace();
  respond(`channels/${CHANNEL}/messages/1`, 0, 3);
  const ended = new AbortController();
  ended.abort();
  await pace.slot({ budget: CHANNEL, other: CHANNEL, isFirst: false }, ended.signal);
  expect(clock.time).toBe(0);
});
