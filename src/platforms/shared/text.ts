/** Measures and splits plain text without breaking characters. */
import { stripVTControlCharacters } from 'node:util';

/** The largest index up to `max` that is not inside a surrogate pair. */
export function wholeCharacters(text: string, max: number): number {
  const code = text.charCodeAt(max - 1);
  return max < text.length && code >= 0xd800 && code <= 0xdbff && max > 1 ? max - 1 : max;
}

/** Splits plain text into pieces of at most `max` characters, between words if possible. Drops only spaces. */
export function splitPlain(text: string, max: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > max) {
    const space = rest.lastIndexOf(' ', max);
    const line = rest.lastIndexOf('\n', max);
    const cut = Math.max(line, space);
    const at = cut > max / 2 ? cut : wholeCharacters(rest, max);
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).replace(/^[ \n]/, '');
  }
  if (rest.trim() !== '') pieces.push(rest);
  return pieces;
}

/** Characters that show the text after them in another order, such as a link's address. */
const DIRECTION_OVERRIDES = /[\u202a-\u202e]/g;

/** Replaces lone surrogates in all strings, because streamed text may end in half a character. Drops direction overrides. */
export function wellFormed<Data>(data: Data): Data {
  const whole = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const text = value.isWellFormed() ? value : value.replace(/[\ud800-\udbff]$/, '').toWellFormed();
      return text.replace(DIRECTION_OVERRIDES, '');
    }
    if (Array.isArray(value)) return value.map(whole);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]));
  };
  // Safe: only strings change.
  return whole(data) as Data;
}

/** The columns a text takes in a monospace font, ignoring colour codes. Wide scripts and emoji take two. */
export function widthOf(text: string): number {
  const shown = stripVTControlCharacters(text);
  if (NARROW.test(shown)) return shown.length;
  let width = 0;
  for (const cluster of shown.match(CLUSTER) ?? []) width += WIDE.test(cluster) ? 2 : 1;
  return width;
}

const NARROW = /^[\x20-\x7e\xa0-\u02ff\u2010-\u2027]*$/;
/** Approximates Intl.Segmenter's graphemes, a hundred times as fast. */
const CLUSTER =
  /(?:\p{Regional_Indicator}{2}|[\u1100-\u115f]+[\u1160-\u11ff]*|\P{M})(?:\u200d\p{Extended_Pictographic}?|[\p{M}\p{Emoji_Modifier}\u200c\u{e0020}-\u{e007f}])*|\p{M}+/gu;
const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
