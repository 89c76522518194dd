/** Markdown as a tree of the few elements that the page knows. Its text stays text: nothing here makes or holds HTML. */

import { present } from '../../../core/util/present.ts';
import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { readMarkdown } from '../../shared/markdown/read.ts';
import { isBareLink, textOf } from '../../shared/markdown/tree.ts';
import { wellFormed } from '../../shared/text.ts';

/** None of the text is lost. Links lead to http, https, mailto, or a message of this chat. */
export const webNodes = (markdown: string): Promise<MarkdownNode[]> =>
  readMarkdown(readableText(markdown), (nodes) => nodes.flatMap(withSafeLinks));

/** What other addresses would do is not known, so they are text. */
function withSafeLinks(node: MarkdownNode): MarkdownNode[] {
  const { url, ...rest } = node;
  const children = node.children?.flatMap(withSafeLinks);
  if (url === undefined) return [children ? { ...node, children } : node];
  const safe = linkableUrl(url);
  if (safe !== undefined) return [{ ...rest, url: safe, ...present({ children }) }];
  const address = isBareLink(textOf([node]), url) ? '' : ` (${url})`;
  return [...(children ?? []), { type: 'text', value: address }];
}

/** Control characters show as boxes, or not at all. */
const UNREADABLE = /(?![\n\t])\p{Cc}/gu;

export function readableText(text: string): string {
  return wellFormed(text).replace(/\r\n?/g, '\n').replace(UNREADABLE, '');
}

/** An address that the page may link to; undefined for any other. */
export function linkableUrl(url: string): string | undefined {
  if (/^#message-[\w-]+$/.test(url)) return url;
  const parsed = URL.parse(url);
  return parsed && ['https:', 'http:', 'mailto:'].includes(parsed.protocol) ? parsed.href : undefined;
}
