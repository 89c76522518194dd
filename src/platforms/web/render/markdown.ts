/** Markdown as a tree of the few elements that the page knows. Its text stays text: nothing here makes or holds HTML. */
import {
  isBareLink,
  type MarkdownContent,
  type MarkdownRoot,
  parseMarkdown,
  textOf,
  withoutReferences,
} from '../../shared/markdown.ts';
import { createPartReader, wellFormed } from '../../shared/text.ts';

/** An element of the page by its name in Markdown, or text. */
export interface WebNode {
  readonly type: string;
  /** Of text and code. */
  readonly value?: string;
  readonly children?: readonly WebNode[];
  /** Of a link: http, https, mailto, or a message of this chat. */
  readonly url?: string;
  /** Of a heading, from 1. */
  readonly depth?: number;
  /** Of a list: whether it counts, and from where. */
  readonly ordered?: boolean;
  readonly start?: number;
  /** Of a task in a list. */
  readonly checked?: boolean;
  readonly language?: string;
}

export interface WebTextInput {
  /** Markdown. */
  readonly text: string;
}

/** For a render thread. None of the text is lost. */
export function createWebText(): (input: WebTextInput) => WebNode[] {
  const read = createPartReader<WebNode, 'web'>((markdown) =>
    childrenOf(withoutReferences(parseMarkdown(markdown))),
  );
  return ({ text }) => read(readableText(text), 'web');
}

/** The same without reading the Markdown. */
export const webTextPlainly = ({ text }: WebTextInput): WebNode[] =>
  readableText(text)
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph !== '')
    .map((value) => ({ type: 'paragraph', children: [{ type: 'text', value }] }));

/** Control characters show as boxes, or not at all. */
const UNREADABLE = /(?![\n\t])\p{Cc}/gu;

export function readableText(text: string): string {
  return wellFormed(text).replace(/\r\n?/g, '\n').replace(UNREADABLE, '');
}

function childrenOf(node: MarkdownRoot | MarkdownContent): WebNode[] {
  return 'children' in node ? node.children.flatMap(nodesOf) : [];
}

function nodesOf(node: MarkdownContent): WebNode[] {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
      return [{ type: node.type, value: readableText(node.value) }];
    case 'code':
      return [
        { type: 'code', value: readableText(node.value), ...(node.lang ? { language: node.lang } : {}) },
      ];
    case 'break':
    case 'thematicBreak':
      return [{ type: node.type }];
    case 'heading':
      return [{ type: 'heading', depth: node.depth, children: childrenOf(node) }];
    case 'list':
      return [
        {
          type: 'list',
          ordered: node.ordered === true,
          ...(node.start === null || node.start === undefined ? {} : { start: node.start }),
          children: childrenOf(node),
        },
      ];
    case 'listItem': {
      const checked = typeof node.checked === 'boolean' ? { checked: node.checked } : {};
      return [{ type: 'listItem', ...checked, children: childrenOf(node) }];
    }
    case 'link':
      return linkNodes(node);
    case 'footnoteDefinition': {
      const label: WebNode = { type: 'text', value: `[${readableText(node.label ?? node.identifier)}] ` };
      return [{ type: 'paragraph', children: [label] }, ...childrenOf(node)];
    }
    case 'paragraph':
    case 'blockquote':
    case 'strong':
    case 'emphasis':
    case 'delete':
    case 'table':
    case 'tableRow':
    case 'tableCell':
      return [{ type: node.type, children: childrenOf(node) }];
    default:
      return [{ type: 'text', value: readableText(textOf(node)) }];
  }
}

/** What other addresses would do is not known, so they are text. */
function linkNodes(node: Extract<MarkdownContent, { type: 'link' }>): WebNode[] {
  const children = childrenOf(node);
  const url = linkableUrl(node.url);
  if (url !== undefined) return [{ type: 'link', url, children }];
  const rest = isBareLink(textOf(node), node.url) ? '' : ` (${readableText(node.url)})`;
  return [...children, { type: 'text', value: rest }];
}

/** An address that the page may link to; undefined for any other. */
export function linkableUrl(url: string): string | undefined {
  if (/^#message-[\w-]+$/.test(url)) return url;
  const parsed = URL.parse(url);
  return parsed && ['https:', 'http:', 'mailto:'].includes(parsed.protocol) ? parsed.href : undefined;
}
