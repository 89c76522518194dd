/** Builds a Markdown tree that platforms render. */
import type { Token } from 'markdown-it';
import type { Message } from '../../../core/message.ts';
import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { addressesIn, MAX_DEPTH } from './parser.ts';

/** mdast node types by markdown-it token name. */
const CONTAINERS = {
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
} as const;

const CONTAINER_OF = new Map<string, MarkdownNode['type']>(Object.entries(CONTAINERS));

/** Nests markdown-it's flat tokens. */
export function treeOf(tokens: readonly Token[]): MarkdownNode[] {
  const root: MarkdownNode[] = [];
  const open = [root];
  /** Number of open marks beyond the depth limit. */
  let skipped = 0;
  let isLinked = false;
  for (const token of tokens) {
    const { type, nesting } = token;
    const container = CONTAINER_OF.get(type.replace(/_(?:open|close)$/, ''));
    if (container === 'link') isLinked = nesting === 1;
    if (container === undefined) open.at(-1)?.push(...leavesOf(token, isLinked));
    else if (nesting === 1 && (open.length > 2 * MAX_DEPTH || skipped > 0)) skipped += 1;
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
      // Anything else could be read as a mention or a link.
      const [language] = /^[\w+#.-]{1,20}(?!\S)/.exec(info.trim()) ?? [];
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

/** Turns bare URLs in text into links. */
function withLinks(value: string): MarkdownNode[] {
  const nodes: MarkdownNode[] = [];
  let at = 0;
  const add = (text: string) => text !== '' && nodes.push({ type: 'text', value: text });
  for (const { index, lastIndex, url, text } of addressesIn(value)) {
    add(value.slice(at, index));
    nodes.push({ type: 'link', url, children: [{ type: 'text', value: text }] });
    at = lastIndex;
  }
  add(value.slice(at));
  return nodes;
}

/** Turns a list item that starts with a checkbox into a task. */
function withTask(item: MarkdownNode | undefined): MarkdownNode[] {
  const [paragraph, ...blocks] = item?.children ?? [];
  const [first, ...siblings] = paragraph?.children ?? [];
  const [box, mark] = /^\[([ xX])\][ \n]/.exec(first?.value ?? '') ?? [];
  if (!item || !paragraph || first?.type !== 'text' || box === undefined) return item ? [item] : [];
  const rest: MarkdownNode[] = [{ type: 'text', value: first.value?.slice(box.length) ?? '' }, ...siblings];
  return [{ ...item, checked: mark !== ' ', children: [{ ...paragraph, children: rest }, ...blocks] }];
}

/** The text of nodes, with each block on a new line. */
export function textOf(nodes: readonly MarkdownNode[]): string {
  const texts = nodes.map(({ type, value, children = [] }, index) => {
    const between = type === 'tableCell' ? ' ' : '\n';
    const bullet = type === 'listItem' ? '• ' : '';
    const text = type === 'break' ? '\n' : (value ?? `${bullet}${textOf(children)}`);
    return index === 0 || PHRASING.has(type) ? text : between + text;
  });
  return texts.join('');
}

const PHRASING: ReadonlySet<string> = new Set('text inlineCode break strong emphasis delete link'.split(' '));

/** Whether a link's label is its own URL, with or without the scheme. */
export const isBareLink = (label: string, url: string): boolean =>
  ['', 'https://', 'http://', 'mailto:'].some((scheme) =>
    [`${scheme}${label}`, `${scheme}${label}/`].includes(url),
  );

/** Whether a label looks like an address other than the one it opens. Then the URL must be written out. */
export const hidesTarget = (label: string, url: string): boolean =>
  !isBareLink(label, url) && ADDRESS.test(label.normalize('NFKC').replace(/\p{Cf}/gu, ''));

/** The address that a message's title opens. Undefined if the title looks like another one. */
export const titleTarget = ({ title = '', titleUrl }: Message): string | undefined =>
  titleUrl === undefined || hidesTarget(title.trim(), titleUrl) ? undefined : titleUrl;

/**
 * A scheme, or a dot in a word: `paypal.com`, `192.0.2.1`. File endings that are not top-level domains don't count.
 * https://data.iana.org/TLD/tlds-alpha-by-domain.txt
 */
const ADDRESS =
  /:\/\/|www\.|\d\.\d{1,3}\.\d{1,3}\.\d|[\p{L}\p{M}\p{N}]\.(?!(?:mp[34]|wav|png|jpe?g|webp|gif|txt|pdf|html?|js|ts|json)(?![\p{L}\p{N}.-]))\p{L}{2}/iu;

/** Maximum total length of the column names to list them. */
const LONGEST_COLUMNS = 200;

/** Introduces a table for people who use a screen reader. */
export function tableSentence({ children: [head] = [] }: MarkdownNode): string {
  const names = (head?.children ?? []).map((cell) => textOf([cell]).replace(/\s+/g, ' ').trim());
  const listed = names.join(', ');
  if (names.length === 0 || names.includes('') || listed.length > LONGEST_COLUMNS)
    return `Table with ${names.length} columns:`;
  return `Table with ${names.length === 1 ? 'column' : 'columns'} ${listed}:`;
}
