/**
 * Markdown as Discord reads it, in pages that break between blocks, lines or words, with every fence and mark closed; and
 * the files of each page.
 */
import {
  type KeptFile,
  LINKED_FILES_SENTENCE,
  type MediaItem,
  type MediaSource,
} from '../../../core/message.ts';
import { ellipsis } from '../../shared/text.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import {
  type CodeBlock,
  linkBlock,
  type MarkdownBlock,
  plainBlock,
  smallPrintBlock,
  type TextBlock,
} from './blocks.ts';
import type { Cover } from './card.ts';
import { escapeFenced, type InlineToken, safeUrl, writeTokens } from './inline.ts';

/** A page with a smaller part left is full, so that a long block does not begin with a scrap. */
const SCRAP = 0.25;

/**
 * Pages of at most `limit` characters, none for blocks that show nothing.
 * @param limit 100 at least
 */
export function paginate(
  blocks: readonly MarkdownBlock[],
  limit: number,
  write: BlockWriter = writeBlock,
): string[] {
  const pages: string[] = [];
  let page = '';
  for (const block of blocks) {
    for (const [index, piece] of [...pieces(block, write(block), page, limit)].entries()) {
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

export type BlockWriter = (block: MarkdownBlock) => string;

const writeBlock: BlockWriter = (block) =>
  block.kind === 'code' ? fence(block, block.code) : writeText(block, block.tokens, true);

/** Writes each block once: settled blocks of a growing text are the same objects in each of its states. */
export function createBlockWriter(): BlockWriter {
  const written = new WeakMap<MarkdownBlock, string>();
  return (block) => {
    const text = written.get(block) ?? writeBlock(block);
    written.set(block, text);
    return text;
  };
}

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
    // Every token is one character at least.
    const rest = row.slice(at, at + space + 1);
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

/**
 * Cuts after a space where there is one, else between characters as people see them. An empty text gives one empty piece.
 * @param measure the sum over the parts of a text is its own
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
  let piece = '';
  let length = 0;
  for (const { segment } of graphemes.segment(text)) {
    // A cluster may be of any length; it is cut by code points then.
    for (const part of segment.length > 32 ? segment : [segment]) {
      if (piece !== '' && length + measure(part) > longest) {
        const space = piece.lastIndexOf(' ') + 1;
        const end = space > piece.length / 2 ? space : piece.length;
        yield piece.slice(0, end);
        piece = piece.slice(end);
        length = measure(piece);
      }
      piece += part;
      length += measure(part);
    }
  }
  if (piece !== '') yield piece;
}

export interface PageFile {
  /** Unique within its message. */
  readonly name: string;
  readonly alt?: string;
  readonly contentType: string;
  readonly source:
    | { readonly type: 'kept'; readonly file: KeptFile }
    | { readonly type: 'text'; readonly text: string };
}

export interface RenderMediaOptions {
  /** The largest file that may be attached here; larger ones become links. */
  readonly fileBytes: number;
  /** A signed address of a kept file. */
  readonly link: (file: KeptFile, downloadName: string) => string;
  readonly mostCovers: number;
}

const KIND_WORD = {
  audio: 'Listen',
  image: 'Look',
  video: 'Watch',
  file: 'Download',
} as const satisfies Record<MediaItem['kind'], string>;

export function renderMedia(
  items: readonly MediaItem[],
  { fileBytes, link, mostCovers }: RenderMediaOptions,
) {
  const covers: Cover[] = [];
  const files: PageFile[] = [];
  const lines: MarkdownBlock[] = [];
  let isLinked = false;
  const { attachmentDescription: longestAlt, embedUrl: longestUrl } = DISCORD_LIMITS;
  for (const item of items) {
    const { source, smaller, alt = '' } = item;
    const caption = item.caption?.trim() ?? '';
    const isCover = () => item.cover === true && covers.length < mostCovers;
    const whole = attachable(source, fileBytes);
    const file = whole ?? (smaller && attachable(smaller.source, fileBytes));
    if (file) {
      const name = distinctName(fileName(whole ? item.name : (smaller?.name ?? item.name)), files);
      // Who cannot see it is told its name at least.
      const told = alt.trim() || (isSeen(item) ? caption || item.name.trim() : '');
      const description = told ? { alt: ellipsis(told, longestAlt) } : {};
      files.push({ name, contentType: file.contentType, source: { type: 'kept', file }, ...description });
      // A cover must be in the same message as the card that shows it.
      if (isCover() && fileGroups(files, fileBytes).length === 1)
        covers.push({ url: `attachment://${name}`, alt });
      if (caption) lines.push(plainBlock(caption, [], true));
      if (whole) continue;
    }
    const url = source.type === 'remote' ? source.url : link(source.file, item.name);
    const safe = safeUrl(url) ?? '';
    if (isCover() && source.type === 'remote' && safe !== '' && safe.length <= longestUrl) {
      covers.push({ url: safe, alt });
      if (caption) lines.push(plainBlock(caption, [], true));
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
export function fileGroups(files: readonly PageFile[], fileBytes: number): PageFile[][] {
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

/** A name that Discord keeps as it is, so that `attachment://` finds the file: it drops what is no ASCII. */
function fileName(name: string): string {
  const safe = name
    .normalize('NFKD')
    .replace(/\s+/g, '_')
    .replace(/[^\w.-]/g, '');
  const [, stem = '', extension = ''] = /^(.*?)(\.\w{1,8})?$/.exec(safe) ?? [];
  return `${stem.replace(/^[._-]+/, '').slice(0, 80) || 'file'}${extension}`;
}

/** With a number if one of the files has the name already. */
export function distinctName(name: string, files: readonly PageFile[]): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${stem}-${number}${extension}`;
    if (files.every((file) => file.name !== candidate)) return candidate;
  }
}
