/**
 * Markdown as Discord reads it: in the card if it fits, else in pages that break between blocks, lines or words, with every fence
 * and mark closed.
 */
import { createPartReader, splitPlain, wholeCharacters } from '../../shared/text.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { blocksOf, type CodeBlock, type MarkdownBlock, type TextBlock } from './blocks.ts';
import { escapeFenced, escapePlain, type InlineToken, writeTokens } from './inline.ts';

/** A page with a smaller part left is full, so that a long block does not begin with a scrap. */
const SCRAP = 0.25;

/**
 * Pages of at most `limit` characters, none for blocks that show nothing.
 * @param limit 100 at least
 */
export function paginate(blocks: readonly MarkdownBlock[], limit: number): string[] {
  const pages: string[] = [];
  let page = '';
  for (const block of blocks) {
    for (const [index, piece] of [...pieces(block, writeBlock(block), page, limit)].entries()) {
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
function* pieces(block: MarkdownBlock, whole: string, page: string, limit: number): Generator<string> {
  const left = limit - page.length - 2;
  const first = left >= limit * SCRAP ? left : limit;
  if (whole.length <= limit) yield whole;
  else yield* block.kind === 'code' ? codePieces(block, first, limit) : textPieces(block, first, limit);
}

const writeBlock = (block: MarkdownBlock): string =>
  block.kind === 'code' ? fence(block, block.code) : writeText(block, block.tokens, true);

const fence = (block: CodeBlock, code: string): string =>
  `\`\`\`${block.language}\n${escapeFenced(code) || ' '}\n\`\`\``;

function* codePieces(block: CodeBlock, first: number, limit: number): Generator<string> {
  const empty = fence(block, '').length;
  const parts = block.code
    .split('\n')
    .flatMap((line) => [...hardSplit(line, limit - empty - 1, fencedLength)]);
  let space = first;
  let used = empty;
  let lines: string[] = [];
  for (const part of parts) {
    const length = fencedLength(part) + 1;
    if (lines.length > 0 && used + length > space) {
      yield fence(block, lines.join('\n'));
      space = limit;
      used = empty;
      lines = [];
    }
    // A part that fits a whole page may still be too long for the rest of this one.
    if (lines.length === 0 && used + length > space) {
      yield '';
      space = limit;
    }
    lines.push(part);
    used += length;
  }
  if (lines.length > 0) yield fence(block, lines.join('\n'));
}

/** At most so long is code between fences, where a backtick may need a sign after it. */
const fencedLength = (code: string): number => code.length + (code.match(/`/g)?.length ?? 0);

function writeText(block: TextBlock, row: readonly InlineToken[], isFirst: boolean): string {
  const written = writeTokens(row, block.hanging);
  const prefix = isFirst ? block.prefix : block.hanging;
  return written === '' ? prefix.trimEnd() : `${prefix}${written}`;
}

function* textPieces(block: TextBlock, first: number, limit: number): Generator<string> {
  const row = block.tokens.flatMap((token) =>
    breakable(token, token.kind === 'link' ? limit / 2 : limit / 4),
  );
  let space = first;
  for (let at = 0; at < row.length; ) {
    const isFirst = at === 0;
    const rest = atMost(row, at, space);
    const isEnd = at + rest.length === row.length;
    const count = mostThatFit(rest, isEnd, (taken) => writeText(block, taken, isFirst).length <= space);
    if (count === 0 && space < limit) {
      yield '';
    } else {
      // A prefix that leaves no space for one word cannot be kept.
      const taken = rest.slice(0, Math.max(count, 1));
      yield count === 0 ? writeTokens(taken, '') : writeText(block, taken, isFirst);
      at += taken.length;
    }
    space = limit;
  }
}

/** The tokens from `at` on up to the first that certainly does not fit: written, none becomes shorter. */
function atMost(row: readonly InlineToken[], at: number, space: number): readonly InlineToken[] {
  let end = at;
  for (let left = space; end < row.length && left >= 0; end += 1) left -= row[end]?.text.length ?? 0;
  return row.slice(at, end);
}

/** How many tokens fit, ending before a space or a line break where there is one. */
function mostThatFit(
  row: readonly InlineToken[],
  isEnd: boolean,
  fits: (taken: readonly InlineToken[]) => boolean,
): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(row.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  if (low === row.length && isEnd) return low;
  for (let count = low; count > 0; count -= 1) {
    const next = row[count]?.kind;
    if ((next === 'space' || next === 'break') && fits(row.slice(0, count))) return count;
  }
  return low;
}

/** A word or an address longer than a quarter of a page is cut, since it fits nowhere. */
function breakable(token: InlineToken, longest: number): InlineToken[] {
  if (token.text.length <= longest) return [token];
  if (token.kind !== 'link') return [...hardSplit(token.text, longest)].map((text) => ({ ...token, text }));
  // Broken, it is a link no more.
  return token.text
    .split(/(?<= )/)
    .flatMap((part) => [...hardSplit(part, longest)])
    .map((text) => ({ ...token, kind: text.trim() === '' ? 'space' : 'word', text }));
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Longer clusters of signs are cut like any text. */
const LONGEST_CLUSTER = 32;

/**
 * Cuts after a space where there is one, else between characters as people see them. An empty text gives one empty piece.
 * @param measure the sum over the parts of a text is its own, and a sign counts once or twice
 */
function* hardSplit(
  text: string,
  longest: number,
  measure = (piece: string) => piece.length,
): Generator<string> {
  if (measure(text) <= longest) {
    yield text;
    return;
  }
  for (let from = 0; from < text.length; ) {
    let end = Math.min(from + longest, text.length);
    const excess = () => measure(text.slice(from, end)) - longest;
    for (let over = excess(); over > 0; over = excess()) end -= Math.ceil(over / 2);
    if (end < text.length) {
      // Only what lies around the cut is segmented, which takes a hundred times as long as reading it.
      const around = graphemes.segment(text.slice(from, end + LONGEST_CLUSTER + 1));
      const { index = 0, segment = '' } = around.containing(end - from) ?? {};
      const isWhole = index > 0 && segment.length <= LONGEST_CLUSTER;
      end = isWhole ? from + index : wholeCharacters(text, end);
      const space = text.slice(from, end).lastIndexOf(' ') + 1;
      if (space > (end - from) / 2) end = from + space;
    }
    yield text.slice(from, end);
    from = end;
  }
}

interface Around {
  readonly before: readonly MarkdownBlock[];
  readonly after: readonly MarkdownBlock[];
}

export interface LayoutInput {
  /** Markdown. */
  readonly text: string;
  /** What surrounds the text in the card's description, which takes `space` characters; absent without a card. */
  readonly card?: Around & { readonly space: number };
  /** What surrounds it in pages. */
  readonly pages: Around;
  /** With more pages than this, each leaves space for a note. */
  readonly mostPages: number;
}

export type Layout =
  | { readonly description: string; readonly pages?: undefined }
  | { readonly description?: undefined; readonly pages: readonly string[] };

const PAGE = DISCORD_LIMITS.content;
/** Leaves space for the note about the file. */
const NOTED_PAGE = PAGE - 100;
/** A card with less space than this has its text in messages. */
const LEAST_DESCRIPTION = 200;
/** Columns. Longer lines of code wrap in a card, and less so in a message. */
const CARD_COLUMNS = 60;

/** In the card if all of it fits, else in pages. For a render thread. */
export function createLayOut(): (input: LayoutInput) => Layout {
  const read = createPartReader(blocksOf);
  return ({ text, card, pages, mostPages }) => {
    const blocks = read(text, '');
    if (card && !blocks.some(isWide)) {
      const description = describe([...card.before, ...blocks, ...card.after], card.space);
      if (description !== undefined) return { description };
    }
    const all = [...pages.before, ...blocks, ...pages.after];
    const written = paginate(all, PAGE);
    return { pages: written.length > mostPages ? paginate(all, NOTED_PAGE) : written };
  };
}

const isWide = (block: MarkdownBlock): boolean =>
  block.kind === 'code' && block.code.split('\n').some((line) => line.length > CARD_COLUMNS);

function describe(blocks: readonly MarkdownBlock[], space: number): string | undefined {
  if (blocks.length === 0) return '';
  if (space < LEAST_DESCRIPTION) return undefined;
  const [description = '', ...more] = paginate(blocks, space);
  return more.length === 0 ? description : undefined;
}

/** The same without reading the Markdown. */
export function layOutPlainly({ text, pages: { before, after } }: LayoutInput): Layout {
  // No sign becomes more than two.
  const plain = splitPlain(text, NOTED_PAGE / 2).map(escapePlain);
  return { pages: [...paginate(before, NOTED_PAGE), ...plain, ...paginate(after, NOTED_PAGE)] };
}
