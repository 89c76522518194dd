/** Markdown as a tree, for platforms to write. */
import { setImmediate } from 'node:timers/promises';
import MarkdownIt, { type Env, type Token } from 'markdown-it';
import { wholeCharacters } from './text.ts';

/** Blocks and phrasing, named as in mdast. Plain data. */
export interface MarkdownNode {
  readonly type:
    | 'paragraph'
    | 'heading'
    | 'blockquote'
    | 'list'
    | 'listItem'
    | 'code'
    | 'table'
    | 'tableRow'
    | 'tableCell'
    | 'thematicBreak'
    | 'text'
    | 'inlineCode'
    | 'break'
    | 'strong'
    | 'emphasis'
    | 'delete'
    | 'link';
  readonly children?: MarkdownNode[];
  /** Of text and code. */
  readonly value?: string;
  /** Of a link, as it was written. */
  readonly url?: string;
  /** Of a heading, from 1. */
  readonly depth?: number;
  /** Of a list that counts: the first number. */
  readonly start?: number;
  /** Of a task in a list. */
  readonly checked?: boolean;
  readonly language?: string;
  /** The sign of emphasis: one asterisk or underscore. */
  readonly sign?: string;
}

/** Characters that are parsed in one go, code blocks aside. */
const SECTION = 8_000;

/**
 * Reads CommonMark with GitHub's tables, strikethrough, task lists and bare addresses. HTML, footnotes and definitions of links
 * are text, pictures are links. Total, and other work is done between the sections of a long text.
 * @param read is called for each section
 */
export async function readMarkdown<Part>(
  markdown: string,
  read: (nodes: readonly MarkdownNode[]) => Iterable<Part>,
): Promise<Part[]> {
  const parts: Part[] = [];
  const references = definitionsIn(markdown);
  for (const section of sections(markdown)) {
    if (section.length < markdown.length) await setImmediate();
    for (const part of read(parseMarkdown(section, references))) parts.push(part);
  }
  return parts;
}

/** The same for a text that is known to be short. */
export const parseMarkdown = (markdown: string, references = definitionsIn(markdown)): MarkdownNode[] =>
  treeOf((cellsOf(markdown) > MOST_CELLS ? withoutTables : reader).parse(markdown, { references }));

/** Where links such as `[words][name]` lead, by name. */
function definitionsIn(markdown: string): NonNullable<Env['references']> {
  const found = markdown.matchAll(/^ {0,3}\[([^[\]\n]{1,200})\]:[ \t]*<?(https?:[^\s<>]+)/gm);
  const { normalizeReference } = reader.utils;
  return Object.fromEntries(
    [...found].map(([, name = '', href = '']) => [normalizeReference(name), { href, title: '' }]),
  );
}

/** The text of nodes, each block on lines of its own. */
export function textOf(nodes: readonly MarkdownNode[]): string {
  return nodes
    .map(({ type, value, children = [] }, index) => {
      const text = type === 'break' ? '\n' : (value ?? textOf(children));
      if (index === 0 || PHRASING.has(type)) return text;
      return `${type === 'tableCell' ? ' ' : '\n'}${text}`;
    })
    .join('');
}

const PHRASING: ReadonlySet<string> = new Set([
  'text',
  'inlineCode',
  'break',
  'strong',
  'emphasis',
  'delete',
  'link',
]);

/** Whether the words of a link are its address already. */
export const isBareLink = (label: string, url: string): boolean =>
  [label, `${label}/`, `mailto:${label}`].includes(url);

/** Longer names of columns are not listed. In characters, together. */
const LONGEST_COLUMNS = 200;

/** Says what comes, for people who hear a table line by line. */
export function tableSentence({ children: [head] = [] }: MarkdownNode): string {
  const names = (head?.children ?? []).map((cell) => textOf([cell]).replace(/\s+/g, ' ').trim());
  const listed = names.join(', ');
  if (names.length === 0 || names.includes('') || listed.length > LONGEST_COLUMNS)
    return `Table with ${names.length} columns:`;
  return `Table with the ${names.length === 1 ? 'column' : 'columns'} ${listed}:`;
}

/** An escape, or code between fences or backticks as the first group. */
const ESCAPE_OR_CODE = /\\[\s\S]|(```[\s\S]*?(?:```|$)|(`+)(?!`)[^\n]*?(?<!`)\2(?!`))/g;

/** Undoes escapes, after `change`. Code is left as it is: it was never escaped. */
export function unescapeOutsideCode(markdown: string, change = (text: string) => text): string {
  const outside = (text: string) => change(text).replace(/\\([!-/:-@[-`{-~])/g, '$1');
  let read = '';
  let at = 0;
  for (const { 1: code, index } of markdown.matchAll(ESCAPE_OR_CODE)) {
    if (code === undefined) continue;
    read += outside(markdown.slice(at, index)) + code;
    at = index + code.length;
  }
  return read + outside(markdown.slice(at));
}

// --- Sections ---

const OPENING_FENCE = /^(?:(`{3,})[^`]*|(~{3,})(?!~).*)$/;
const CLOSING_FENCE = /^ {0,3}(`+|~+)[ \t\r]*$/;

/** Parts that are parsed one by one: cut between paragraphs where there are any, else between lines or words, and in no code. */
function* sections(markdown: string): Generator<string> {
  let rest = markdown;
  while (rest.length > SECTION) {
    const end = sectionEnd(rest);
    yield rest.slice(0, end);
    rest = rest.slice(end).replace(/^\n/, '');
  }
  yield rest;
}

function sectionEnd(text: string): number {
  let fence: string | undefined;
  let paragraph = 0;
  let line = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end > SECTION && fence === undefined) break;
    const row = text.slice(start, end);
    if (fence === undefined) {
      const [, backticks, tildes] = OPENING_FENCE.exec(row) ?? [];
      fence = backticks ?? tildes;
      // What is indented may belong to the item above.
      if (row.trim() === '' && /\S/.test(text.charAt(end + 1))) paragraph = end;
    } else if (CLOSING_FENCE.exec(row)?.[1]?.startsWith(fence)) {
      fence = undefined;
      paragraph = end;
    }
    line = end;
    start = end + 1;
  }
  if (paragraph > SECTION / 8) return paragraph;
  if (line > 0) return line;
  const space = text.lastIndexOf(' ', SECTION);
  return space > SECTION / 2 ? space : wholeCharacters(text, SECTION);
}

// --- The parser ---

/** Containers in containers. No chat shows so many. */
const DEEPEST = 32;
/** markdown-it fills short rows up to 65,536 cells, which takes it half a second. An honest cell has two characters. */
const MOST_CELLS = SECTION * 2;

function createParser() {
  const parser = new MarkdownIt({ maxNesting: DEEPEST + 1 });
  // It would leave out what nothing refers to.
  parser.disable('reference');
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false }).add('//', null);
  // Platforms decide which addresses they link, and show the others.
  parser.validateLink = () => true;
  parser.normalizeLink = (url) => url;
  parser.normalizeLinkText = (url) => url;
  parser.inline.State = CjkStateInline;
  // Past its `maxNesting`, the parser leaves text out.
  parser.block.ruler.before('table', 'too_deep', (state, start, end, silent) => {
    if (silent || state.level < DEEPEST) return false;
    state.push('paragraph_open', 'p', 1);
    const inline = state.push('inline', '', 0);
    inline.content = state.getLines(start, end, state.blkIndent, false).trim();
    inline.children = [];
    state.push('paragraph_close', 'p', -1);
    state.line = end;
    return true;
  });
  return parser;
}

/** Cells, if each row had as many as the longest. */
function cellsOf(markdown: string): number {
  const lines = markdown.split('\n');
  return lines.length * Math.max(...lines.map((line) => line.split('|').length));
}

const CJK_PUNCTUATION = new Set('、。〈〉《》「」『』【】〔〕〖〗〜！（），：；？［］｛｝～｡｢｣､・“”‘’…—');

/**
 * Next to the punctuation of Chinese, Japanese and Korean, marks both open and close: these scripts have no spaces, and
 * CommonMark's rules would leave the marks of `**「a」**b` as they are. https://github.com/commonmark/commonmark-spec/issues/650
 */
class CjkStateInline extends MarkdownIt.StateInline {
  override scanDelims(start: number, canSplitWord: boolean) {
    const found = super.scanDelims(start, canSplitWord);
    const { can_open, can_close, length } = found;
    return {
      length,
      can_open: can_open || CJK_PUNCTUATION.has(this.src.charAt(start + length)),
      can_close: can_close || CJK_PUNCTUATION.has(this.src.charAt(start - 1)),
    };
  }
}

const reader = createParser();
const withoutTables = createParser().disable('table');

// --- From markdown-it's flat tokens to a tree ---

const CONTAINERS: Readonly<Record<string, MarkdownNode['type']>> = {
  paragraph: 'paragraph',
  heading: 'heading',
  blockquote: 'blockquote',
  bullet_list: 'list',
  ordered_list: 'list',
  list_item: 'listItem',
  table: 'table',
  tr: 'tableRow',
  th: 'tableCell',
  td: 'tableCell',
  strong: 'strong',
  em: 'emphasis',
  s: 'delete',
  link: 'link',
};

function treeOf(tokens: readonly Token[]): MarkdownNode[] {
  const root: MarkdownNode[] = [];
  const open = [root];
  /** Marks that are nested too deep. */
  let skipped = 0;
  let isLinked = false;
  for (const token of tokens) {
    const { type, nesting } = token;
    const container = CONTAINERS[type.replace(/_(?:open|close)$/, '')];
    if (container === 'link') isLinked = nesting === 1;
    if (container === undefined) open.at(-1)?.push(...leavesOf(token, isLinked));
    else if (nesting === 1 && (open.length > 2 * DEEPEST || skipped > 0)) skipped += 1;
    else if (nesting === 1) {
      const children: MarkdownNode[] = [];
      open.at(-1)?.push({ type: container, children, ...detailsOf(token) });
      open.push(children);
    } else if (skipped > 0) skipped -= 1;
    else {
      open.pop();
      const closed = open.at(-1);
      if (container === 'listItem') closed?.push(...[closed.pop()].flatMap(withTask));
    }
  }
  return root;
}

function detailsOf(token: Token): Partial<MarkdownNode> {
  switch (token.type) {
    case 'heading_open':
      return { depth: Number(token.tag.slice(1)) };
    case 'ordered_list_open':
      return { start: Number(token.attrGet('start') ?? 1) };
    case 'em_open':
      return { sign: token.markup };
    case 'link_open':
      return { url: String(token.attrGet('href')) };
    default:
      return {};
  }
}

function leavesOf(token: Token, isLinked: boolean): MarkdownNode[] {
  const { type, content: value, info } = token;
  const children = token.children ?? [];
  switch (type) {
    case 'inline':
      return treeOf(children);
    case 'text':
      return isLinked ? [{ type, value }] : withLinks(value);
    case 'softbreak':
      return [{ type: 'text', value: '\n' }];
    case 'hardbreak':
      return [{ type: 'break' }];
    case 'hr':
      return [{ type: 'thematicBreak' }];
    case 'code_inline':
      return [{ type: 'inlineCode', value }];
    case 'code_block':
    case 'fence': {
      const [language = ''] = info.trim().split(/\s/, 1);
      return [{ type: 'code', value: value.replace(/\n$/, ''), ...(language && { language }) }];
    }
    case 'image': {
      const label: MarkdownNode = { type: 'text', value: textOf(treeOf(children)) || 'picture' };
      return [isLinked ? label : { type: 'link', url: String(token.attrGet('src')), children: [label] }];
    }
    default:
      return [];
  }
}

/** Text with its bare addresses as links. */
function withLinks(value: string): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  let at = 0;
  const add = (text: string) => text !== '' && nodes.push({ type: 'text', value: text });
  for (const { index, lastIndex, url, text } of reader.linkify.match(value) ?? []) {
    add(value.slice(at, index));
    nodes.push({ type: 'link', url, children: [{ type: 'text', value: text }] });
    at = lastIndex;
  }
  add(value.slice(at));
  return nodes;
}

/** An item that begins with a box is a task. */
function withTask(item: MarkdownNode | undefined): MarkdownNode[] {
  const [paragraph, ...blocks] = item?.children ?? [];
  const [first, ...others] = paragraph?.children ?? [];
  const [box, mark] = /^\[([ xX])\][ \n]/.exec(first?.value ?? '') ?? [];
  if (!item || !paragraph || first?.type !== 'text' || box === undefined) return item ? [item] : [];
  const rest: MarkdownNode[] = [{ type: 'text', value: first.value?.slice(box.length) ?? '' }, ...others];
  return [{ ...item, checked: mark !== ' ', children: [{ ...paragraph, children: rest }, ...blocks] }];
}
