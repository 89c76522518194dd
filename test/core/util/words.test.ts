import { expect, test } from 'vitest';
import { capitalised, timeAgo } from '../../../src/core/util/words.ts';

const NOW = Date.UTC(2026, 10, 26, 12);
const SECOND = 1000;
const HOUR = 3600 * SECOND;

test.each([
  [-5 * SECOND, 'just now'],
  [59 * SECOND, 'just now'],
  [60 * SECOND, '1 minute ago'],
  [59.9 * 60 * SECOND, '59 minutes ago'],
  [3.5 * HOUR, '3 hours ago'],
  [24 * HOUR, 'yesterday'],
  [6 * 24 * HOUR, '6 days ago'],
  [7 * 24 * HOUR, '19 Nov 2026'],
])('a time %d ms ago is “%s”', (passed, text) => {
  expect(timeAgo(NOW - passed, NOW)).toBe(text);
});

test.each([
  ['a tune for rain', 'A tune for rain'],
  ['émile', 'Émile'],
  ['iPhone songs', 'iPhone songs'],
  ['4 seasons', '4 seasons'],
  ['', ''],
])('“%s” starts as “%s”', (text, title) => {
  expect(capitalised(text)).toBe(title);
});
