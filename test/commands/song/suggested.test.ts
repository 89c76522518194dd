import { expect, test } from 'vitest';
import { suggestedSong } from '../../../commands/song/suggested.ts';
import type { JobView } from '../../../src/core/job.ts';

/** The cast is safe: suggestions read nothing but the answer. */
const suggestionIn = (text: string) =>
  suggestedSong({ result: { songs: [], answer: { text } } } as unknown as JobView);

test.each([
  ['Try `/song a tune for rain`.', { prompt: 'a tune for rain' }],
  ['`/song rain --style slow jazz` or `/song snow`', { prompt: 'rain', style: 'slow jazz' }],
  ['```\n/song rain\n```', undefined],
  ['/song rain', undefined],
  ['`/song`, `/songs rain` and `/lyrics rain`', undefined],
  ['`/song rain --instrumental`', undefined],
  ['`/song --style jazz`', undefined],
  ['`/song rain --style jazz --voice Ada`', undefined],
  [`\`/song ${'a'.repeat(5000)}\``, { prompt: 'a'.repeat(3000) }],
  ['`/song '.repeat(30_000), undefined],
])('finds the song in %j', (text, song) => {
  expect(suggestionIn(text)).toEqual(song);
});
