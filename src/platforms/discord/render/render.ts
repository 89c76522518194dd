/**
 * A Message as Discord messages, within every limit. Classic messages throughout: only there does attached audio have a
 * player, attached pictures form a gallery by themselves, and a progress card may become any result by an edit.
 */
import type { APIEmbed } from 'discord.js';
import type { Button, Message } from '../../../core/message.ts';
import type { Renderer } from '../../shared/render-thread/host.ts';
import { createPartReader, splitPlain, wellFormed, wholeCharacters } from '../../shared/text.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { blocksOf, linkBlock, type MarkdownBlock, smallPrintBlock } from './blocks.ts';
import { type Card, hasCard, OPEN_THREAD, plainCard, type Row, renderButtons, renderCard } from './card.ts';
import { escapePlain } from './inline.ts';
import {
  type BlockWriter,
  createBlockWriter,
  distinctName,
  fileGroups,
  type PageFile,
  paginate,
  type RenderMediaOptions,
  renderMedia,
} from './paginate.ts';

/** One Discord message. */
export interface Page {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly Row[];
  readonly files: readonly PageFile[];
}

export interface DiscordRenderOptions extends Omit<RenderMediaOptions, 'mostCovers'> {
  /** False where embeds are not allowed: titles and facts become text. */
  readonly cards?: boolean;
  /** False where no file may be attached: a long text then takes as many messages as it needs. */
  readonly textFile?: boolean;
  /** Messages that a text may take before it becomes a file. */
  readonly mostPages?: number;
  /** An answer may have a thread of its own here. */
  readonly threads?: boolean;
  /** Markdown in small print at the end: why the message is not as it might be. */
  readonly note?: string;
  /** The text is still being written: what is too long is shown in part, and no file is made of it yet. */
  readonly streaming?: boolean;
  readonly layOut: Renderer<LayoutInput, Layout>;
}

/** Longer Markdown never fits into the messages that a text may take. In characters. */
const CLEARLY_TOO_LONG = 2 * DISCORD_LIMITS.pages * DISCORD_LIMITS.content;
const FILE_NOTE = '-# It goes on in the file.';
const STREAM_NOTE = '-# Still writing. The whole text comes as a file.';
const THREAD_BUTTON: Button = { type: 'action', id: OPEN_THREAD, label: 'Go on in a thread', emoji: '🧵' };
const EMPTY: Page = { content: '', embeds: [], components: [], files: [] };

/** Total: any Message becomes one page at least, and every page is one that Discord takes. */
export async function renderPages(given: Message, options: DiscordRenderOptions): Promise<Page[]> {
  const message = wellFormed(given);
  const mayHaveCard = hasCard(message) && options.cards !== false;
  const media = renderMedia(message.media ?? [], {
    ...options,
    mostCovers: mayHaveCard ? DISCORD_LIMITS.embeds : 0,
  });
  const offersThread = options.threads && message.conversation && !options.streaming;
  const buttons = renderButtons(
    [...(message.actions ?? []), ...(offersThread ? [THREAD_BUTTON] : [])],
    message,
  );
  const card = mayHaveCard ? renderCard(message, media.covers) : undefined;
  // A title alone reads better above a long text than in a card below it.
  const inPages = card && !isOnlyTitled(message) ? card : plainCard(message);
  const end = [
    ...media.lines,
    ...buttons.links.map(({ label, url }) => linkBlock(label, url, '')),
    ...(options.note === undefined ? [] : [smallPrintBlock(options.note)]),
  ];
  const around = ({ before, after }: Pick<Card, 'before' | 'after'>) => ({
    before,
    after: [...after, ...end],
  });
  const { text = '' } = message;
  const isLong = options.textFile !== false && text.length > CLEARLY_TOO_LONG;
  const { description, pages: texts = [] } = await options.layOut({
    text: isLong ? text.slice(0, wholeCharacters(text, CLEARLY_TOO_LONG)) : text,
    pages: around(inPages),
    mostPages: isLong ? 0 : (options.mostPages ?? DISCORD_LIMITS.pages),
    ...(card && !isLong ? { card: { ...around(card), space: card.space - card.head.length - 2 } } : {}),
  });
  const written = writePages(
    texts,
    { isLong, whole: () => wholeText(around(inPages), text) },
    media.files,
    options,
  );
  const shown = description !== undefined || inPages === card ? card : undefined;
  const described = [shown?.head, description].filter(Boolean).join('\n\n');
  const embeds = shown
    ? [{ ...shown.embed, ...(described ? { description: described } : {}) }, ...shown.covers]
    : [];

  const pages: Page[] = written.pages.map((content) => ({ ...EMPTY, content }));
  const [files = [], ...moreFiles] = fileGroups([...media.files, ...written.files], options.fileBytes);
  pages.push({ ...(pages.pop() ?? EMPTY), embeds: embeds.filter(isVisible), files });
  for (const some of moreFiles) pages.push({ ...EMPTY, files: some });
  for (const [index, components] of buttons.messages.entries())
    pages.push({ ...((index === 0 && pages.pop()) || EMPTY), components });
  return pages.map((page) => (isEmpty(page) ? { ...page, content: '…' } : page));
}

const isEmpty = ({ content, embeds, components, files }: Page): boolean =>
  content === '' && embeds.length === 0 && components.length === 0 && files.length === 0;

/** Discord takes no embed that shows nothing. */
const isVisible = ({ title, description, footer, fields, thumbnail }: APIEmbed): boolean =>
  Boolean(title || description || footer || fields?.length || thumbnail);

const isOnlyTitled = (message: Message): boolean =>
  !message.progress && !message.fields?.length && !message.media?.some((item) => item.cover);

interface LongText {
  /** The pages are only the beginning of it. */
  readonly isLong: boolean;
  readonly whole: () => string;
}

/** In a few messages; longer, as a file with its beginning shown. */
function writePages(
  pages: readonly string[],
  { isLong, whole }: LongText,
  others: readonly PageFile[],
  { streaming = false, textFile = true, mostPages = DISCORD_LIMITS.pages }: DiscordRenderOptions,
): { readonly pages: readonly string[]; readonly files: readonly PageFile[] } {
  if (pages.length <= mostPages && !isLong) return { pages, files: [] };
  // The beginning, and what came last.
  if (streaming)
    return { pages: [...pages.slice(0, mostPages - 1), `${pages.at(-1) ?? ''}\n${STREAM_NOTE}`], files: [] };
  if (!textFile) return { pages, files: [] };
  const file: PageFile = {
    name: distinctName('answer.md', others),
    contentType: 'text/markdown; charset=utf-8',
    source: { type: 'text', text: whole() },
  };
  return { pages: [`${pages[0] ?? ''}\n${FILE_NOTE}`], files: [file] };
}

const wholeText = ({ before, after }: Pick<Card, 'before' | 'after'>, markdown: string): string =>
  [...before.map(plainOf), markdown, ...after.map(plainOf)].filter(Boolean).join('\n\n');

const plainOf = (block: MarkdownBlock): string =>
  block.kind === 'code' ? block.code : block.tokens.map((token) => token.text).join('');

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
  const write = createBlockWriter();
  return ({ text, card, pages, mostPages }) => {
    const blocks = read(text, '');
    if (card && !blocks.some(isWide)) {
      const description = describe([...card.before, ...blocks, ...card.after], card.space, write);
      if (description !== undefined) return { description };
    }
    const all = [...pages.before, ...blocks, ...pages.after];
    const written = paginate(all, PAGE, write);
    return { pages: written.length > mostPages ? paginate(all, NOTED_PAGE, write) : written };
  };
}

const isWide = (block: MarkdownBlock): boolean =>
  block.kind === 'code' && block.code.split('\n').some((line) => line.length > CARD_COLUMNS);

function describe(blocks: readonly MarkdownBlock[], space: number, write: BlockWriter): string | undefined {
  if (blocks.length === 0) return '';
  if (space < LEAST_DESCRIPTION) return undefined;
  const [description = '', ...more] = paginate(blocks, space, write);
  return more.length === 0 ? description : undefined;
}

/** The same without reading the Markdown. */
export function layOutPlainly({ text, pages: { before, after } }: LayoutInput): Layout {
  // No sign becomes more than two.
  const plain = splitPlain(text, NOTED_PAGE / 2).map(escapePlain);
  return { pages: [...paginate(before, NOTED_PAGE), ...plain, ...paginate(after, NOTED_PAGE)] };
}
