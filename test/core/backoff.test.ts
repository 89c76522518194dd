import { expect, test } from 'vitest';
import { backoff } from '../../src/core/backoff.ts';

test.each([
  { attempt: 1, random: 0.5, pause: 100 },
  { attempt: 3, random: 0.5, pause: 400 },
  { attempt: 2, random: 0, pause: 150 },
  { attempt: 2, random: 1, pause: 250 },
  { attempt: 60, random: 0.5, pause: 1_000 },
])('after $attempt failures, with $random for chance: $pause ms', ({ attempt, random, pause }) => {
  expect(backoff({ attempt, firstMs: 100, longestMs: 1_000, random: () => random })).toBe(pause);
});
