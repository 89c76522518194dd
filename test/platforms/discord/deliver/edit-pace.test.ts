import { Headers } from 'undici';
import { expect, it } from 'vitest';
import { createEditPace } from '../../../../src/platforms/discord/deliver/edit-pace.ts';

const CHANNEL = '100000000000000001';
const { signal } = new AbortController();

/** A pace in virtual time, and Discord's answers to edits. */
function open() {
  const clock = { time: 0 };
  const pace = createEditPace({
    elapsed: () => clock.time,
    async sleep(milliseconds) {
      clock.time += milliseconds;
    },
  });
  const answered = (path: string, remaining: number, seconds: number, method = 'PATCH') =>
    pace.read(
      { method, path: `/${path}` },
      {
        headers: new Headers({
          'x-ratelimit-remaining': String(remaining),
          'x-ratelimit-reset-after': String(seconds),
        }),
      },
    );
  /** When the next edit may be made. */
  const next = async (isFirst = false, budget = CHANNEL) => {
    await pace.slot({ budget, other: CHANNEL, isFirst }, signal);
    return clock.time;
  };
  return { answered, next, pace, clock };
}

it('spreads what remains of a budget over the time until it is renewed', async () => {
  const { answered, next } = open();
  const times = [await next(true)];
  // Five in two seconds.
  for (let used = 1; used <= 5; used += 1) {
    answered(`channels/${CHANNEL}/messages/1`, 5 - used, 2 - (used - 1) * 0.4);
    times.push(await next());
  }
  expect(times.map(Math.round)).toEqual([0, 400, 800, 1_200, 1_600, 2_000]);
});

it('edits every 1.2 seconds where Discord tells nothing', async () => {
  const { answered, next } = open();
  // Not an answer to an edit.
  answered(`channels/${CHANNEL}/messages`, 0, 60, 'POST');
  expect([await next(true), await next(), await next()]).toEqual([0, 1_200, 2_400]);
});

it('lets first words go at once, and each interaction have a budget of its own', async () => {
  const { answered, next } = open();
  answered(`channels/${CHANNEL}/messages/1`, 0, 3);
  expect(await next(true)).toBe(0);
  answered('webhooks/7/a-token/messages/@original', 1, 10);
  expect(await next(false, 'a-token')).toBe(5_000);
});

it('waits no longer when the text ends', async () => {
  const { pace, answered, clock } = open();
  answered(`channels/${CHANNEL}/messages/1`, 0, 3);
  const ended = new AbortController();
  ended.abort();
  await pace.slot({ budget: CHANNEL, other: CHANNEL, isFirst: false }, ended.signal);
  expect(clock.time).toBe(0);
});
