/** Phrasing content as words that carry their marks, so that a long paragraph can be broken anywhere and stay balanced. */

import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { splitPlain } from '../text.ts';
import { isBareLink, textOf } from './tree.ts';

/** What a chat reads as Markdown, where chats differ. */
export interface PhrasingNotation {
  /** Plain text without mentions. */
  readonly deaden: (text: string) => string;
  /** Part of a word without mentions, as Markdown that shows it and means nothing. */
  readonly escape: (text: string) => string;
  /** Invisible; it keeps two marks apart that would be read as one longer mark, and signs that would be read as a mention. */
  readonly joiner: string;
  /** The sign around a code span, and its code. */
  readonly codeSpan: (code: string) => { readonly sign: string; readonly code: string };
  /** A link without a label; undefined for an address that people should not open. */
  readonly address: (url: string) => string | undefined;
  /** Undefined for a label that cannot be one. The address is one that people may open. */
  readonly link: (label: readonly MarkdownNode[], url: string) => string | undefined;
}

/** The smallest part that stays on one line. */
export interface Word {
  readonly kind: 'text' | 'space' | 'break' | 'code' | 'link';
  /** Finished Markdown, without its marks. */
  readonly text: string;
  /** The signs around it, from the outside in. */
  readonly marks: readonly string[];
}

/** Longer words can be broken, where they are too long for a line. */
const LONGEST_WORD = 40;

export function phrasingWords(
  nodes: readonly MarkdownNode[],
  notation: PhrasingNotation,
  marks: readonly string[] = [],
): Word[] {
  return nodes.flatMap(({ type, value = '', children = [], url = '', sign = '*' }): Word[] => {
    switch (type) {
      case 'strong':
        return phrasingWords(children, notation, withMark(marks, '**'));
      case 'emphasis':
        return phrasingWords(children, notation, withMark(marks, sign));
      case 'delete':
        return phrasingWords(children, notation, withMark(marks, '~~'));
      case 'inlineCode': {
        const span = notation.codeSpan(value);
        return split(span.code, 'code', [...marks, span.sign]);
      }
      case 'break':
        return [{ kind: 'break', text: '\n', marks }];
      case 'link':
        return linkWords(children, url, notation, marks);
      default:
        return split(notation.deaden(value), 'text', marks, notation.escape);
    }
  });
}

const withMark = (marks: readonly string[], mark: string): readonly string[] =>
  marks.includes(mark) ? marks : [...marks, mark];

function split(
  value: string,
  kind: 'text' | 'code',
  marks: readonly string[],
  write = (text: string) => text,
): Word[] {
  const pieces = value.match(/\r?\n|[^\S\n]+|\S+/g) ?? [];
  return pieces.flatMap((piece): Word | Word[] => {
    if (piece.endsWith('\n')) return { kind: 'break', text: '\n', marks };
    if (piece.trim() === '') return { kind: 'space', text: piece, marks };
    if (piece.length <= LONGEST_WORD) return { kind, text: write(piece), marks };
    return splitPlain(piece, LONGEST_WORD).map((text) => ({ kind, text: write(text), marks }));
  });
}

/** The link, or where there cannot be one, its words and its address. */
function linkWords(
  label: readonly MarkdownNode[],
  url: string,
  notation: PhrasingNotation,
  marks: readonly string[],
): Word[] {
  const address = notation.address(url);
  const words = phrasingWords(label, notation, marks);
  const name = textOf(label);
  if (address === undefined)
    return url === '' || isBareLink(name, url)
      ? words
      : [...words, ...phrasingWords([{ type: 'text', value: ` (${url})` }], notation, marks)];
  const link = (text: string): Word => ({ kind: 'link', text, marks });
  if (name.trim() === '' || isBareLink(name, url)) return [link(address)];
  // A label that is another address would hide where the link leads.
  const masked = /(?:https?:\/\/|www\.)\S/i.test(name) ? undefined : notation.link(label, url);
  return masked === undefined
    ? [...words, { kind: 'space', text: ' ', marks }, link(address)]
    : [link(masked)];
}

export interface LineLayout {
  /** Before the first line, such as `- ` or `# `. */
  readonly prefix: string;
  /** Before every other line, such as `> `. */
  readonly hanging: string;
}

/** The text of words so far. */
interface Writing {
  readonly text: string;
  /** Marks that are open. */
  readonly open: readonly string[];
  readonly atLineStart: boolean;
  /** What was written last. */
  readonly last: string;
}

const begin = (prefix: string): Writing => ({ text: prefix, open: [], atLineStart: true, last: '' });
const closed = ({ text, open, last }: Writing): string => text + closing(open, last);

/** A backtick may not touch the sign around its code. */
const closing = (marks: readonly string[], last: string): string =>
  (last.endsWith('`') && marks.at(-1)?.startsWith('`') ? ' ' : '') + marks.toReversed().join('');
const opening = (marks: readonly string[], next: string): string =>
  marks.join('') + (next.startsWith('`') && marks.at(-1)?.startsWith('`') ? ' ' : '');
const isBlank = ({ kind }: Word): boolean => kind === 'space' || kind === 'break';

/**
 * Writes words as Markdown in which every mark that opens also closes, in pieces of at most `limit` characters that end between
 * words. The first piece has at most `first`, and is empty where no word fits.
 */
export function* writeWords(
  words: readonly Word[],
  { prefix, hanging }: LineLayout,
  notation: PhrasingNotation,
  limit = Number.POSITIVE_INFINITY,
  first = limit,
): Generator<string> {
  const [firstPrefix = '', nextPrefix = ''] = [prefix, hanging].map((given) => keptPrefix(given, limit));
  let space = first;
  let writing = begin(firstPrefix);
  let isEmpty = true;
  for (const group of groupsOf(words, limit / 2)) {
    let next = append(writing, isEmpty ? withoutBlanks(group) : group, nextPrefix, notation);
    if (closed(next).length > space) {
      if (!isEmpty || space < limit) yield isEmpty ? '' : closed(writing);
      writing = begin(isEmpty ? firstPrefix : nextPrefix);
      next = append(writing, withoutBlanks(group), nextPrefix, notation);
      space = limit;
    }
    writing = next;
    isEmpty = false;
  }
  yield isEmpty ? firstPrefix.trimEnd() : closed(writing);
}

/** A prefix that leaves little space for words cannot be kept. */
export const keptPrefix = (prefix: string, limit: number): string =>
  prefix.length > limit / 8 ? '' : prefix;

/** Words that stay together, with the blanks before them. Blanks at the end are left out. */
function* groupsOf(words: readonly Word[], most: number): Generator<readonly Word[]> {
  let group: Word[] = [];
  let length = 0;
  const parts = words.flatMap((word) =>
    word.text.length <= most ? word : splitPlain(word.text, most).map((text) => ({ ...word, text })),
  );
  for (const word of parts) {
    const last = group.at(-1);
    const written = word.text.length + 2 * word.marks.join('').length;
    if (last && !isBlank(last) && (isBlank(word) || length + written > most)) {
      yield group;
      group = [];
      length = 0;
    }
    group.push(word);
    length += written;
  }
  if (!group.every(isBlank)) yield group;
}

const withoutBlanks = (group: readonly Word[]): readonly Word[] =>
  group.slice(group.findIndex((word) => !isBlank(word)));

function append(
  writing: Writing,
  group: readonly Word[],
  hanging: string,
  { joiner }: PhrasingNotation,
): Writing {
  let { text, open, atLineStart, last } = writing;
  const next = group.find((word) => !isBlank(word));
  for (const word of group) {
    const wanted = isBlank(word) ? marksAcross(open, word, next) : word.marks;
    const { length } = text;
    if (open.length > 0 || wanted.length > 0) {
      const kept = commonStart(open, wanted);
      text += closing(open.slice(kept), last);
      if (kept < open.length && open[kept]?.charAt(0) === wanted[kept]?.charAt(0)) text += joiner;
      text += opening(wanted.slice(kept), word.text);
      open = wanted;
    }
    const isAlone = text.length === length && word.kind === 'text';
    if (isAlone && /[@<]$/.test(last)) text += joiner;
    if (word.kind === 'break') text += `\n${hanging}`;
    // Behind a mark it begins no line.
    else text += isAlone && atLineStart ? escapeLineStart(word.text) : word.text;
    atLineStart = word.kind === 'break' || (atLineStart && word.kind === 'space');
    last = word.text;
  }
  return { text, open, atLineStart, last };
}

/** Marks may not touch spaces: `** a**` is not bold. So a space keeps those marks only that go on after it. */
const marksAcross = (open: readonly string[], space: Word, next: Word | undefined): readonly string[] =>
  open.length === 0 ? open : open.filter((mark) => space.marks.includes(mark) && next?.marks.includes(mark));

/** How many marks are the same, from the outside in. */
function commonStart(open: readonly string[], wanted: readonly string[]): number {
  const different = open.findIndex((mark, at) => mark !== wanted[at]);
  return different < 0 ? open.length : different;
}

/** Escapes what would make a heading, list, quote, line or small print. */
const escapeLineStart = (text: string): string =>
  text.replace(/^[#>\-+=]/, '\\$&').replace(/^(\d+)([.)])/, '$1\\$2');
