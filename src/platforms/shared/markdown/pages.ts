/** Splits blocks into messages: between blocks, or inside long blocks between lines or words, closing every fence and mark. */
import { setImmediate } from 'node:timers/promises';
import { splitPlain } from '../text.ts';
import type { Block, Frame } from './blocks.ts';
import { fittingPrefix, type LineLayout, type PhrasingNotation, writeWords } from './phrasing.ts';

/** A page with less space left counts as full, so a long block does not start with a fragment. */
const SCRAP = 0.25;
/** Above this, yield to the event loop before writing. */
const MANY_WORDS = 5_000;

/**
 * Returns pages of at most `limit` characters, skipping empty blocks. Yields to the event loop between pages.
 * @param limit at least 100
 * @param max maximum number of pages
 */
export async function splitBlocks(
  blocks: readonly Block[],
  notation: PhrasingNotation,
  limit: number,
  max = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const written: string[] = [];
  for await (const page of pages(blocks, notation, limit)) {
    if (written.length > 0) await setImmediate();
    written.push(page);
    if (written.length === max) break;
  }
  return written;
}

async function* pages(
  blocks: readonly Block[],
  notation: PhrasingNotation,
  limit: number,
): AsyncGenerator<string> {
  let page = '';
  /** Indentation removed from a page that starts inside a list. */
  let indent = 0;
  let isAfterBroken = false;
  for (const block of blocks) {
    // After a split block, the next one must not continue the same paragraph.
    const gap = page === '' ? '' : isAfterBroken ? '\n\n' : block.gap;
    // The first two pieces show whether the block fits on one page.
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

/** Like {@link writeWords}, but splits between lines. */
function* writeLines(frame: Frame & LineLayout, limit: number, first: number): Generator<string> {
  const [prefix = '', hanging = ''] = [frame.prefix, frame.hanging].map((text) => fittingPrefix(text, limit));
  // Drop a head that leaves little space for lines.
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
      // A line that fits on an empty page may still be too long for the rest of this one.
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
