import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readNumber } from '../../src/core/options.ts';

describe('a number as people write it', () => {
  test.each([
    ['5', 5],
    ['2.5', 2.5],
    ['2,5', 2.5],
    ['.5', 0.5],
    ['0,125', 0.125],
    ['-3', -3],
    ['−3', -3],
    ['1,000', 1000],
    ['1 000', 1000],
    ['1\u202f000', 1000],
    ['1’000', 1000],
    ['12,345,678', 12_345_678],
    ['1.000,5', 1000.5],
    ['1,000.5', 1000.5],
    ['1.000.000', 1_000_000],
  ])('%s', (typed, number) => {
    expect(readNumber(typed)).toBe(number);
  });

  test.each(['', ' ', '-', 'many', '1.000', '1,00,000', '1,000,5', '1.2.3', '0x10', '1e3', '5 songs', 'NaN'])(
    '%j is none, or could be several',
    (typed) => {
      expect(readNumber(typed)).toBeUndefined();
    },
  );

  test('as every language writes it that groups by three', () => {
    for (const locale of ['en', 'fr', 'de-CH', 'da', 'pl', 'ja'])
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 1e9 }), fc.constantFrom(0, 0.5, 0.25), (whole, rest) => {
          const number = whole + rest;
          const written = new Intl.NumberFormat(locale).format(number);
          const isUnclear = /^\d{1,3}\.\d{3}$/.test(written);
          expect(readNumber(written)).toBe(isUnclear ? undefined : number);
        }),
      );
  });
});
