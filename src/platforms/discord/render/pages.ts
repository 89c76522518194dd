/**
 * A Message as Discord messages, within every limit. Classic messages throughout: only there does attached audio have a
 * player, attached pictures form a gallery by themselves, and a progress card may become any result by an edit.
 */
import type { APIEmbed } from 'discord.js';
import {
  type Button,
  type KeptFile,
  LINKED_FILES_SENTENCE,
  type MediaItem,
  type MediaSource,
  type Message,
} from '../../../core/message.ts';
import { beginning, ellipsis } from '../../../core/util/words.ts';
import type { Block } from '../../shared/markdown/blocks.ts';
import { wellFormed, wholeCharacters } from '../../shared/text.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { OPEN_THREAD, type Row, renderButtons } from './buttons.ts';
import { type Card, type Cover, hasCard, plainCard, renderCard } from './card.ts';
import { safeUrl } from './escape.ts';
import { linkBlock, paginate, plainLine, readBlocks, smallPrintBlock } from './markdown.ts';

export interface PageFile {
  /** Unique within its message. */
  readonly name: string;
  /** Shown in place of a name that Discord would take letters from. https://github.com/discord/discord-api-docs/pull/6945 */
  readonly title?: string;
  readonly alt?: string;
  readonly contentType: string;
  readonly source:
    | { readonly type: 'kept'; readonly file: KeptFile }
    | { readonly type: 'text'; readonly text: string };
}

interface RenderMediaOptions {
  /** The largest file that may be attached here; larger ones become links. */
  readonly fileBytes: number;
  /** A signed address of a kept file. */
  readonly link: (file: KeptFile, downloadName: string) => string;
  readonly mostCovers: number;
}

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
}

/** Longer Markdown never fits into the messages that a text may take. In characters. */
const CLEARLY_TOO_LONG = 2 * DISCORD_LIMITS.pages * DISCORD_LIMITS.content;
const PAGE = DISCORD_LIMITS.content;
/** Leaves space for a note about the file. */
const NOTED_PAGE = PAGE - 100;
/** A card with less space than this has its text in messages. */
const LEAST_DESCRIPTION = 200;
/** Columns. Longer lines of code wrap in a card, and less so in a message. */
const CARD_COLUMNS = 60;
const FILE_NOTE = '-# The full text is attached.';
const STREAM_NOTE = '-# Still writing. The full text will be attached.';
const THREAD_BUTTON: Button = { type: 'action', id: OPEN_THREAD, label: 'Continue in a thread' };
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
    ...buttons.links.map(({ label, url }) => linkBlock(label, url)),
    ...(options.note === undefined ? [] : [smallPrintBlock(options.note)]),
  ];
  const { text = '' } = message;
  const isLong = options.textFile !== false && text.length > CLEARLY_TOO_LONG;
  const blocks = await readBlocks(isLong ? text.slice(0, wholeCharacters(text, CLEARLY_TOO_LONG)) : text);
  // Written, a text is hardly shorter.
  const mayFit = text.length <= 2 * DISCORD_LIMITS.embedDescription;
  const description = card && mayFit ? await describe(card, [...blocks, ...card.after, ...end]) : undefined;
  const written =
    description === undefined
      ? await writePages({ ...inPages, blocks, end, isLong, text }, media.files, options)
      : NOTHING;
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

/** All of it as the card's description, if it fits. */
async function describe(
  { before, space, head }: Card,
  following: readonly Block[],
): Promise<string | undefined> {
  const blocks = [...before, ...following];
  const left = space - head.length - 2;
  if (blocks.length === 0) return '';
  if (left < LEAST_DESCRIPTION || blocks.some(isWide)) return undefined;
  const [description = '', ...more] = await paginate(blocks, left, 2);
  return more.length === 0 ? description : undefined;
}

const isWide = (block: Block): boolean =>
  'lines' in block && block.lines.some((line) => line.length > CARD_COLUMNS);

interface LongText extends Pick<Card, 'before' | 'after'> {
  readonly blocks: readonly Block[];
  readonly end: readonly Block[];
  /** The blocks are only the beginning of the text. */
  readonly isLong: boolean;
  readonly text: string;
}

interface WrittenText {
  readonly pages: readonly string[];
  readonly files: readonly PageFile[];
}

const NOTHING: WrittenText = { pages: [], files: [] };

/** In a few messages; longer, as a file with its beginning shown. */
async function writePages(
  { before, blocks, after, end, isLong, text }: LongText,
  others: readonly PageFile[],
  { streaming = false, textFile = true, mostPages = DISCORD_LIMITS.pages }: DiscordRenderOptions,
): Promise<WrittenText> {
  const all = [...before, ...blocks, ...after, ...end];
  if (!isLong) {
    const pages = await paginate(all, PAGE, streaming || textFile ? mostPages + 1 : undefined);
    if (pages.length <= mostPages || !(streaming || textFile)) return { pages, files: [] };
  }
  if (streaming) {
    // The beginning, and what came last.
    const pages = await paginate(all, NOTED_PAGE);
    return { pages: [...pages.slice(0, mostPages - 1), `${pages.at(-1) ?? ''}\n${STREAM_NOTE}`], files: [] };
  }
  const [beginning = ''] = await paginate(all, NOTED_PAGE, 1);
  const around = [...(await paginate(before, PAGE)), text, ...(await paginate([...after, ...end], PAGE))];
  const file: PageFile = {
    name: distinctName('answer.md', others),
    contentType: 'text/markdown; charset=utf-8',
    source: { type: 'text', text: around.join('\n\n') },
  };
  return { pages: [`${beginning}\n${FILE_NOTE}`], files: [file] };
}

const KIND_WORD = {
  audio: 'Listen',
  image: 'View',
  video: 'Watch',
  file: 'Download',
} as const satisfies Record<MediaItem['kind'], string>;

function renderMedia(items: readonly MediaItem[], { fileBytes, link, mostCovers }: RenderMediaOptions) {
  const covers: Cover[] = [];
  const files: PageFile[] = [];
  const lines: Block[] = [];
  let isLinked = false;
  const { attachmentDescription: longestAlt, embedUrl: longestUrl } = DISCORD_LIMITS;
  for (const item of items) {
    const { source, smaller, alt = '' } = item;
    const caption = item.caption?.trim() ?? '';
    const isCover = () => item.cover === true && covers.length < mostCovers;
    const whole = attachable(source, fileBytes);
    const file = whole ?? (smaller && attachable(smaller.source, fileBytes));
    if (file) {
      const wanted = whole ? item.name : (smaller?.name ?? item.name);
      const name = distinctName(fileName(wanted), files);
      // Who cannot see it is told its name at least.
      const told = alt.trim() || (isSeen(item) ? caption || item.name.trim() : '');
      const description = told ? { alt: ellipsis(told, longestAlt) } : {};
      files.push({
        name,
        ...fileTitle(wanted),
        contentType: file.contentType,
        source: { type: 'kept', file },
        ...description,
      });
      // A cover must be in the same message as the card that shows it.
      if (isCover() && fileGroups(files, fileBytes).length === 1)
        covers.push({ url: `attachment://${name}`, alt });
      if (caption) lines.push(plainLine(caption));
      if (whole) continue;
    }
    const url = source.type === 'remote' ? source.url : link(source.file, item.name);
    const safe = safeUrl(url) ?? '';
    if (isCover() && source.type === 'remote' && safe !== '' && safe.length <= longestUrl) {
      covers.push({ url: safe, alt });
      if (caption) lines.push(plainLine(caption));
    } else {
      lines.push(linkBlock(`${KIND_WORD[item.kind]}: ${item.name}`, url, file ? '' : caption));
      isLinked ||= source.type === 'kept';
    }
  }
  if (isLinked) lines.push(smallPrintBlock(LINKED_FILES_SENTENCE));
  return { covers, files, lines };
}

const isSeen = ({ kind }: MediaItem): boolean => kind === 'image' || kind === 'video';

const attachable = (source: MediaSource, fileBytes: number): KeptFile | undefined =>
  source.type === 'kept' && source.file.bytes <= fileBytes && source.file.bytes > 0 ? source.file : undefined;

/** The files of each message: as many, and as many bytes, as one request takes. One group at least. */
function fileGroups(files: readonly PageFile[], fileBytes: number): PageFile[][] {
  const mostBytes = Math.max(DISCORD_LIMITS.requestBytes, fileBytes);
  let group: PageFile[] = [];
  const groups = [group];
  let bytes = 0;
  for (const file of files) {
    const { source } = file;
    const size = source.type === 'kept' ? source.file.bytes : Buffer.byteLength(source.text);
    if (group.length > 0 && (group.length === DISCORD_LIMITS.attachments || bytes + size > mostBytes)) {
      group = [];
      groups.push(group);
      bytes = 0;
    }
    group.push(file);
    bytes += size;
  }
  return groups;
}

/** Kept files have at most 180 characters. */
const LONGEST_STEM = 180;

/** A name that Discord keeps as it is, so that `attachment://` finds the file: it drops what is no ASCII. */
function fileName(name: string): string {
  const [, stem = '', extension = ''] = /^(.*?)(\.\w{1,8})?$/s.exec(name) ?? [];
  const safe = stem
    .slice(0, LONGEST_STEM)
    // Takes quadratic time where signs stand above and below one letter.
    .normalize('NFKD')
    .replace(/\s+/g, '_')
    .replace(/[^\w.-]/g, '')
    .replace(/^[._-]+/, '');
  return `${safe.slice(0, 80) || 'file'}${extension}`;
}

/** Letters that Discord drops from a name, it keeps in a title. */
function fileTitle(name: string): Pick<PageFile, 'title'> {
  const stem = beginning(name.toWellFormed().replace(/\.\w{1,8}$/, ''), LONGEST_STEM);
  return /[^\p{ASCII}]/u.test(stem) ? { title: stem } : {};
}

/** With a number if one of the files has the name already. */
function distinctName(name: string, files: readonly PageFile[]): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem}-${number}${extension}`;
    if (files.every((file) => file.name !== candidate)) return candidate;
  }
}
