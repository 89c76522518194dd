/** Markdown as a tree, for platforms to write. */
import { createRequire } from 'node:module';
import type { fromMarkdown } from 'mdast-util-from-markdown';

/** The parser's hundred modules are loaded with the first text, not at the start, and at once: writing a text does not wait. */
const load = createRequire(import.meta.url);

export type MarkdownRoot = ReturnType<typeof fromMarkdown>;
export type MarkdownContent = MarkdownRoot['children'][number];
type Definition = Extract<MarkdownContent, { type: 'definition' }>;
type MarkdownParent = Extract<MarkdownContent | MarkdownRoot, { children: unknown[] }>;
export type PhrasingContent = Extract<MarkdownContent, { type: 'paragraph' }>['children'][number];

/** Containers in containers. Parsers take time and stack with the depth, and no chat shows so many. */
const DEEPEST = 32;
const MARKER = String.raw`(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))`;
const TOO_DEEP = new RegExp(`^((?:[ \\t]*${MARKER}){${DEEPEST}}[ \\t]*)(?=${MARKER})(\\d*)`, 'gm');
const FAR_INDENTED = new RegExp(`^[ \\t]{100,}(?=${MARKER})`, 'gm');
const RULE = /^[ \t]*(?:[-*][ \t]*)+$/;

/** The same Markdown, with the markers of what is nested too deep as plain signs. */
const boundNesting = (markdown: string): string =>
  markdown
    .replace(FAR_INDENTED, ' '.repeat(100))
    .replace(TOO_DEEP, (found, before: string, digits: string, at: number, whole: string) => {
      const end = whole.indexOf('\n', at);
      const isRule = RULE.test(whole.slice(at, end < 0 ? undefined : end));
      return isRule ? found : `${before}${digits}\\`;
    });

/**
 * Next to the punctuation of Chinese, Japanese and Korean, marks both open and close: these scripts have no spaces, and
 * CommonMark's rules would leave the marks of `**「a」**b` as they are. https://github.com/commonmark/commonmark-spec/issues/650
 */
const CJK_PUNCTUATION = [...'、。〈〉《》「」『』【】〔〕〖〗〜！（），：；？［］｛｝～｡｢｣､・“”‘’…—'];
const cjkMarks = { attentionMarkers: { null: CJK_PUNCTUATION.map((sign) => sign.charCodeAt(0)) } };

/**
 * Reads CommonMark with GitHub's tables, strikethrough, task lists, footnotes and bare links. What is nested more than 32
 * levels deep is text. Throws on text with other excesses: only for a render thread.
 */
export function parseMarkdown(markdown: string): MarkdownRoot {
  parse ??= loadParser();
  return parse(boundNesting(markdown));
}

let parse: ((markdown: string) => MarkdownRoot) | undefined;

function loadParser(): (markdown: string) => MarkdownRoot {
  const { fromMarkdown }: typeof import('mdast-util-from-markdown') = load('mdast-util-from-markdown');
  const { gfmFromMarkdown }: typeof import('mdast-util-gfm') = load('mdast-util-gfm');
  const { gfm }: typeof import('micromark-extension-gfm') = load('micromark-extension-gfm');
  // Most texts are short: what they are read with would take longer to make than they take to read.
  const options = { extensions: [gfm(), cjkMarks], mdastExtensions: [gfmFromMarkdown()] };
  return (markdown) => fromMarkdown(markdown, options);
}

/**
 * The tree with text for HTML, footnote references and definitions that nothing refers to, and links for pictures and
 * references. Chats have none of these.
 */
export function withoutReferences(root: MarkdownRoot): MarkdownRoot {
  const references: References = { targets: new Map(), used: new Set() };
  collectReferences(root, references);
  return replaceChildren(root, references);
}

/** Nodes whose children are blocks. */
const BLOCKS: ReadonlySet<string> = new Set([
  'root',
  'blockquote',
  'list',
  'listItem',
  'table',
  'footnoteDefinition',
]);

/** The text of a node and everything in it, blocks on lines of their own. */
export function textOf(node: MarkdownContent | MarkdownRoot): string {
  if ('value' in node) return node.value;
  if (node.type === 'image') return node.alt ?? '';
  if (node.type === 'break') return '\n';
  if (!('children' in node)) return '';
  const between = node.type === 'tableRow' ? ' ' : BLOCKS.has(node.type) ? '\n' : '';
  return node.children.map(textOf).join(between);
}

/** Whether the words of a link are its address already. */
export const isBareLink = (label: string, url: string): boolean =>
  [label, `mailto:${label}`, `http://${label}`].includes(url);

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

type MarkdownTable = Extract<MarkdownContent, { type: 'table' }>;

/** Longer names of columns are not listed. In characters, together. */
const LONGEST_COLUMNS = 200;

/** Says what comes, for people who hear a table line by line. */
export function tableSentence({ children: [head] }: MarkdownTable): string {
  const names = (head?.children ?? []).map((cell) => textOf(cell).replace(/\s+/g, ' ').trim());
  const listed = names.join(', ');
  if (names.length === 0 || names.includes('') || listed.length > LONGEST_COLUMNS)
    return `Table with ${names.length} columns:`;
  return `Table with the ${names.length === 1 ? 'column' : 'columns'} ${listed}:`;
}

/** The tree with that sentence before each table. */
export function withTableSentences<Node extends MarkdownContent | MarkdownRoot>(node: Node): Node {
  if (!('children' in node)) return node;
  const children = (node.children as MarkdownContent[]).flatMap((child) =>
    child.type === 'table' ? [paragraph(text(tableSentence(child))), child] : [withTableSentences(child)],
  );
  // Sound: a table is among blocks, where a paragraph may be.
  return { ...node, children } as Node;
}

interface References {
  /** By identifier: the definition that counts, which is the first. */
  readonly targets: Map<string, Definition>;
  /** Identifiers that something refers to. */
  readonly used: Set<string>;
}

function collectReferences(node: MarkdownContent | MarkdownRoot, { targets, used }: References): void {
  if (node.type === 'definition' && !targets.has(node.identifier)) targets.set(node.identifier, node);
  if (node.type === 'linkReference' || node.type === 'imageReference') used.add(node.identifier);
  if ('children' in node) for (const child of node.children) collectReferences(child, { targets, used });
}

/** Parents of blocks. Text in them needs a paragraph around it. */
const FLOW: ReadonlySet<string> = new Set(['root', 'blockquote', 'listItem', 'footnoteDefinition']);

function replaceChildren<Node extends MarkdownParent>(node: Node, references: References): Node {
  const children = node.children
    .flatMap((child) => replacements(child, references))
    .map((child) => (FLOW.has(node.type) && child.type === 'text' ? paragraph(child) : child));
  // Sound: phrasing content is replaced by phrasing content, and in flow content it gets a paragraph.
  return { ...node, children } as Node;
}

const text = (value: string): PhrasingContent => ({ type: 'text', value });
const paragraph = (...children: PhrasingContent[]): MarkdownContent => ({ type: 'paragraph', children });

function replacements(node: MarkdownContent, references: References): MarkdownContent[] {
  const { targets, used } = references;
  switch (node.type) {
    case 'html':
      return [text(node.value)];
    case 'footnoteReference':
      return [text(`[${node.label ?? node.identifier}]`)];
    case 'image':
      return [{ type: 'link', url: node.url, children: [text(node.alt || 'picture')] }];
    case 'imageReference': {
      const url = targets.get(node.identifier)?.url ?? '';
      return [{ type: 'link', url, children: [text(node.alt || 'picture')] }];
    }
    case 'linkReference': {
      const url = targets.get(node.identifier)?.url;
      const { children } = replaceChildren(node, references);
      return url === undefined ? children : [{ type: 'link', url, children }];
    }
    case 'definition': {
      const { identifier, label, url, title } = node;
      if (targets.get(identifier) === node && used.has(identifier)) return [];
      const address = { type: 'link' as const, url, children: [text(url)] };
      return [paragraph(text(`[${label ?? identifier}]: `), address, text(title ? ` "${title}"` : ''))];
    }
    default:
      return 'children' in node ? [replaceChildren(node, references)] : [node];
  }
}
