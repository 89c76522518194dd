/** Markdown as Discord reads it, in pages that break between blocks, lines or words, with every fence and mark closed. */
import { type Block, blocksOf, type CodeBlock, type TextBlock } from './blocks.ts';
import { escapeFenced } from './escape.ts';
import { type Token, writeTokens } from './inline.ts';

/** A page with less room than this is left, so that a long block does not begin with a scrap. */
const SCRAP = 0.25;

/**
 * Markdown (CommonMark, GFM) as Discord's, with every mention dead, in pages of at most `limit` characters.
 * @returns no page for text that shows nothing
 */
export const markdownPages = (markdown: string, limit: number): string[] =>
  paginate(blocksOf(markdown), limit);

/** @param limit in characters, 100 at least */
export function paginate(blocks: readonly Block[], limit: number): string[] {
  const pages: string[] = [];
  let page = '';
  for (const block of blocks) {
    for (const [index, piece] of [...pieces(block, page, limit)].entries()) {
      if (piece === '') continue;
      const gap = page === '' ? '' : block.tight ? '\n' : '\n\n';
      if (index === 0 && page.length + gap.length + piece.length <= limit) {
        page += gap + piece;
        continue;
      }
      if (page !== '') pages.push(page);
      page = piece;
    }
  }
  if (page !== '') pages.push(page);
  return pages;
}

/** The block as it is if it fits into one page, else broken; the first piece then fills what the page still has. */
function* pieces(block: Block, page: string, limit: number): Generator<string> {
  const room = limit - page.length - 2;
  const whole = block.kind === 'code' ? fence(block, block.code) : writeText(block, block.tokens, true);
  if (whole.length <= limit) {
    yield whole;
    return;
  }
  const first = room >= limit * SCRAP ? room : limit;
  yield* block.kind === 'code' ? codePieces(block, first, limit) : textPieces(block, first, limit);
}

const fence = (block: CodeBlock, code: string): string =>
  `\`\`\`${block.language}\n${escapeFenced(code) || ' '}\n\`\`\``;

function* codePieces(block: CodeBlock, first: number, limit: number): Generator<string> {
  let room = first;
  let lines: string[] = [];
  const fits = (candidate: readonly string[]) => fence(block, candidate.join('\n')).length <= room;
  for (const line of block.code.split('\n')) {
    for (const part of hardSplit(
      line,
      limit - fence(block, '').length,
      (text) => escapeFenced(text).length,
    )) {
      if (lines.length > 0 && !fits([...lines, part])) {
        yield fence(block, lines.join('\n'));
        room = limit;
        lines = [];
      }
      // A part that fits a whole page may still be too long for the rest of this one.
      if (lines.length === 0 && !fits([part])) {
        yield '';
        room = limit;
      }
      lines.push(part);
    }
  }
  if (lines.length > 0) yield fence(block, lines.join('\n'));
}

function writeText(block: TextBlock, row: readonly Token[], isFirst: boolean): string {
  const written = writeTokens(row, block.hanging);
  return written === '' && block.prefix.trim() === ''
    ? ''
    : `${isFirst ? block.prefix : block.hanging}${written}`;
}

function* textPieces(block: TextBlock, first: number, limit: number): Generator<string> {
  let rest = block.tokens.flatMap((token) => breakable(token, token.kind === 'link' ? limit / 2 : limit / 4));
  let room = first;
  let isFirst = true;
  while (rest.length > 0) {
    const count = mostThatFit(rest, room, (taken) => writeText(block, taken, isFirst).length <= room);
    if (count === 0 && room < limit) {
      yield '';
      room = limit;
      continue;
    }
    // A prefix that leaves no room for one word cannot be kept.
    const taken = rest.slice(0, Math.max(count, 1));
    yield count === 0 ? writeTokens(taken, '') : writeText(block, taken, isFirst);
    rest = rest.slice(taken.length);
    room = limit;
    isFirst = false;
  }
}

/** How many tokens fit, ending before a space or a line break where there is one. */
function mostThatFit(
  row: readonly Token[],
  limit: number,
  fits: (taken: readonly Token[]) => boolean,
): number {
  let low = 0;
  // Every token is one character at least.
  let high = Math.min(row.length, limit + 1);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(row.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  if (low === row.length) return low;
  for (let count = low; count > 0; count -= 1) {
    const next = row[count]?.kind;
    if ((next === 'space' || next === 'break') && fits(row.slice(0, count))) return count;
  }
  return low;
}

/** A word or an address longer than a quarter of a page is cut: there is no other way. */
function breakable(token: Token, longest: number): Token[] {
  if (token.text.length <= longest) return [token];
  if (token.kind !== 'link') return [...hardSplit(token.text, longest)].map((text) => ({ ...token, text }));
  // Broken, it is a link no more.
  return token.text
    .split(/(?<= )/)
    .flatMap((part) => [...hardSplit(part, longest)])
    .map((text) => ({ ...token, kind: text.trim() === '' ? 'space' : 'word', text }));
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts after a space where there is one, else between characters as people see them. An empty text gives one empty piece. */
function* hardSplit(
  text: string,
  longest: number,
  measure = (piece: string) => piece.length,
): Generator<string> {
  if (measure(text) <= longest) {
    yield text;
    return;
  }
  let piece = '';
  for (const { segment } of graphemes.segment(text)) {
    // A cluster may be of any length; it is cut by code points then.
    for (const part of segment.length > 32 ? segment : [segment]) {
      if (piece !== '' && measure(piece + part) > longest) {
        const space = piece.lastIndexOf(' ') + 1;
        const end = space > piece.length / 2 ? space : piece.length;
        yield piece.slice(0, end);
        piece = piece.slice(end);
      }
      piece += part;
    }
  }
  if (piece !== '') yield piece;
}
