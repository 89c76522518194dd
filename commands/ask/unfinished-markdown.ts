import remend, { INCOMPLETE_IMAGE_PLACEHOLDER, isWithinCodeBlock } from 'remend';

/** In characters. remend takes quadratic time in nested brackets. */
const LONGEST_BLOCK = 1_500;
const BEGINS_BLOCK = /\n(?:\n|[ \t]*(?:```[^`\n]*(?=\n)|(?:[-*+]|\d{1,9}[.)])[ \t]))/g;
const MARKS = '*_~`[]()!\\-=#>+ \t\n';
const CODE = {
  inlineCode: true,
  bold: false,
  boldItalic: false,
  italic: false,
  strikethrough: false,
  links: false,
  images: false,
  comparisonOperators: false,
  htmlTags: false,
  katex: false,
  setextHeadings: false,
  singleTilde: false,
} as const;
const EMPHASIS_AND_LINKS = {
  ...CODE,
  bold: true,
  boldItalic: true,
  italic: true,
  strikethrough: true,
  links: true,
  linkMode: 'text-only',
} as const;

/** Closes the emphasis, code and link that Markdown which is still being written has open at its end. */
export function closeMarkdown(written: string): string {
  const text = withoutLastMarks(written);
  const start = startOfLastBlock(text);
  if (start === undefined || isWithinCodeBlock(text, text.length)) return text;
  // remend closes emphasis before code, which would put the marks into the code.
  const closed = remend(remend(text.slice(start), CODE), EMPHASIS_AND_LINKS);
  const bold = isBoldOpen(closed) ? '**' : '';
  return text.slice(0, start) + closed.replace(INCOMPLETE_IMAGE_PLACEHOLDER, '') + bold;
}

/** remend leaves bold text open that has slanted words in it. */
function isBoldOpen(block: string): boolean {
  const outsideCode = block.split(/`+/).filter((_, index) => index % 2 === 0);
  return outsideCode.join('').split('**').length % 2 === 0;
}

/** What stands last may be half of a mark: `*` of `**`, `2` of `2. `, or dashes that would make a heading of the line above. */
function withoutLastMarks(text: string): string {
  let end = text.length;
  while (end > 0 && MARKS.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(/\n\d{1,9}[.)]?$/, '');
}

/** Marks reach over no empty line or fence, nor out of an item. Undefined where that is further away than the longest block. */
function startOfLastBlock(text: string): number | undefined {
  const from = Math.max(0, text.length - LONGEST_BLOCK);
  const starts = [...text.slice(from).matchAll(BEGINS_BLOCK)].map(({ index }) => from + index + 1);
  return starts.findLast((at) => !isWithinCodeBlock(text, at - 1)) ?? (from === 0 ? 0 : undefined);
}
