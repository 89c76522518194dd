import remend, { INCOMPLETE_IMAGE_PLACEHOLDER, isWithinCodeBlock } from 'remend';

/** In characters: remend takes quadratic time on nested brackets. */
const LONGEST_BLOCK = 1_500;
const BLOCK_START = /\n(?:\n|[ \t]*(?:```[^`\n]*(?=\n)|(?:[-*+]|\d{1,9}[.)])[ \t]))/g;
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

/** Closes open emphasis, code and links at the end of streaming Markdown. */
export function closeMarkdown(markdown: string): string {
  const text = withoutTrailingMarks(markdown);
  const start = startOfLastBlock(text);
  if (start === undefined || isWithinCodeBlock(text, text.length)) return text;
  // Closes code first: remend would otherwise put emphasis marks inside it.
  const closed = remend(remend(text.slice(start), CODE), EMPHASIS_AND_LINKS);
  const bold = isBoldOpen(closed) ? '**' : '';
  return text.slice(0, start) + closed.replace(INCOMPLETE_IMAGE_PLACEHOLDER, '') + bold;
}

/** remend does not close bold text that contains italics. */
function isBoldOpen(block: string): boolean {
  const outsideCode = block.split(/`+/).filter((_, index) => index % 2 === 0);
  return outsideCode.join('').split('**').length % 2 === 0;
}

/** Trims a possibly incomplete mark: `*` of `**`, `2` of `2. `, or dashes that would turn the line above into a heading. */
function withoutTrailingMarks(text: string): string {
  let end = text.length;
  while (end > 0 && MARKS.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(/\n\d{1,9}[.)]?$/, '');
}

/** Marks end at empty lines, fences and list items. Undefined if the last block is too long. */
function startOfLastBlock(text: string): number | undefined {
  const from = Math.max(0, text.length - LONGEST_BLOCK);
  const starts = [...text.slice(from).matchAll(BLOCK_START)].map(({ index }) => from + index + 1);
  return starts.findLast((at) => !isWithinCodeBlock(text, at - 1)) ?? (from === 0 ? 0 : undefined);
}
