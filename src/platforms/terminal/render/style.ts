import { stripVTControlCharacters, styleText } from 'node:util';
import { wellFormed, widthOf } from '../../shared/text.ts';

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

/** Control characters could move the cursor and overwrite lines; direction marks could reverse text. */
const UNSAFE = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text from people and models, fit for a terminal: nothing in it can be taken for a command to the terminal. */
export function printable(text: string): string {
  return wellFormed(text).replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(UNSAFE, '');
}

/** Characters that one column may take, with colours and emoji of many parts. Longer text is not measured whole. */
const LONGEST_COLUMN = 64;

/** The beginning of a text that fits into so many columns. After a cut, an ellipsis replaces the rest and the colours. */
export function cutToWidth(text: string, columns: number): string {
  if (text.length <= columns * LONGEST_COLUMN && widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(stripVTControlCharacters(text))) {
    width += widthOf(segment);
    if (width >= columns) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Before the text of a line: indentation, quotes, bullets, numbers and boxes. */
const LEAD = /^(?: +|│ |• |\d+\. |\[[ x]\] )*/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is told colours by control characters.
const SPACES_AT_END = / +((?:\u001b\[[\d;]*m)*)$/;

/**
 * Breaks lines between words, or between columns that three spaces part, so that each takes as many columns at most. What goes
 * on is indented like its beginning.
 */
export function wrapWords(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const [lead = ''] = LEAD.exec(stripVTControlCharacters(line)) ?? [];
  const hanging = lead.length > columns / 2 ? '' : lead.replace(/[^│]/g, ' ');
  let written = '';
  let width = 0;
  const parts = line.split(/(?<=\S {3,})(?! )/).flatMap((part) => {
    const isNarrow = widthOf(part.trimEnd()) <= columns - hanging.length;
    return isNarrow && part.trim() !== line.trim() ? [part] : part.split(/(?<= )(?! )/);
  });
  for (const word of parts) {
    const isFull = width > hanging.length && width + widthOf(word.trimEnd()) > columns;
    if (isFull) {
      written = `${written.replace(SPACES_AT_END, '$1')}\n${hanging}`;
      width = hanging.length;
    }
    written += word;
    width += widthOf(word);
  }
  return written.replace(SPACES_AT_END, '$1');
}
