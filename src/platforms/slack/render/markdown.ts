/** Markdown for Slack's markdown blocks: escaped, without mentions, in pieces that fit. */

import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { createBlocks, type Notation } from '../../shared/markdown/blocks.ts';
import { splitBlocks } from '../../shared/markdown/pages.ts';
import { phrasingWords, writeWords } from '../../shared/markdown/phrasing.ts';
import { parseMarkdown, readMarkdown } from '../../shared/markdown/read.ts';
import { textOf } from '../../shared/markdown/tree.ts';
import { splitPlain } from '../../shared/text.ts';

/** Invisible and without width: behind `<`, it keeps Slack from reading a token inside code. */
const WORD_JOINER = '\u2060';
/** Longer rows of names are repeated for no table. */
const LONGEST_HEAD = 1_000;

const NOTATION: Notation = {
  // Entities are not read again as tokens, so escaping does it.
  deaden: (text) => text,
  // Within a word, no underscore is a mark.
  escape: (text) =>
    text
      .replace(/[\\*~|`[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
      .replace(/<|&(?=#?\w{1,31};)/g, (sign) => (sign === '<' ? '&lt;' : '&amp;')),
  joiner: '',
  codeSpan: (code) => ({ sign: fenceFor(code, 1), code: breakTokens(code) }),
  address: (url) =>
    /^(?:https?:\/\/|mailto:)/i.test(url)
      ? url.replace(/[\s()<>\\|]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      : undefined,
  link: (label, url) => `[${phrase(label)}](${NOTATION.address(url)})`,
  code(code, language) {
    const fence = fenceFor(code, 3);
    return { head: `${fence}${language}`, lines: breakTokens(code).split('\n'), foot: fence };
  },
  indentsCode: true,
  table({ children = [] }) {
    const [head = '', ...lines] = children.map(
      ({ children: cells = [] }) => `| ${cells.map(cell).join(' | ')} |`,
    );
    const columns = children[0]?.children ?? [];
    if (head.length > LONGEST_HEAD) return undefined;
    return { head: `${head}\n|${columns.map(() => ' - |').join('')}`, lines };
  },
  deepestHeading: 6,
  rule: '---',
  boxes: { checked: '[x] ', open: '[ ] ' },
  spreads: true,
};

const phrase = (nodes: readonly MarkdownNode[]): string =>
  [...writeWords(phrasingWords(nodes, NOTATION), { prefix: '', hanging: '' }, NOTATION)].join('');

/** A bar would end the cell, in code too. */
const cell = ({ children = [] }: MarkdownNode): string =>
  phrase(children).replace(/\\[\s\S]|\||\n/g, (sign) => (sign === '|' ? '\\|' : sign === '\n' ? ' ' : sign));

/** A fence that the code does not end. */
function fenceFor(code: string, least: number): string {
  const runs = code.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}

const readBlocks = createBlocks(NOTATION);

/**
 * Markdown in pieces of at most `limit` characters. No words are cut, code fences are closed and opened again, long tables
 * repeat their head. Nothing in it pings, and a link leads where its Markdown says.
 */
export const slackMarkdown = async (text: string, limit: number): Promise<string[]> =>
  splitBlocks(await readBlocks(text), NOTATION, limit);

/** Plain pieces without any markup, for blocks that take no Markdown. */
export const plainPieces = async (text: string, limit: number): Promise<string[]> =>
  splitPlain(textOf(await readMarkdown(text, (nodes) => nodes)).trim(), limit);

/** Short Markdown without its markup, for notifications. */
export const plainOfMarkdown = (text: string): string => textOf(parseMarkdown(text)).trim();

/**
 * Slack decodes no entity in code, so what would mention somebody there or hide where a link leads is broken instead. Other code
 * stays as it is. https://docs.slack.dev/messaging/formatting-message-text
 */
export function breakTokens(code: string): string {
  return code.replace(
    /<(?=@[UW][A-Z0-9]|!(?:channel|here|everyone|subteam\^)|[a-z][a-z+.-]{0,20}:[^\s<>|]*\|)/gi,
    `<${WORD_JOINER}`,
  );
}
