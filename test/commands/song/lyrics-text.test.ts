import { expect, it } from 'vitest';
import { lyricsExcerpt } from '../../../commands/song/lyrics-text.ts';

const lines = (count: number, length = 20) =>
  Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'a'));

it('an excerpt has whole lines without section names', () => {
  expect(lyricsExcerpt('[Verse]\n\nDrip *drop*\n\n[Chorus]\nRain')).toBe('> Drip \\*drop\\*\n> Rain');
});

it('an excerpt ends in an ellipsis if there is more', () => {
  expect(lyricsExcerpt(lines(6).join('\n')).split('\n')).toEqual([
    ...lines(3).map((line) => `> ${line}`),
    `> ${lines(4)[3]} …`,
  ]);
});

it('an excerpt has fewer lines if they are long, and cuts a line only if it is the first', () => {
  expect(lyricsExcerpt(lines(3, 150).join('\n')).split('\n')).toHaveLength(1);
  expect(lyricsExcerpt('word '.repeat(200))).toMatch(/^> (?:word )+word…$/);
});
