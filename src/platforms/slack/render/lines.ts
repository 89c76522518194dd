/** Renders context lines: links to files, and small print. */
import type { types } from '@slack/bolt';
import { LINKED_FILES_SENTENCE, type MediaFile, type MediaItem } from '../../../core/message.ts';
import { hidesTarget } from '../../shared/markdown/tree.ts';
import { LIMITS } from '../limits.ts';
import { escapeMrkdwn, mrkdwn, plainText, splitMrkdwn } from './escape.ts';

export interface LinkOptions {
  /** Returns a link for a file that Slack rejected, or for every file where uploads are impossible. */
  readonly links?: (file: MediaFile, downloadName: string) => string | undefined;
}

/** Groups of at most `maxElements` elements with limited length, so that a few long ones do not fill a message. */
export function grouped<Element extends { readonly text: string }>(
  elements: readonly Element[],
  maxElements: number,
): Element[][] {
  const groups: Element[][] = [];
  let length = 0;
  for (const element of elements) {
    const group = groups.at(-1);
    length += element.text.length;
    if (group !== undefined && group.length < maxElements && length <= LIMITS.sectionText)
      group.push(element);
    else {
      groups.push([element]);
      length = element.text.length;
    }
  }
  return groups;
}

/** Links to media that are still at the gateway, and to files that Slack rejected. */
export function linkLines(media: readonly MediaItem[], { links }: LinkOptions): string[] {
  let isLinked = false;
  const lines = media.flatMap((item) => {
    const url = item.source.type === 'remote' ? item.source.url : links?.(item.source.file, item.name);
    if (url === undefined) return [];
    isLinked ||= item.source.type === 'stored';
    const label = item.caption ? `${item.name} · ${item.caption}` : item.name;
    return linkLine(url, label);
  });
  return isLinked ? [...lines, LINKED_FILES_SENTENCE] : lines;
}

export function linkLine(url: string, label: string): string[] {
  const shown = label.trim() === '' ? 'link' : label;
  if (!/^https?:\/\/[^\s|<>]+$/i.test(url) || url.length > LIMITS.url / 2)
    return splitMrkdwn(`${shown}: ${url}`, LIMITS.contextText);
  if (hidesTarget(shown, url))
    return [...splitMrkdwn(`${shown}:`, LIMITS.contextText), `<${escapeMrkdwn(url)}>`];
  const [first = '', ...rest] = splitMrkdwn(shown, LIMITS.contextText - LIMITS.url / 2 - 10);
  return [`<${escapeMrkdwn(url)}|${first}>`, ...rest];
}

export function contextBlocks(lines: readonly string[]): types.KnownBlock[] {
  const elements = lines.map(mrkdwn);
  return grouped(elements, LIMITS.contextElements).map((group) => ({ type: 'context', elements: group }));
}

export function contextBlock(text: string): types.ContextBlock {
  return { type: 'context', elements: [plainText(text, LIMITS.contextText)] };
}
