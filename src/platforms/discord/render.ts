/**
 * A Message as Discord messages, within every limit. Classic messages throughout: only there does attached audio play in
 * place, attached pictures form a gallery by themselves, and a progress card may become any result by an edit.
 */
import type { APIEmbed } from 'discord.js';
import {
  type Button,
  type KeptFile,
  LINKED_FILES_SENTENCE,
  type MediaItem,
  type MediaSource,
  type Message,
} from '../../message.ts';
import { type Block, blocksOf, linkBlock, plainBlock, smallPrintBlock } from './blocks.ts';
import { chunks, type Row, renderButtons, shorten } from './buttons.ts';
import { type Cover, hasCard, MOST_COVERS, plainCard, renderCard } from './card.ts';
import { safeUrl } from './escape.ts';
import { LIMITS } from './limits.ts';
import { paginate } from './markdown.ts';
import { OPEN_THREAD } from './threads.ts';

export interface PageFile {
  /** Unique within its page. */
  readonly name: string;
  readonly alt?: string;
  readonly contentType: string;
  readonly source:
    | { readonly type: 'kept'; readonly file: KeptFile }
    | { readonly type: 'text'; readonly text: string };
}

/** One Discord message. */
export interface Page {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly Row[];
  readonly files: readonly PageFile[];
}

export interface RenderOptions {
  /** The largest file that may be attached here; larger ones become links. */
  readonly fileBytes: number;
  /** A signed address of a kept file. */
  readonly link: (file: KeptFile, downloadName: string) => string;
  /** False where embeds are not allowed: titles and facts become text. */
  readonly cards?: boolean;
  /** False where no file may be attached: a long text then takes as many messages as it needs. */
  readonly textFile?: boolean;
  /** Messages that a text may take before it becomes a file. */
  readonly mostPages?: number;
  /** An answer may have a thread of its own here. */
  readonly threads?: boolean;
  /** Markdown that stands as small print at the end: why the message is not as it might be. */
  readonly note?: string;
  /** The text is still being written: what is too long is shown in part, and no file is made of it yet. */
  readonly streaming?: boolean;
}

/** Leaves room for the note about the file. */
const PAGE = LIMITS.content - 100;
const FILE_NOTE = '-# It goes on in the file.';
const STREAM_NOTE = '-# Still writing. The whole text comes as a file.';
const THREAD_BUTTON: Button = { type: 'action', id: OPEN_THREAD, label: 'Go on in a thread', emoji: '🧵' };
const KIND_WORD = {
  audio: 'Listen',
  image: 'Look',
  video: 'Watch',
  file: 'Download',
} as const satisfies Record<MediaItem['kind'], string>;

/** Total: any Message becomes one page at least, and every page is one that Discord takes. */
export function render(message: Message, options: RenderOptions): Page[] {
  const withCard = hasCard(message) && options.cards !== false;
  const media = placeMedia(message.media ?? [], options, withCard ? MOST_COVERS : 0);
  const offersThread = options.threads && message.conversation && !options.streaming;
  const buttons = renderButtons([...(message.actions ?? []), ...(offersThread ? [THREAD_BUTTON] : [])]);
  const card = withCard ? renderCard(message, media.covers) : undefined;
  const { before, after } = card ?? plainCard(message);
  const blocks: Blocks = {
    before,
    text: message.text ?? '',
    after: [
      ...after,
      ...media.lines,
      ...buttons.links.map(({ label, url }) => linkBlock(label, url, '')),
      ...(options.note === undefined ? [] : [smallPrintBlock(options.note)]),
    ],
  };
  const described = card && describe(blocks, card.room - card.head.length - 2);
  // A title alone reads better above a long text than in a card below it.
  if (card && described === undefined && isOnlyTitled(message))
    return render(message, { ...options, cards: false });
  const written = described === undefined ? writePages(blocks, options) : { pages: [], files: [] };
  const description = [card?.head, described].filter(Boolean).join('\n\n');
  const embeds = card
    ? visible([{ ...card.embed, ...(description ? { description } : {}) }, ...card.covers])
    : [];

  const pages: Page[] = written.pages.map((content) => ({ content, embeds: [], components: [], files: [] }));
  const fileGroups = chunks(unique([...media.files, ...written.files]), LIMITS.attachments);
  const [firstFiles = [], ...moreFiles] = fileGroups;
  const last = pages.pop() ?? { content: '', embeds: [], components: [], files: [] };
  pages.push({ ...last, embeds, files: firstFiles });
  for (const files of moreFiles) pages.push({ content: '', embeds: [], components: [], files });
  for (const [index, components] of buttons.messages.entries()) {
    const end = index === 0 ? pages.pop() : undefined;
    pages.push({ ...(end ?? { content: '', embeds: [], files: [] }), components });
  }
  return pages.map((page) => (isEmpty(page) ? { ...page, content: '…' } : page));
}

const isEmpty = (page: Page): boolean =>
  page.content === '' && page.embeds.length === 0 && page.components.length === 0 && page.files.length === 0;

/** Discord takes no embed that shows nothing. */
const visible = (embeds: readonly APIEmbed[]): APIEmbed[] =>
  embeds.filter(
    (embed) =>
      embed.title ||
      embed.description ||
      embed.footer ||
      embed.fields?.length ||
      embed.thumbnail ||
      embed.image,
  );

const isOnlyTitled = (message: Message): boolean =>
  !message.progress && !message.fields?.length && !message.media?.some((item) => item.cover);

/** What a message says, in its order. */
interface Blocks {
  readonly before: readonly Block[];
  /** Markdown. */
  readonly text: string;
  readonly after: readonly Block[];
}

const inOrder = ({ before, text, after }: Blocks): Block[] => [...before, ...blocksOf(text), ...after];

/** A card with less room than this has its text in messages. */
const MINIMUM_ROOM = 200;

/** Everything as the description of a card; undefined when it does not fit. */
function describe(blocks: Blocks, room: number): string | undefined {
  const all = inOrder(blocks);
  if (all.length === 0) return '';
  if (room < MINIMUM_ROOM) return undefined;
  const pages = paginate(all, room);
  return pages.length <= 1 ? (pages[0] ?? '') : undefined;
}

interface Written {
  readonly pages: readonly string[];
  readonly files: readonly PageFile[];
}

/** In a few messages; longer, as a file with its beginning shown. */
function writePages(
  blocks: Blocks,
  { streaming = false, textFile = true, mostPages = LIMITS.pages }: RenderOptions,
): Written {
  const pages = paginate(inOrder(blocks), PAGE);
  if (pages.length <= mostPages) return { pages, files: [] };
  if (streaming) {
    const shown = pages.slice(0, mostPages);
    return { pages: shown.with(-1, `${shown.at(-1)}\n${STREAM_NOTE}`), files: [] };
  }
  if (!textFile) return { pages, files: [] };
  const whole = [...blocks.before.map(plainOf), blocks.text, ...blocks.after.map(plainOf)]
    .filter(Boolean)
    .join('\n\n');
  const file: PageFile = {
    name: 'answer.md',
    contentType: 'text/markdown; charset=utf-8',
    source: { type: 'text', text: whole },
  };
  return { pages: [`${pages[0]}\n${FILE_NOTE}`], files: [file] };
}

const plainOf = (block: Block): string =>
  block.kind === 'code' ? block.code : block.tokens.map((token) => token.text).join('');

interface PlacedMedia {
  readonly covers: Cover[];
  readonly files: PageFile[];
  readonly lines: Block[];
}

function placeMedia(
  items: readonly MediaItem[],
  { fileBytes, link }: RenderOptions,
  mostCovers: number,
): PlacedMedia {
  const placed: PlacedMedia = { covers: [], files: [], lines: [] };
  let isLinked = false;
  for (const item of items) {
    const whole = attachable(item.source, fileBytes);
    const attach = whole ?? (item.smaller && attachable(item.smaller.source, fileBytes));
    const name = fileName(whole ? item.name : (item.smaller?.name ?? item.name));
    const caption = item.caption?.trim() ?? '';
    if (attach) {
      const taken = new Set(placed.files.map((file) => file.name));
      const alone = distinct(name, taken);
      placed.files.push({
        name: alone,
        contentType: attach.contentType,
        source: { type: 'kept', file: attach },
        ...(item.alt?.trim() ? { alt: shorten(item.alt.trim(), LIMITS.attachmentDescription) } : {}),
      });
      // A cover must travel in the same message as the card that shows it.
      if (item.cover && placed.covers.length < mostCovers && placed.files.length <= LIMITS.attachments) {
        placed.covers.push({ url: `attachment://${alone}`, alt: item.alt ?? '' });
      }
      if (caption) placed.lines.push(plainBlock(caption, [], true));
      if (whole) continue;
    }
    const url = item.source.type === 'remote' ? item.source.url : link(item.source.file, item.name);
    const safe = safeUrl(url);
    if (
      item.cover &&
      item.source.type === 'remote' &&
      safe !== undefined &&
      safe.length <= LIMITS.embedUrl &&
      placed.covers.length < mostCovers
    ) {
      placed.covers.push({ url: safe, alt: item.alt ?? '' });
      if (caption) placed.lines.push(plainBlock(caption, [], true));
      continue;
    }
    placed.lines.push(linkBlock(`${KIND_WORD[item.kind]}: ${item.name}`, url, attach ? '' : caption));
    isLinked ||= item.source.type === 'kept';
  }
  if (isLinked) placed.lines.push(smallPrintBlock(LINKED_FILES_SENTENCE));
  return placed;
}

const attachable = (source: MediaSource, fileBytes: number): KeptFile | undefined =>
  source.type === 'kept' && source.file.bytes <= fileBytes && source.file.bytes > 0 ? source.file : undefined;

/** A name that Discord keeps as it is, so that `attachment://` finds the file. */
function fileName(name: string): string {
  const safe = name
    .normalize('NFKD')
    .replace(/\s+/g, '_')
    .replace(/[^\w.-]/g, '')
    .replace(/^[.]+/, '');
  const [, stem = '', extension = ''] = /^(.*?)(\.\w{1,8})?$/.exec(safe) ?? [];
  return `${stem.slice(0, 80) || 'file'}${extension}`;
}

function distinct(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem}-${number}${extension}`;
    if (!taken.has(candidate)) return candidate;
  }
}

function unique(files: readonly PageFile[]): PageFile[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const name = distinct(file.name, taken);
    taken.add(name);
    return { ...file, name };
  });
}
