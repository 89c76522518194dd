import { describe, expect, test } from 'vitest';
import { isTimeZone, nextRun, readWhen } from '../../../src/settings/schedules/when.ts';

const timeZone = 'Europe/Berlin';
/** A Thursday, 11:00 in Berlin. */
const now = Date.parse('2026-11-26T10:00:00Z');

async function next(typed: string, zone = timeZone): Promise<string> {
  const { pattern } = await readWhen(typed, { timeZone: zone, now });
  return new Date(nextRun(pattern, zone, now) ?? Number.NaN).toISOString();
}

describe('recurring times', () => {
  test.each([
    ['every day at 9', 'every day at 09:00', '2026-11-27T08:00'],
    ['daily at 17:30', 'every day at 17:30', '2026-11-26T16:30'],
    ['Every Friday at 17:00', 'every Friday at 17:00', '2026-11-27T16:00'],
    ['at 9 every day', 'every day at 09:00', '2026-11-27T08:00'],
    ['fri 5 pm weekly', 'every Friday at 17:00', '2026-11-27T16:00'],
    ['every fri 5 pm', 'every Friday at 17:00', '2026-11-27T16:00'],
    ['weekly on mondays at noon', 'every Monday at 12:00', '2026-11-30T11:00'],
    [
      'every monday, wednesday and friday at 8:15am',
      'every Monday, Wednesday, and Friday at 08:15',
      '2026-11-27T07:15',
    ],
    ['every weekday at 9:00', 'every weekday at 09:00', '2026-11-27T08:00'],
    ['every month on the 1st at 9:00', 'every month on the 1st at 09:00', '2026-12-01T08:00'],
    ['monthly on the 22nd at midnight', 'every month on the 22nd at 00:00', '2026-12-21T23:00'],
    ['every month on the last day at 18:00', 'every month on the last day at 18:00', '2026-11-30T17:00'],
  ])('reads “%s”', async (typed, when, at) => {
    expect((await readWhen(typed, { timeZone, now })).when).toBe(when);
    expect(await next(typed)).toBe(`${at}:00.000Z`);
  });

  test('stay the same when the clocks change', async () => {
    const { pattern } = await readWhen('every day at 9:00', { timeZone, now });
    const winter = nextRun(pattern, timeZone, Date.parse('2027-03-27T00:00Z'));
    const summer = nextRun(pattern, timeZone, Date.parse('2027-03-28T00:00Z'));
    expect(winter).toBe(Date.parse('2027-03-27T08:00Z'));
    expect(summer).toBe(Date.parse('2027-03-28T07:00Z'));
  });

  test.each(['every friday', 'every month on the 3rd', 'daily'])(
    'asks for a time of day after “%s”',
    async (typed) => {
      await expect(readWhen(typed, { timeZone, now })).rejects.toThrow('Add a time of day');
    },
  );

  test.each([
    'every other day at 9:00',
    'every month on the 31st at 9:00',
    'every month at 9:00',
    'every week at 9:00',
    'every friday on the 3rd at 9:00',
    'every day at 25:00',
    'every 5 minutes',
    'every 2 fridays at noon',
    'every 2nd day at 9:00',
    'every 2nd month at 9:00',
  ])('refuses “%s” with examples', async (typed) => {
    await expect(readWhen(typed, { timeZone, now })).rejects.toThrow('Try “every day at 9:00”');
  });
});

describe('single times', () => {
  test.each([
    ['tomorrow at 18:00', '2026-11-27T17:00'],
    ['at 12:30', '2026-11-26T11:30'],
    ['9am', '2026-11-27T08:00'],
    ['in 2 hours', '2026-11-26T12:00'],
    ['24 December 18:00', '2026-12-24T17:00'],
    ['2027-07-01 18:00', '2027-07-01T16:00'],
    ['5pm UTC', '2026-11-26T17:00'],
  ])('reads “%s”', async (typed, at) => {
    expect((await readWhen(typed, { timeZone, now })).when).toBe('once');
    expect(await next(typed)).toBe(`${at}:00.000Z`);
  });

  test('asks for a time of day after a date', async () => {
    await expect(readWhen('tomorrow', { timeZone, now })).rejects.toThrow('“tomorrow at 17:00”');
  });

  test('refuses a time that has passed', async () => {
    await expect(readWhen('2026-11-25 18:00', { timeZone, now })).rejects.toThrow('has already passed');
  });

  test.each(['soon', 'tomorrow at 9 or so', '', '17:00 to 18:00'])(
    'refuses “%s” with examples',
    async (typed) => {
      await expect(readWhen(typed, { timeZone, now })).rejects.toThrow('Try “every day at 9:00”');
    },
  );
});

test('recognises time zones', () => {
  expect(isTimeZone('Europe/Berlin')).toBe(true);
  expect(isTimeZone('Berlin')).toBe(false);
  expect(isTimeZone('')).toBe(false);
});
