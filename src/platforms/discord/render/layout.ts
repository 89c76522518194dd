/** What a message says, as the description of its card or as pages. */
import { createPartReader } from '../../shared/markdown-parts.ts';
import { splitPlain } from '../../shared/text.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { blocksOf, type MarkdownBlock } from './blocks.ts';
import { escapePlain } from './inline.ts';
import { paginate } from './paginate.ts';

interface Around {
  readonly before: readonly MarkdownBlock[];
  readonly after: readonly MarkdownBlock[];
}

export interface LayoutInput {
  /** Markdown. */
  readonly text: string;
  /** What the text stands between in the card's description, which takes `space` characters; absent without a card. */
  readonly card?: Around & { readonly space: number };
  /** What it stands between in pages. */
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
