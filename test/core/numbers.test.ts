import { describe, expect, test } from 'vitest';
import { readNumber } from '../../src/core/options.ts';

describe('a number as people write it', () => {
  test.each([
    ['5', 5],
    [' 2.5 ', 2.5],
    ['2,5', 2.5],
    ['.5', 0.5],
    ['0,125', 0.125],
    ['-3', -3],
    ['1,000', 1000],
    ['12,345,678', 12_345_678],
    ['1,000.5', 1000.5],
  ])('%s', (typed, number) => {
    expect(readNumber(typed)).toBe(number);
  });

  test.each(['', ' ', '-', 'many', '1,00,000', '1,000,5', '1.2.3', '0x10', '1e3', '5 songs', 'NaN'])(
    '%j is none',
    (typed) => {
      expect(readNumber(typed)).toBeUndefined();
    },
  );
});
