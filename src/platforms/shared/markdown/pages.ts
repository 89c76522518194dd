/** Blocks in messages: split between blocks, a long one between lines or words, with every fence and mark closed. */
import { setImmediate } from 'node:timers/promises';
import { splitPlain } from '../text.ts';
import type { Block, Frame } from './blocks.ts';
import { keptPrefix, type LineLayout, type PhrasingNotation, writeWords } from './phrasing.ts';

/** A page with a smaller part left is full, so that a long block does not begin with a scrap. */
const SCRAP = 0.25;
/** Making more takes so long that other work is done before they are written. */
const MANY_WORDS = 5_000;

/**
 * Pages of at most `limit` characters, none for blocks that show nothing. Other work is done between them.
 * @param limit 100 at least
 * @param most ends after as many pages
 */
export async function splitBlocks(
  blocks: readonly Block[],
  notation: PhrasingNotation,
  limit: number,
  most = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const written: string[] = [];
  for await (const page of pages(blocks, notation, limit)) {
    if (written.length > 0) await setImmediate();
    written.push(page);
    if (written.length === most) break;
  }
  return written;
}

async function* pages(
  blocks: readonly Block[],
  notation: PhrasingNotation,
  limit: number,
): AsyncGenerator<string> {
  let page = '';
  /** A page that begins inside a list stands at the margin. */
  let indent = 0;
  let isAfterBroken = false;
  for (const block of blocks) {
    // After a broken block, the next must not be read as a line of the same paragraph.
    const gap = page === '' ? '' : isAfterBroken ? '\n\n' : block.gap;
    // Two pieces tell whether it fits on one page.
    const words = 'words' in block ? block.words() : [];
    if (words.length > MANY_WORDS) await setImmediate();
    const write = (first = limit) =>
      'words' in block
        ? writeWords(words, shifted(block, indent), notation, limit, first)
        : writeLines(shifted(block, indent), limit, first);
    const [whole = '', more] = write();
    isAfterBroken = more !== undefined;
    if (whole === '') continue;
    if (more === undefined && page !== '' && page.length + gap.length + whole.length <= limit) {
      page += gap + whole;
      continue;
    }
    indent = indentOf(block.prefix);
    const left = limit - page.length - gap.length;
    const first = isAfterBroken && left >= limit * SCRAP ? left : limit;
    let isFirst = page !== '' && first < limit;
    for (const piece of write(first)) {
      if (isFirst && piece !== '') page += gap + piece;
      else if (!isFirst) {
        if (page !== '') yield page;
        page = piece;
      }
      isFirst = false;
    }
  }
  if (page !== '') yield page;
}

const indentOf = (prefix: string): number => prefix.length - prefix.trimStart().length;

function shifted<Some extends Block>(block: Some, indent: number): Some {
  const shift = (prefix: string) => prefix.slice(Math.min(indent, indentOf(prefix)));
  return indent === 0 ? block : { ...block, prefix: shift(block.prefix), hanging: shift(block.hanging) };
}

/** Like {@link writeWords}, between lines. */
function* writeLines(frame: Frame & LineLayout, limit: number, first: number): Generator<string> {
  const [prefix = '', hanging = ''] = [frame.prefix, frame.hanging].map((given) => keptPrefix(given, limit));
  // A head that leaves little space for lines cannot be kept.
  const heads = frame.head.length > limit / 2 ? [] : frame.head.split('\n');
  const feet = frame.foot === undefined || heads.length === 0 ? [] : [frame.foot];
  const lengthOf = (line: string) => hanging.length + line.length + 1;
  const empty = [...heads, ...feet].reduce((sum, line) => sum + lengthOf(line), prefix.length);
  const longest = limit - empty - lengthOf('');
  let isFirst = true;
  const framed = (some: readonly string[]): string => {
    const begin = isFirst ? prefix : hanging;
    isFirst = false;
    return begin + [...heads, ...some, ...feet].join(`\n${hanging}`);
  };
  let space = first;
  let length = empty;
  let piece: string[] = [];
  for (const line of frame.lines.flatMap((line) =>
    line.length > longest ? splitPlain(line, longest) : [line],
  )) {
    if (length + lengthOf(line) > space) {
      if (piece.length > 0) yield framed(piece);
      // A line that fits into a whole page may still be too long for the rest of this one.
      else if (space < limit) yield '';
      piece = [];
      length = empty;
      space = limit;
    }
    piece.push(line);
    length += lengthOf(line);
  }
  if (piece.length > 0 || isFirst) yield framed(piece);
}
