/** Phrasing content as words with their marks, so a long paragraph can be split anywhere with balanced marks. */

import { type Moment, readMoment } from '../../../core/util/moment.ts';
import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { splitPlain } from '../text.ts';
import { hidesTarget, isBareLink, textOf } from './tree.ts';

/** The inline Markdown dialect of a chat platform. */
export interface PhrasingNotation {
  /** Disables mentions in plain text. */
  readonly disableMentions: (text: string) => string;
  /** Escapes part of a word so that it has no Markdown meaning. */
  readonly escape: (text: string) => string;
  /** An invisible character that prevents adjacent marks from merging and signs from forming a mention. */
  readonly joiner: string;
  /** The delimiter of a code span, and its content. */
  readonly codeSpan: (code: string) => { readonly sign: string; readonly code: string };
  /** A link without a label; undefined for URLs that must not become links. */
  readonly address: (url: string) => string | undefined;
  /** A link with a label; undefined if the label cannot be used. The URL is already checked. */
  readonly link: (label: readonly MarkdownNode[], url: string) => string | undefined;
  /** A time in the reader's time zone, if the platform has such times. */
  readonly moment?: (moment: Moment) => string;
}

/** The smallest unit that is never split across lines. */
export interface Word {
  readonly kind: 'text' | 'space' | 'break' | 'code' | 'link';
  /** Escaped Markdown, without its marks. */
  readonly text: string;
  /** The surrounding marks, outermost first. */
  readonly marks: readonly string[];
}

/** Longer words may be split if they don't fit on a line. */
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
        return split(notation.disableMentions(value), 'text', marks, notation.escape);
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

/** The link, or its label and URL if it cannot become a link. */
function linkWords(
  label: readonly MarkdownNode[],
  url: string,
  notation: PhrasingNotation,
  marks: readonly string[],
): Word[] {
  const words = phrasingWords(label, notation, marks);
  const moment = readMoment(url);
  if (moment !== undefined)
    return notation.moment === undefined ? words : [{ kind: 'link', text: notation.moment(moment), marks }];
  const address = notation.address(url);
  const name = textOf(label);
  if (address === undefined)
    return url === '' || isBareLink(name, url)
      ? words
      : [...words, ...phrasingWords([{ type: 'text', value: ` (${url})` }], notation, marks)];
  const link = (text: string): Word => ({ kind: 'link', text, marks });
  if (name.trim() === '' || isBareLink(name, url)) return [link(address)];
  const masked = hidesTarget(name, url) ? undefined : notation.link(label, url);
  return masked === undefined
    ? [...words, { kind: 'space', text: ' ', marks }, link(address)]
    : [link(masked)];
}

export interface LineLayout {
  /** Prefix of the first line, such as `- ` or `# `. */
  readonly prefix: string;
  /** Prefix of every other line, such as `> `. */
  readonly hanging: string;
}

/** The output so far. */
interface Writing {
  readonly text: string;
  /** Currently open marks. */
  readonly open: readonly string[];
  readonly atLineStart: boolean;
  /** The last word written. */
  readonly last: string;
}

const begin = (prefix: string): Writing => ({ text: prefix, open: [], atLineStart: true, last: '' });
const closed = ({ text, open, last }: Writing): string => text + closing(open, last);

/** A backtick may not touch the delimiter of its code span. */
const closing = (marks: readonly string[], last: string): string =>
  (last.endsWith('`') && marks.at(-1)?.startsWith('`') ? ' ' : '') + marks.toReversed().join('');
const opening = (marks: readonly string[], next: string): string =>
  marks.join('') + (next.startsWith('`') && marks.at(-1)?.startsWith('`') ? ' ' : '');
const isBlank = ({ kind }: Word): boolean => kind === 'space' || kind === 'break';

/**
 * Writes words as Markdown with balanced marks, in pieces of at most `limit` characters that end between words. The first piece
 * has at most `first` characters, and is empty if no word fits.
 */
export function* writeWords(
  words: readonly Word[],
  { prefix, hanging }: LineLayout,
  notation: PhrasingNotation,
  limit = Number.POSITIVE_INFINITY,
  first = limit,
): Generator<string> {
  const [firstPrefix = '', nextPrefix = ''] = [prefix, hanging].map((text) => fittingPrefix(text, limit));
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

/** Drops a prefix that leaves little space for words. */
export const fittingPrefix = (prefix: string, limit: number): string =>
  prefix.length > limit / 8 ? '' : prefix;

/** Groups words that stay together, with the blanks before them. Drops trailing blanks. */
function* groupsOf(words: readonly Word[], max: number): Generator<readonly Word[]> {
  let group: Word[] = [];
  let length = 0;
  const parts = words.flatMap((word) =>
    word.text.length <= max ? word : splitPlain(word.text, max).map((text) => ({ ...word, text })),
  );
  for (const word of parts) {
    const last = group.at(-1);
    const written = word.text.length + 2 * word.marks.join('').length;
    if (last && !isBlank(last) && (isBlank(word) || length + written > max)) {
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
    const target = isBlank(word) ? marksAcross(open, word, next) : word.marks;
    const { length } = text;
    if (open.length > 0 || target.length > 0) {
      const shared = commonStart(open, target);
      text += closing(open.slice(shared), last);
      if (shared < open.length && open[shared]?.charAt(0) === target[shared]?.charAt(0)) text += joiner;
      text += opening(target.slice(shared), word.text);
      open = target;
    }
    const isAlone = text.length === length && word.kind === 'text';
    if (isAlone && /[@<]$/.test(last)) text += joiner;
    if (word.kind === 'break') text += `\n${hanging}`;
    // After a mark, the word is not at the start of the line.
    else text += isAlone && atLineStart ? escapeLineStart(word.text) : word.text;
    atLineStart = word.kind === 'break' || (atLineStart && word.kind === 'space');
    last = word.text;
  }
  return { text, open, atLineStart, last };
}

/** Marks may not touch spaces: `** a**` is not bold. So a space keeps only the marks that continue after it. */
const marksAcross = (open: readonly string[], space: Word, next: Word | undefined): readonly string[] =>
  open.length === 0 ? open : open.filter((mark) => space.marks.includes(mark) && next?.marks.includes(mark));

/** Number of equal marks, counted from the outermost. */
function commonStart(open: readonly string[], target: readonly string[]): number {
  const different = open.findIndex((mark, at) => mark !== target[at]);
  return different < 0 ? open.length : different;
}

/** Escapes characters that would start a heading, list, quote, rule or subtext. */
const escapeLineStart = (text: string): string =>
  text.replace(/^[#>\-+=]/, '\\$&').replace(/^(\d+)([.)])/, '$1\\$2');
