/** Plain text: how wide it is, and cutting it without breaking a character. */
import { stripVTControlCharacters } from 'node:util';

/** Cuts plain text to a length without breaking a character; an ellipsis marks the cut. */
export function ellipsis(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, wholeCharacters(text, most - 1))}…`;
}

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

// --- Markdown in independent parts, so that only the end of a growing text is parsed again ---

/** Lines after which text behind a blank line may still belong to the same block: HTML, and fences in something else. */
const UNSURE = /^[ \t]*<|^(?:[ \t>+*-]|\d{1,9}[.)]).*(?:`{3}|~{3})/;
/** What begins so may go on a list or code above the blank line. */
const GOES_ON = /^(?:[ \t]|(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$))/;
const FENCE = /^(`{3,}|~{3,})/;

/** Joined by line breaks, the parts are the text. */
export function markdownParts(markdown: string): string[] {
  // A definition counts for the whole text.
  if (markdown.includes(']:') || markdown.includes('\r')) return [markdown];
  const parts: string[] = [];
  let part: string[] = [];
  let fence: string | undefined;
  let isAfterBlank = false;
  let isUnsure = false;
  for (const line of markdown.split('\n')) {
    if (isAfterBlank && fence === undefined && !isUnsure && line !== '' && !GOES_ON.test(line)) {
      parts.push(part.join('\n'));
      part = [];
    }
    part.push(line);
    isAfterBlank = line.trim() === '';
    isUnsure ||= UNSURE.test(line);
    const [, marks] = FENCE.exec(line) ?? [];
    if (marks === undefined) continue;
    if (fence === undefined)
      fence = marks.startsWith('`') && line.slice(marks.length).includes('`') ? undefined : marks;
    else if (marks.startsWith(fence) && line.trim() === marks) fence = undefined;
  }
  return [...parts, part.join('\n')];
}

/** Parts that are remembered, the latest ones. */
const REMEMBERED = 1_000;
/** In characters. Longer parts are read anew. */
const LONGEST_REMEMBERED = 4_000;

/** Reads a text part by part, each of the last ones once for each variant. */
export function createPartReader<Piece, Variant extends string | number | boolean>(
  read: (part: string, variant: Variant) => readonly Piece[],
): (markdown: string, variant: Variant) => Piece[] {
  const known = new Map<string, readonly Piece[]>();
  return (markdown, variant) =>
    markdownParts(markdown).flatMap((part) => {
      const key = `${variant} ${part}`;
      const pieces = known.get(key) ?? read(part, variant);
      known.delete(key);
      if (part.length <= LONGEST_REMEMBERED) known.set(key, pieces);
      const [oldest] = known.size > REMEMBERED ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
      return pieces;
    });
}
