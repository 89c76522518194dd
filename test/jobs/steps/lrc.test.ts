import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesOf, lrc } from '../../../src/jobs/steps/lrc.ts';
import { codePoint } from '../../fixtures/code-point.ts';

const word = (text: string, startSeconds: number, seconds = 0.3) => ({
  word: text,
  startSeconds,
  endSeconds: startSeconds + seconds,
});

describe('lines', () => {
  it("end at the gateway's line breaks, and carry the section tag before them", () => {
    expect(
      linesOf([
        word("[Verse]\nWaggin' ", 1),
        word('my ', 1.4),
        word('tail\n', 1.8),
        word('\n[Chorus]\nOh ', 4),
        word('yes', 4.5),
      ]),
    ).toEqual([
      { startSeconds: 1, text: "Waggin' my tail", section: 'Verse' },
      { startSeconds: 4, text: 'Oh yes', section: 'Chorus' },
    ]);
  });

  it('end at pauses and before they get too long, without line breaks', () => {
    const lines = linesOf([
      ...['Rain', 'on', 'the', 'roof'].map((text, index) => word(text, index * 0.4)),
      ...['all', 'night'].map((text, index) => word(text, 4 + index * 0.4)),
    ]);
    expect(lines.map(({ text }) => text)).toEqual(['Rain on the roof', 'all night']);
    const long = linesOf(Array.from({ length: 40 }, (_, index) => word('lalala', index * 0.3)));
    expect(Math.max(...long.map(({ text }) => text.length))).toBeLessThanOrEqual(48);
  });

  it('are empty for an instrumental', () => {
    expect(linesOf([])).toEqual([]);
    expect(linesOf([word('[Instrumental]', 0), word('  ', 1)])).toEqual([]);
  });
});

describe('the .lrc file', () => {
  it('has a header and timed lines', () => {
    const text = lrc(
      [
        { startSeconds: 0, text: 'Rain' },
        { startSeconds: 59.999, text: 'on [the] roof' },
        { startSeconds: 3661.5, text: 'still' },
      ],
      { title: 'Ra]in', artist: 'Ada\nB', durationSeconds: 61.2 },
    );
    expect(text).toBe(
      [
        '[ti:Ra)in]',
        '[ar:Ada B]',
        '[length:01:01]',
        '[by:Minstrel]',
        '[00:00.00]Rain',
        '[00:59.99]on (the) roof',
        '[61:01.50]still',
        '',
      ].join('\n'),
    );
  });

  it('is well-formed and loses no word, whatever the lyrics', () => {
    const words = fc.array(
      fc.record({
        word: fc.string({ unit: codePoint }),
        startSeconds: fc.double({ min: 0, max: 7200, noNaN: true }),
      }),
    );
    fc.assert(
      fc.property(words, fc.string(), (sung, title) => {
        const lines = linesOf(
          sung
            .toSorted((one, other) => one.startSeconds - other.startSeconds)
            .map(({ word: text, startSeconds }) => word(text, startSeconds)),
        );
        const text = lrc(lines, { title, artist: title });
        for (const line of text.slice(0, -1).split('\n')) {
          expect(line).toMatch(
            /^(?:\[(?:ti|ar|length|by):[^[\]\r\n]*\]|\[\d{2,3}:[0-5]\d\.\d{2}\][^[\]\r\n]*)$/,
          );
        }
        const letters = (all: string) => all.replace(/\s+/g, '');
        const inOrder = sung.toSorted((one, other) => one.startSeconds - other.startSeconds);
        expect(letters(lines.map(({ text: line }) => line).join(''))).toBe(
          letters(inOrder.map((one) => one.word.replace(/\[[^\]\n]*\]/g, '')).join('')),
        );
      }),
    );
  });
});

it('times beyond the format become its largest', () => {
  const lines = [{ startSeconds: 1e308, text: 'Rain' }];
  expect(lrc(lines, { title: 'Rain', artist: 'Ada', durationSeconds: 1e308 })).toBe(
    '[ti:Rain]\n[ar:Ada]\n[length:99:59]\n[by:Minstrel]\n[99:59.99]Rain\n',
  );
});
