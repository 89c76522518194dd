/** Plain text: how wide it is, and cutting it without breaking a character. */
import { stripVTControlCharacters } from 'node:util';

/** The largest index up to `most` that does not lie inside a surrogate pair. */
export function wholeCharacters(text: string, most: number): number {
  const code = text.charCodeAt(most - 1);
  return most < text.length && code >= 0xd800 && code <= 0xdbff && most > 1 ? most - 1 : most;
}

/** Splits plain text into pieces of at most `most` characters, between words where there are any. Loses nothing but spaces. */
export function splitPlain(text: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const space = rest.lastIndexOf(' ', most);
    const line = rest.lastIndexOf('\n', most);
    const cut = Math.max(line, space);
    const at = cut > most / 2 ? cut : wholeCharacters(rest, most);
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).replace(/^[ \n]/, '');
  }
  if (rest.trim() !== '') pieces.push(rest);
  return pieces;
}

/** The same data with whole characters only: text that is still coming may end in half of one. */
export function wellFormed<Data>(data: Data): Data {
  const whole = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.isWellFormed() ? value : value.replace(/[\ud800-\udbff]$/, '').toWellFormed();
    if (Array.isArray(value)) return value.map(whole);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]));
  };
  // Sound: only strings change.
  return whole(data) as Data;
}

/** How many columns a text takes where all letters are equally wide; it may hold colours. Wide scripts and emoji take two. */
export function widthOf(text: string): number {
  const shown = stripVTControlCharacters(text);
  if (NARROW.test(shown)) return shown.length;
  let width = 0;
  for (const cluster of shown.match(CLUSTER) ?? []) width += WIDE.test(cluster) ? 2 : 1;
  return width;
}

const NARROW = /^[\x20-\x7e\xa0-\u02ff\u2010-\u2027]*$/;
/** Like the segments of Intl.Segmenter, which takes as long for one word as this does for a hundred. */
const CLUSTER =
  /(?:\p{Regional_Indicator}{2}|[\u1100-\u115f]+[\u1160-\u11ff]*|\P{M})(?:\u200d\p{Extended_Pictographic}?|[\p{M}\p{Emoji_Modifier}\u200c\u{e0020}-\u{e007f}])*|\p{M}+/gu;
const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
