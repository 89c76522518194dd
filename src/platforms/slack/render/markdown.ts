/** Markdown for Slack's markdown blocks: escaped, without mentions, in pieces that fit. */
import { gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Options, toMarkdown } from 'mdast-util-to-markdown';
import { plain } from '../../../core/message.ts';
import {
  type MarkdownContent,
  parseMarkdown,
  textOf,
  withoutReferences,
  withTableSentences,
} from '../../shared/markdown.ts';
import { createPartReader, splitPlain } from '../../shared/text.ts';
import { cut, type MarkdownNode, sizeOf } from './markdown-tree.ts';

/** Invisible and without width: behind `<`, it keeps Slack from reading a token inside code. */
const WORD_JOINER = '\u2060';

export interface SlackTextInput {
  /** Markdown. */
  readonly text: string;
  /** Characters of a piece. */
  readonly limit: number;
  /** Plain pieces instead, without any markup. */
  readonly bare?: boolean;
}

/**
 * Renders Markdown into pieces of at most `limit` characters. No words are cut, code fences are closed and opened
 * again, long tables repeat their head. Nothing in it pings, and a link leads where its Markdown says. For a render thread.
 */
export function createSlackText(): (input: SlackTextInput) => string[] {
  const read = createPartReader(fittingBlocks);
  return ({ text, limit, bare = false }) => {
    if (bare) return splitPlain(plainOfMarkdown(text), limit);
    const pieces: string[] = [];
    for (const block of read(text, limit)) {
      const last = pieces.at(-1);
      if (last !== undefined && last.length + 2 + block.length <= limit)
        pieces[pieces.length - 1] = `${last}\n\n${block}`;
      else pieces.push(block);
    }
    return pieces;
  };
}

/** The same without reading the Markdown. An escape makes at most five characters of one. */
export const slackTextPlainly = ({ text, limit, bare = false }: SlackTextInput): string[] =>
  bare
    ? splitPlain(text, limit)
    : splitPlain(text, Math.floor(limit / 5)).map((piece) => slackEscapes(plain(piece)));

function fittingBlocks(markdown: string, limit: number): string[] {
  const blocks = withTableSentences(withoutReferences(parseMarkdown(markdown))).children.flatMap((node) =>
    node.type === 'footnoteDefinition'
      ? [paragraph(`[${node.label ?? node.identifier}]`), ...node.children]
      : [node],
  );
  return blocks.flatMap((node) => fitting(node, limit));
}

/** Markdown without its markup, for notifications. */
export function plainOfMarkdown(text: string): string {
  return textOf(parseMarkdown(text)).trim();
}

/** Slack makes a link of it by itself, and nothing in it could be read as markup. */
const BARE_URL = /^https?:\/\/[A-Za-z0-9:/.?=&%#+,;@-]+$/;

/** A piece's end depends only on the text before it, so a growing text changes only its last pieces. */
function fitting(node: MarkdownNode, limit: number): string[] {
  const pieces: string[] = [];
  let rest = node;
  while (true) {
    // Markup and escapes only add to the text, so a node that is clearly too long is not written.
    const written = sizeOf(rest) > limit ? undefined : write(rest);
    if (written === '') return pieces;
    if (written !== undefined && written.length <= limit) return [...pieces, written];
    const parts = cutToFit(rest, limit);
    if (parts === undefined) return [...pieces, ...asPlain(rest, limit)];
    pieces.push(parts.written);
    rest = parts.rest;
  }
}

/** Cuts off a first part that fits, as long as its markup allows. */
function cutToFit(node: MarkdownNode, limit: number): { written: string; rest: MarkdownNode } | undefined {
  for (let size = Math.min(limit, sizeOf(node) - 1); size > 0; ) {
    const parts = cut(node, size);
    if (parts === undefined) return undefined;
    const written = write(parts[0]);
    if (written.length <= limit) return { written, rest: parts[1] };
    size = Math.min(size - 1, Math.floor((size * limit) / written.length));
  }
  return undefined;
}

/** For nodes that cannot be cut, such as quotes a hundred levels deep. Escapes make at most five characters of one. */
function asPlain(node: MarkdownNode, limit: number): string[] {
  return splitPlain(textOf(node), Math.floor(limit / 5)).map((piece) => write(paragraph(piece)));
}

function paragraph(value: string): MarkdownContent {
  return { type: 'paragraph', children: [{ type: 'text', value }] };
}

const HANDLERS: Options['handlers'] = {
  text: (node, _parent, state, info) => slackEscapes(state.safe(node.value, info)),
  code: (node, parent, state, info) =>
    defaultHandlers.code({ ...node, meta: null, value: breakTokens(node.value) }, parent, state, info),
  inlineCode: (node, parent, state) =>
    defaultHandlers.inlineCode({ ...node, value: breakTokens(node.value) }, parent, state),
  link: (node, _parent, state, info) => {
    const label = state.containerPhrasing(node, { ...info, before: '[', after: ']' });
    if (label === node.url && BARE_URL.test(label)) return label;
    const url = safeUrl(node.url);
    if (url === undefined)
      return node.url === textOf(node) ? label : `${label} (${slackEscapes(state.safe(node.url, info))})`;
    return `[${label === '' ? slackEscapes(state.safe(node.url, info)) : label}](${url})`;
  },
  break: () => '\n',
};

const GFM = gfmToMarkdown({ tablePipeAlign: false });

function write(node: MarkdownNode): string {
  const markdown = toMarkdown(
    // Sound: it is a root's child, or half of one, which has the same type.
    { type: 'root', children: [node as MarkdownContent] },
    {
      extensions: [GFM],
      handlers: HANDLERS,
      bullet: '-',
      emphasis: '_',
      fences: true,
      rule: '-',
      listItemIndent: 'one',
    },
  );
  return breakTokens(markdown.replace(/(?<!\n)\n+$/, ''));
}

/**
 * Slack undoes backslashes before Markdown's own signs only, and decodes entities without reading them again as tokens:
 * `<` becomes an entity, and the signs that Slack shows as they are lose their backslash.
 */
function slackEscapes(escaped: string): string {
  return escaped.replace(/\\([\s\S])|<|&(?=#?\w{1,31};)/g, (found, after: string | undefined) => {
    if (found === '<' || after === '<') return '&lt;';
    if (found === '&' || after === '&') return '&amp;';
    if (after === ':' || after === '@') return after;
    return found;
  });
}

/** In code no entity is decoded, so tokens are broken instead: `<!here>`, `<@U…>`, `<#C…>`, `<https://…|label>`. */
export function breakTokens(code: string): string {
  return code.replace(/<(?=[@#!]|[a-z][a-z+.-]*:)/gi, `<${WORD_JOINER}`);
}

function safeUrl(url: string): string | undefined {
  if (!/^(?:https?:\/\/|mailto:)/i.test(url)) return undefined;
  return url.replace(/[\s()<>\\]/g, (sign) =>
    sign === '(' ? '%28' : sign === ')' ? '%29' : encodeURIComponent(sign),
  );
}
