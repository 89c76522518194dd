import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { backoff, retryAfterOf } from '../../../src/core/util/backoff.ts';

it.each([
  ['an HTTP date', 'Sun, 06 Nov 1994 08:50:37 GMT'],
  ['a date in the obsolete format', 'Sunday, 06-Nov-94 08:50:37 GMT'],
  ['a date in asctime format, which is UTC', 'Sun Nov  6 08:50:37 1994'],
])('Retry-After may be %s, in any time zone', (_, date) => {
  const code = `
    const { retryAfterOf } = await import('./src/core/util/backoff.ts');
    const now = Date.parse('1994-11-06T08:49:37Z');
    console.log(retryAfterOf(new Headers({ 'retry-after': ${JSON.stringify(date)} }), now));`;
  // Each time zone needs its own process.
  for (const TZ of ['UTC', 'Asia/Tokyo', 'America/Los_Angeles']) {
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      env: { ...process.env, TZ },
      encoding: 'utf8',
    });
    expect(`${TZ} ${output.trim()}`).toBe(`${TZ} 60000`);
  }
});

const DAY = 24 * 60 * 60_000;

it.each([
  ['retry-after', '7', 7_000],
  ['retry-after', '1.5', 1_500],
  ['retry-after', '0', 0],
  ['retry-after', '9999999999', DAY],
  ['retry-after', '9'.repeat(400), DAY],
  ['retry-after', '-1', undefined],
  ['retry-after', 'soon', undefined],
  ['retry-after', '', undefined],
  ['retry-after-ms', '250', 250],
  ['retry-after-ms', '-250', undefined],
  ['retry-after', 'Sun, 06 Nov 1994 08:50:37 GMT', 0],
])('%s: %s is %s ms', (name, value, means) => {
  expect(retryAfterOf(new Headers({ [name]: value }), Date.now())).toBe(means);
});

it.each([
  { attempt: 1, random: 0.5, pause: 100 },
  { attempt: 3, random: 0.5, pause: 400 },
  { attempt: 2, random: 0, pause: 150 },
  { attempt: 2, random: 1, pause: 250 },
  { attempt: 60, random: 0.5, pause: 1_000 },
])('after $attempt failures with $random as random value: $pause ms', ({ attempt, random, pause }) => {
  expect(backoff({ attempt, firstMs: 100, longestMs: 1_000, random: () => random })).toBe(pause);
});
