/**
 * Renders a Message as Discord messages, within all limits. Uses classic messages, not Components V2: only those have a
 * player for audio (docs/decisions/0015-classic-messages.md).
 */
import type { APIEmbed } from 'discord.js';
import {
  type Button,
  LINKED_FILES_SENTENCE,
  type MediaFile,
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
  /** Shown instead of the name, because Discord removes characters from names. https://github.com/discord/discord-api-docs/pull/6945 */
  readonly title?: string;
  readonly alt?: string;
  readonly contentType: string;
  readonly source:
    | { readonly type: 'stored'; readonly file: MediaFile }
    | { readonly type: 'text'; readonly text: string };
}

interface RenderMediaOptions {
  /** The largest file that may be attached here; larger ones become links. */
  readonly fileBytes: number;
  /** Returns the signed address of a stored file. */
  readonly link: (file: MediaFile, downloadName: string) => string;
  readonly maxCovers: number;
}

/** One Discord message. */
export interface Page {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly Row[];
  readonly files: readonly PageFile[];
}

export interface DiscordRenderOptions extends Omit<RenderMediaOptions, 'maxCovers'> {
  /** False if embeds are not allowed: titles and fields become text. */
  readonly cards?: boolean;
  /** False if files are not allowed: a long text then uses as many messages as it needs. */
  readonly textFile?: boolean;
  /** A text of more messages becomes a file. */
  readonly maxPages?: number;
  /** Answers can be continued in a thread here. */
  readonly threads?: boolean;
  /** Small print at the end, such as a missing permission. */
  readonly note?: string;
  /** The text is still being written: a long one is shown in part, without a file. */
  readonly streaming?: boolean;
}

/** In characters. Longer Markdown never fits in the messages of a text. */
const MAX_MARKDOWN_LENGTH = 2 * DISCORD_LIMITS.pages * DISCORD_LIMITS.content;
const PAGE = DISCORD_LIMITS.content;
/** Leaves space for a note about the file. */
const PAGE_WITH_NOTE = PAGE - 100;
/** If a card has less space, the text goes into messages. */
const MIN_DESCRIPTION_LENGTH = 200;
/** In characters. Longer lines of code wrap in a card, but not in a message. */
const CARD_COLUMNS = 60;
const FILE_NOTE = '-# The full text is attached.';
const STREAM_NOTE = '-# Still writing. The full text will be attached.';
const THREAD_BUTTON: Button = {
  type: 'action',
  id: OPEN_THREAD,
  label: 'Continue in a thread',
  icon: 'thread',
};
const EMPTY: Page = { content: '', embeds: [], components: [], files: [] };

/** Renders any Message as at least one page. Discord accepts every page. */
export async function renderPages(input: Message, options: DiscordRenderOptions): Promise<Page[]> {
  const message = wellFormed(input);
  const mayHaveCard = hasCard(message) && options.cards !== false;
  const media = renderMedia(message.media ?? [], {
    ...options,
    maxCovers: mayHaveCard ? DISCORD_LIMITS.embeds : 0,
  });
  const offersThread = options.threads && message.conversation && !options.streaming;
  const buttons = renderButtons([...(message.actions ?? []), ...(offersThread ? [THREAD_BUTTON] : [])]);
  const card = mayHaveCard ? renderCard(message, media.covers) : undefined;
  // A title alone looks better above a long text than in a card below it.
  const parts = card && !isOnlyTitled(message) ? card : plainCard(message);
  const trailing = [
    ...media.lines,
    ...buttons.links.map(({ label, url }) => linkBlock(label, url)),
    ...(options.note === undefined ? [] : [smallPrintBlock(options.note)]),
  ];
  const { text = '' } = message;
  const isLong = options.textFile !== false && text.length > MAX_MARKDOWN_LENGTH;
  const blocks = await readBlocks(isLong ? text.slice(0, wholeCharacters(text, MAX_MARKDOWN_LENGTH)) : text);
  // Rendering hardly shortens a text.
  const mayFit = text.length <= 2 * DISCORD_LIMITS.embedDescription;
  const description =
    card && mayFit ? await describe(card, [...blocks, ...card.after, ...trailing]) : undefined;
  const textPages =
    description === undefined
      ? await writePages({ ...parts, blocks, trailing, isLong, text }, media.files, options)
      : NOTHING;
  const shown = description !== undefined || parts === card ? card : undefined;
  const described = [shown?.head, description].filter(Boolean).join('\n\n');
  const embeds = shown
    ? [{ ...shown.embed, ...(described ? { description: described } : {}) }, ...shown.covers]
    : [];

  const pages: Page[] = textPages.pages.map((content) => ({ ...EMPTY, content }));
  const [files = [], ...moreFiles] = fileGroups([...media.files, ...textPages.files], options.fileBytes);
  pages.push({ ...(pages.pop() ?? EMPTY), embeds: embeds.filter(isVisible), files });
  for (const group of moreFiles) pages.push({ ...EMPTY, files: group });
  for (const [index, components] of buttons.messages.entries())
    pages.push({ ...((index === 0 && pages.pop()) || EMPTY), components });
  return pages.map((page) => (isEmpty(page) ? { ...page, content: '…' } : page));
}

const isEmpty = ({ content, embeds, components, files }: Page): boolean =>
  content === '' && embeds.length === 0 && components.length === 0 && files.length === 0;

/** Discord rejects empty embeds. */
const isVisible = ({ title, description, footer, fields, image, thumbnail }: APIEmbed): boolean =>
  Boolean(title || description || footer || fields?.length || image || thumbnail);

const isOnlyTitled = (message: Message): boolean =>
  !message.progress && !message.fields?.length && !message.media?.some((item) => item.cover);

/** Returns everything as the card's description, or undefined if it does not fit. */
async function describe(
  { before, space, head }: Card,
  following: readonly Block[],
): Promise<string | undefined> {
  const blocks = [...before, ...following];
  const left = space - head.length - 2;
  if (blocks.length === 0) return '';
  if (left < MIN_DESCRIPTION_LENGTH || blocks.some(isWide)) return undefined;
  const [description = '', ...more] = await paginate(blocks, left, 2);
  return more.length === 0 ? description : undefined;
}

const isWide = (block: Block): boolean =>
  'lines' in block && block.lines.some((line) => line.length > CARD_COLUMNS);

interface LongText extends Pick<Card, 'before' | 'after'> {
  readonly blocks: readonly Block[];
  readonly trailing: readonly Block[];
  /** The blocks are only the start of the text. */
  readonly isLong: boolean;
  readonly text: string;
}

interface WrittenText {
  readonly pages: readonly string[];
  readonly files: readonly PageFile[];
}

const NOTHING: WrittenText = { pages: [], files: [] };

/** Writes a text as a few messages. A longer text becomes a file, with its start shown. */
async function writePages(
  { before, blocks, after, trailing, isLong, text }: LongText,
  existing: readonly PageFile[],
  { streaming = false, textFile = true, maxPages = DISCORD_LIMITS.pages }: DiscordRenderOptions,
): Promise<WrittenText> {
  const all = [...before, ...blocks, ...after, ...trailing];
  if (!isLong) {
    const pages = await paginate(all, PAGE, streaming || textFile ? maxPages + 1 : undefined);
    if (pages.length <= maxPages || !(streaming || textFile)) return { pages, files: [] };
  }
  if (streaming) {
    // The start, and the latest part.
    const pages = await paginate(all, PAGE_WITH_NOTE);
    return { pages: [...pages.slice(0, maxPages - 1), `${pages.at(-1) ?? ''}\n${STREAM_NOTE}`], files: [] };
  }
  const [beginning = ''] = await paginate(all, PAGE_WITH_NOTE, 1);
  const around = [
    ...(await paginate(before, PAGE)),
    text,
    ...(await paginate([...after, ...trailing], PAGE)),
  ];
  const file: PageFile = {
    name: distinctName('answer.md', existing),
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

function renderMedia(items: readonly MediaItem[], { fileBytes, link, maxCovers }: RenderMediaOptions) {
  const covers: Cover[] = [];
  const files: PageFile[] = [];
  const lines: Block[] = [];
  let isLinked = false;
  const { attachmentDescription: maxAltLength, embedUrl: maxUrlLength } = DISCORD_LIMITS;
  for (const item of items) {
    const { source, smaller, alt = '' } = item;
    const caption = item.caption?.trim() ?? '';
    const isCover = () => item.cover === true && covers.length < maxCovers;
    const whole = attachable(source, fileBytes);
    const file = whole ?? (smaller && attachable(smaller.source, fileBytes));
    if (file) {
      const originalName = whole ? item.name : (smaller?.name ?? item.name);
      const name = distinctName(fileName(originalName), files);
      // Screen readers get at least a name.
      const alternative = alt.trim() || (isVisual(item) ? caption || item.name.trim() : '');
      const description = alternative ? { alt: ellipsis(alternative, maxAltLength) } : {};
      files.push({
        name,
        ...fileTitle(originalName),
        contentType: file.contentType,
        source: { type: 'stored', file },
        ...description,
      });
      // A cover must be attached to the same message as its card.
      if (isCover() && fileGroups(files, fileBytes).length === 1)
        covers.push({ url: `attachment://${name}`, alt });
      // Others show their name, and how long they are.
      if (caption && isVisual(item)) lines.push(plainLine(caption));
      if (whole) continue;
    }
    const url = source.type === 'remote' ? source.url : link(source.file, item.name);
    const safe = safeUrl(url) ?? '';
    if (isCover() && source.type === 'remote' && safe !== '' && safe.length <= maxUrlLength) {
      covers.push({ url: safe, alt });
      if (caption) lines.push(plainLine(caption));
    } else {
      lines.push(linkBlock(`${KIND_WORD[item.kind]}: ${item.name}`, url, file ? '' : caption));
      isLinked ||= source.type === 'stored';
    }
  }
  if (isLinked) lines.push(smallPrintBlock(LINKED_FILES_SENTENCE));
  return { covers, files, lines };
}

const isVisual = ({ kind }: MediaItem): boolean => kind === 'image' || kind === 'video';

const attachable = (source: MediaSource, fileBytes: number): MediaFile | undefined =>
  source.type === 'stored' && source.file.bytes <= fileBytes && source.file.bytes > 0
    ? source.file
    : undefined;

/** Groups files by message, within the limits of a request. Returns at least one group. */
function fileGroups(files: readonly PageFile[], fileBytes: number): PageFile[][] {
  const mostBytes = Math.max(DISCORD_LIMITS.requestBytes, fileBytes);
  let group: PageFile[] = [];
  const groups = [group];
  let bytes = 0;
  for (const file of files) {
    const { source } = file;
    const size = source.type === 'stored' ? source.file.bytes : Buffer.byteLength(source.text);
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

/** The names of stored files have at most 180 characters. */
const MAX_STEM_LENGTH = 180;

/** Returns a name that Discord does not change, so that `attachment://` finds the file. Discord drops non-ASCII characters. */
function fileName(name: string): string {
  const [, stem = '', extension = ''] = /^(.*?)(\.\w{1,8})?$/s.exec(name) ?? [];
  const safe = stem
    .slice(0, MAX_STEM_LENGTH)
    // Takes quadratic time for many combining characters.
    .normalize('NFKD')
    .replace(/\s+/g, '_')
    .replace(/[^\w.-]/g, '')
    .replace(/^[._-]+/, '');
  return `${safe.slice(0, 80) || 'file'}${extension}`;
}

/** Discord keeps spaces and other characters in titles, but not in names. */
function fileTitle(name: string): Pick<PageFile, 'title'> {
  const stem = beginning(name.toWellFormed().replace(/\.\w{1,8}$/, ''), MAX_STEM_LENGTH);
  return /[^\w.-]/.test(stem) ? { title: stem } : {};
}

/** Adds a number if one of the files already has the name. */
function distinctName(name: string, files: readonly PageFile[]): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem}-${number}${extension}`;
    if (files.every((file) => file.name !== candidate)) return candidate;
  }
}
