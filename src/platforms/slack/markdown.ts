/** Markdown as Slack's markdown blocks take it: escaped, pinging nobody, in pieces that fit. */
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown, gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Options, toMarkdown } from 'mdast-util-to-markdown';
import { gfm } from 'micromark-extension-gfm';
import { splitPlain } from './escape.ts';
import {
  cut,
  type MarkdownNode,
  type MarkdownRoot,
  type RootContent,
  sizeOf,
  textOf,
} from './markdown-tree.ts';

/** Invisible and without width: between `<` and what follows, it keeps Slack from reading a token inside code. */
const WORD_JOINER = '\u2060';

/**
 * Renders Markdown into pieces of at most `limit` characters. No words are cut, code fences are closed and opened
 * again, long tables repeat their head. Nothing in it pings, and a link leads where its Markdown says. Total.
 */
export function slackMarkdown(text: string, limit: number): string[] {
  const tree = withoutReferences(parse(text));
  const pieces: string[] = [];
  for (const node of tree.children) {
    for (const part of fitting(node, limit)) {
      const last = pieces.at(-1);
      if (last !== undefined && last.length + 2 + part.length <= limit)
        pieces[pieces.length - 1] = `${last}\n\n${part}`;
      else pieces.push(part);
    }
  }
  return pieces;
}

/** Markdown without its markup, for notifications. */
export function plainOfMarkdown(text: string): string {
  return textOf(parse(text)).trim();
}

/** Slack makes a link of it by itself, and nothing in it could be taken for markup. */
const BARE_URL = /^https?:\/\/[A-Za-z0-9:/.?=&%#+,;@-]+$/;

function parse(text: string): MarkdownRoot {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/** Where a piece ends depends only on what is before, so text that grows at its end changes only its last pieces. */
function fitting(node: MarkdownNode, limit: number): string[] {
  const pieces: string[] = [];
  let rest = node;
  while (true) {
    // Markup and escapes only add to the text, so what is clearly too long need not be written to know it.
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

/** What cannot be cut as Markdown, such as quotes a hundred levels deep. Escapes make at most five characters of one. */
function asPlain(node: MarkdownNode, limit: number): string[] {
  return splitPlain(textOf(node), Math.floor(limit / 5)).map((piece) => write(paragraph(piece)));
}

function paragraph(value: string): RootContent {
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

function write(node: MarkdownNode): string {
  const markdown = toMarkdown(
    // Sound: it is a root's child, or half of one, which has the same type.
    { type: 'root', children: [node as RootContent] },
    {
      extensions: [gfmToMarkdown({ tablePipeAlign: false })],
      handlers: HANDLERS,
      bullet: '-',
      emphasis: '_',
      fences: true,
      rule: '-',
      listItemIndent: 'one',
    },
  );
  return breakTokens(markdown.replace(/\n+$/, ''));
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

/** Replaces what markdown blocks do not know (references, footnotes, HTML, pictures) by what they show. */
function withoutReferences(tree: MarkdownRoot): MarkdownRoot {
  const targets = new Map<string, string>();
  const collect = (node: MarkdownNode): void => {
    if (node.type === 'definition' && !targets.has(node.identifier)) targets.set(node.identifier, node.url);
    if ('children' in node) node.children.forEach(collect);
  };
  collect(tree);
  const change = (node: MarkdownNode): MarkdownNode[] => {
    switch (node.type) {
      case 'html':
        return [{ type: 'text', value: node.value }];
      case 'image':
        return [{ type: 'link', url: node.url, children: [{ type: 'text', value: node.alt || 'picture' }] }];
      case 'imageReference':
        return change({ type: 'image', url: targets.get(node.identifier) ?? '', alt: node.alt ?? null });
      case 'linkReference': {
        const children = node.children.flatMap(change);
        const url = targets.get(node.identifier);
        // Sound: a link's children are phrasing content, and `change` makes only phrasing content of it.
        return url === undefined ? children : [{ type: 'link', url, children: children as never }];
      }
      case 'footnoteReference':
        return [{ type: 'text', value: `[${node.identifier}]` }];
      case 'footnoteDefinition': {
        const mark: RootContent = paragraph(`[${node.identifier}]`);
        return [mark, ...node.children.flatMap(change)];
      }
      case 'definition':
        return [];
      default:
        if (!('children' in node)) return [node];
        // Sound: every replacement has the content category of what it replaces.
        return [{ ...node, children: node.children.flatMap(change) } as MarkdownNode];
    }
  };
  const children = tree.children
    .flatMap(change)
    .map((node) => (node.type === 'text' ? paragraph(node.value) : node));
  // Sound: text that stood for block HTML has just been wrapped, and everything else kept its category.
  return { type: 'root', children: children as RootContent[] };
}
