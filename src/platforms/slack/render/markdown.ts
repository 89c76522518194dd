/** Renders Markdown for Slack's markdown blocks: escaped, without mentions, split to fit. */

import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { createBlocks, type Notation } from '../../shared/markdown/blocks.ts';
import { splitBlocks } from '../../shared/markdown/pages.ts';
import { phrasingWords, writeWords } from '../../shared/markdown/phrasing.ts';
import { parseMarkdown, readMarkdown } from '../../shared/markdown/read.ts';
import { textOf } from '../../shared/markdown/tree.ts';
import { splitPlain } from '../../shared/text.ts';

/** Invisible. It keeps Slack from reading a token in code, and an emoji in numbers. */
const WORD_JOINER = '\u2060';
/** A longer header row is not repeated. */
const MAX_HEADER = 1_000;

const NOTATION: Notation = {
  // Slack decodes entities only once, so escaping is enough.
  disableMentions: (text) => text,
  // An underscore within a word is not markup.
  escape: (text) =>
    text
      .replace(/[\\*~|`[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
      .replace(/<|&(?=#?\w{1,31};)/g, (sign) => (sign === '<' ? '&lt;' : '&amp;'))
      // Slack would show an emoji within 1:100:5. No other is all digits.
      .replace(/(?<=\d):(?=(?:100|1234):)/g, `:${WORD_JOINER}`),
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
    if (head.length > MAX_HEADER) return undefined;
    return { head: `${head}\n|${columns.map(() => ' - |').join('')}`, lines };
  },
  deepestHeading: 6,
  rule: '---',
  boxes: { checked: '[x] ', open: '[ ] ' },
  spreads: true,
};

const phrase = (nodes: readonly MarkdownNode[]): string =>
  [...writeWords(phrasingWords(nodes, NOTATION), { prefix: '', hanging: '' }, NOTATION)].join('');

/** A bar would end the cell, even in code. */
const cell = ({ children = [] }: MarkdownNode): string =>
  phrase(children).replace(/\\[\s\S]|\||\n/g, (sign) => (sign === '|' ? '\\|' : sign === '\n' ? ' ' : sign));

/** A fence longer than any in the code. */
function fenceFor(code: string, least: number): string {
  const runs = code.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}

const readBlocks = createBlocks(NOTATION);

/**
 * Splits Markdown into pieces of at most `limit` characters. Keeps words whole, reopens code fences and repeats table
 * headers. Nothing in it notifies anyone, and links lead where the Markdown says.
 */
export const slackMarkdown = async (text: string, limit: number): Promise<string[]> =>
  splitBlocks(await readBlocks(text), NOTATION, limit);

/** Splits the text without its markup, for blocks that do not support Markdown. */
export const plainPieces = async (text: string, limit: number): Promise<string[]> =>
  splitPlain(textOf(await readMarkdown(text, (nodes) => nodes)).trim(), limit);

/** The text of short Markdown without its markup, for notifications. */
export const plainOfMarkdown = (text: string): string => textOf(parseMarkdown(text)).trim();

/**
 * Slack does not decode entities in code. Tokens there that would mention someone or disguise a link are broken instead.
 * Other code stays unchanged. https://docs.slack.dev/messaging/formatting-message-text
 */
export function breakTokens(code: string): string {
  return code.replace(
    /<(?=@[UW][A-Z0-9]|!(?:channel|here|everyone|subteam\^)|[a-z][a-z+.-]{0,20}:[^\s<>|]*\|)/gi,
    `<${WORD_JOINER}`,
  );
}
