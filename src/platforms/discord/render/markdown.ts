/** Writes Markdown in Discord's dialect. */

import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { type Block, createBlocks, type Notation, TOP, textNode } from '../../shared/markdown/blocks.ts';
import { splitBlocks } from '../../shared/markdown/pages.ts';
import { phrasingWords } from '../../shared/markdown/phrasing.ts';
import { isBareLink, textOf } from '../../shared/markdown/tree.ts';
import { widthOf } from '../../shared/text.ts';
import { disableMentions, escapeFenced, escapeSigns, safeUrl, ZERO_WIDTH_SPACE } from './escape.ts';

/** Longer links are written out, so that they can be split. */
const MAX_MASKED_LINK_LENGTH = 1_000;
/** In characters. Wider tables would wrap in most windows, so they are written row by row. */
const MAX_TABLE_WIDTH = 80;

const NOTATION: Notation = {
  disableMentions,
  escape: escapeSigns,
  joiner: ZERO_WIDTH_SPACE,
  // Discord reads no markup or mentions in code. Three backticks would be a fence, so at most two delimit it.
  codeSpan(code) {
    const runs = new Set(code.match(/`+/g)?.map((run) => run.length));
    if (!runs.has(1)) return { sign: '`', code };
    return { sign: '``', code: runs.has(2) ? code.replace(/`(?=`)/g, `\`${ZERO_WIDTH_SPACE}`) : code };
  },
  // Angle brackets prevent a preview.
  address(url) {
    const safe = safeUrl(url);
    return safe && `<${safe}>`;
  },
  link(label, url) {
    // Discord does not render links whose label contains an address, brackets or code.
    const isSimple = label.every(({ type }) => type !== 'inlineCode');
    const name = textOf(label);
    if (!isSimple || /https?:|[[\]`\\]/i.test(name)) return undefined;
    const masked = `[${disableMentions(name).replace(/[*_~|]/g, '\\$&')}](<${safeUrl(url)}>)`;
    return masked.length > MAX_MASKED_LINK_LENGTH ? undefined : masked;
  },
  moment: ({ at, show }) => `<t:${Math.floor(at / 1000)}:${show === 'day' ? 'D' : 'f'}>`,
  code: (code, language) => ({
    head: `\`\`\`${language}`,
    lines: escapeFenced(code || ' ').split('\n'),
    foot: '```',
  }),
  indentsCode: false,
  table(node) {
    const lines = alignedTable(node);
    return lines && { head: '```', lines, foot: '```' };
  },
  tableNotes: (node) =>
    linksIn(node.children).flatMap((link, index) => (index > 0 ? [textNode(' · '), link] : [link])),
  deepestHeading: 3,
  rule: '────────────',
  boxes: { checked: '☑ ', open: '☐ ' },
  spreads: false,
};

/** Returns links that do not show their address. */
function linksIn(nodes: readonly MarkdownNode[] = []): MarkdownNode[] {
  return nodes.flatMap((node) => {
    if (node.type !== 'link') return linksIn(node.children);
    return isBareLink(textOf([node]), node.url ?? '') ? [] : [node];
  });
}

/** Aligns the columns of a table. Returns undefined if it is too wide. */
function alignedTable({ children = [] }: MarkdownNode): string[] | undefined {
  const rows = children.map(({ children: cells = [] }) =>
    cells.map((cell) => textOf([cell]).replace(/\s+/g, ' ').trim()),
  );
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  if (widths.reduce((sum, width) => sum + width + 2, -2) > MAX_TABLE_WIDTH) return undefined;
  const padded = (value: string, width: number) => value + ' '.repeat(width - widthOf(value));
  const [head = '', ...body] = rows.map((row) =>
    escapeFenced(widths.map((width, column) => padded(row[column] ?? '', width)).join('  ')).trimEnd(),
  );
  // Screen readers skip hyphens, but read box-drawing characters one by one.
  return [head, widths.map((width) => '-'.repeat(width)).join('  '), ...body];
}

export const readBlocks = createBlocks(NOTATION);

/** See {@link splitBlocks}. */
export const paginate = (blocks: readonly Block[], limit: number, most?: number): Promise<string[]> =>
  splitBlocks(blocks, NOTATION, limit, most);

/** Returns a paragraph of plain text. */
export const plainBlock = (value: string, marks: readonly string[] = []): Block => ({
  ...TOP,
  words: () => phrasingWords([textNode(value)], NOTATION, marks),
});

/** Returns plain text on the next line, without a blank line before it. */
export const plainLine = (value: string): Block => ({ ...plainBlock(value), gap: '\n' });

/** Returns plain text in Discord's small print. */
export const smallPrintBlock = (value: string): Block => ({
  ...plainBlock(value.replace(/\s+/g, ' ')),
  prefix: '-# ',
  hanging: '-# ',
});

/** Returns a line with a link, and plain text after it. */
export const linkBlock = (label: string, url: string, after = ''): Block => ({
  ...TOP,
  gap: '\n',
  words: () =>
    phrasingWords(
      [{ type: 'link', url, children: [textNode(label)] }, textNode(after && ` ${after}`)],
      NOTATION,
    ),
});
