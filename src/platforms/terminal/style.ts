import { stripVTControlCharacters, styleText } from 'node:util';

type Format = Extract<Parameters<typeof styleText>[0], string>;

/** Colours a text, or leaves it alone where colours are off. */
export type Style = (format: Format | readonly Format[], text: string) => string;

export function createStyle(colour: boolean): Style {
  if (!colour) return (_format, text) => text;
  return (format, text) =>
    text === ''
      ? ''
      : styleText(typeof format === 'string' ? format : [...format], text, { validateStream: false });
}

/** Control characters could move the cursor and rewrite what stands; direction marks could turn it around. */
const UNSAFE = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text from people and models, fit for a terminal: nothing in it can be taken for a command to the terminal. */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(UNSAFE, '');
}

/** How many columns a text takes, which may hold colours. Wide scripts and emoji take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(stripVTControlCharacters(text)))
    width += WIDE.test(segment) ? 2 : 1;
  return width;
}

const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

/** The beginning of a text that fits into so many columns; where it was cut, an ellipsis stands for rest and colours. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(stripVTControlCharacters(text))) {
    width += widthOf(segment);
    if (width >= columns) break;
    kept += segment;
  }
  return `${kept}…`;
}
