/** Markdown as a tree of the elements the page supports. Text stays text: this never produces HTML. */

import { readMoment } from '../../../core/util/moment.ts';
import { present } from '../../../core/util/present.ts';
import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { readMarkdown } from '../../shared/markdown/read.ts';
import { hidesTarget, isBareLink, textOf } from '../../shared/markdown/tree.ts';
import { wellFormed } from '../../shared/text.ts';

/** Keeps all text. Links may use http, https or mailto, or point to a message in this chat. */
export const webNodes = (markdown: string): Promise<MarkdownNode[]> =>
  readMarkdown(readableText(markdown), (nodes) => nodes.flatMap(withSafeLinks));

/** Other URLs could do anything, so they become text. */
function withSafeLinks(node: MarkdownNode): MarkdownNode[] {
  const { url, ...rest } = node;
  const children = node.children?.flatMap(withSafeLinks);
  if (url === undefined) return [children ? { ...node, children } : node];
  if (readMoment(url) !== undefined) return [...(children ?? [])];
  const safe = linkableUrl(url);
  const label = textOf([node]);
  if (safe !== undefined && hidesTarget(label, url)) {
    const address: MarkdownNode = { type: 'text', value: safe };
    return [...(children ?? []), { type: 'text', value: ' ' }, { ...rest, url: safe, children: [address] }];
  }
  if (safe !== undefined) return [{ ...rest, url: safe, ...present({ children }) }];
  const address = isBareLink(label, url) ? '' : ` (${url})`;
  return [...(children ?? []), { type: 'text', value: address }];
}

/** Browsers show control characters as boxes or not at all. */
const UNREADABLE = /(?![\n\t])\p{Cc}/gu;

export function readableText(text: string): string {
  return wellFormed(text).replace(/\r\n?/g, '\n').replace(UNREADABLE, '');
}

/** The URL if the page may link to it. */
export function linkableUrl(url: string): string | undefined {
  if (/^#message-[\w-]+$/.test(url)) return url;
  const parsed = URL.parse(url);
  return parsed && ['https:', 'http:', 'mailto:'].includes(parsed.protocol) ? parsed.href : undefined;
}
