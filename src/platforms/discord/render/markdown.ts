/** Markdown as Discord reads it. */

import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { type Block, createBlocks, type Notation, TOP, textNode } from '../../shared/markdown/blocks.ts';
import { splitBlocks } from '../../shared/markdown/pages.ts';
import { phrasingWords } from '../../shared/markdown/phrasing.ts';
import { isBareLink, textOf } from '../../shared/markdown/tree.ts';
import { widthOf } from '../../shared/text.ts';
import { deadenMentions, escapeFenced, escapeSigns, safeUrl, ZERO_WIDTH_SPACE } from './escape.ts';

/** Longer ones are written out, so that they can be broken. */
const LONGEST_MASKED_LINK = 1_000;
/** Wider tables wrap in most windows, and are written row by row. In columns of fixed width. */
const WIDEST_TABLE = 80;

const NOTATION: Notation = {
  deaden: deadenMentions,
  escape: escapeSigns,
  joiner: ZERO_WIDTH_SPACE,
  // Discord reads nothing in code, mentions neither. Three backticks would be a fence, so the sign around it is two at most.
  codeSpan(code) {
    const runs = new Set(code.match(/`+/g)?.map((run) => run.length));
    if (!runs.has(1)) return { sign: '`', code };
    return { sign: '``', code: runs.has(2) ? code.replace(/`(?=`)/g, `\`${ZERO_WIDTH_SPACE}`) : code };
  },
  // In angle brackets it is not unfolded into a preview.
  address(url) {
    const safe = safeUrl(url);
    return safe && `<${safe}>`;
  },
  link(label, url) {
    // Discord does not make a link of a label that contains an address, nor of one with brackets or code.
    const isSimple = label.every(({ type }) => type !== 'inlineCode');
    const name = textOf(label);
    if (!isSimple || /https?:|[[\]`\\]|discord\.gg/i.test(name)) return undefined;
    const masked = `[${deadenMentions(name).replace(/[*_~|]/g, '\\$&')}](<${safeUrl(url)}>)`;
    return masked.length > LONGEST_MASKED_LINK ? undefined : masked;
  },
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
  rule: '⎯⎯⎯⎯⎯⎯',
  boxes: { checked: '☑ ', open: '☐ ' },
  spreads: false,
};

/** Links whose address cannot be seen. */
function linksIn(nodes: readonly MarkdownNode[] = []): MarkdownNode[] {
  return nodes.flatMap((node) => {
    if (node.type !== 'link') return linksIn(node.children);
    return isBareLink(textOf([node]), node.url ?? '') ? [] : [node];
  });
}

/** In columns of one width; undefined when that is too wide. */
function alignedTable({ children = [] }: MarkdownNode): string[] | undefined {
  const rows = children.map(({ children: cells = [] }) =>
    cells.map((cell) => textOf([cell]).replace(/\s+/g, ' ').trim()),
  );
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  if (widths.reduce((sum, width) => sum + width + 2, -2) > WIDEST_TABLE) return undefined;
  const padded = (value: string, width: number) => value + ' '.repeat(width - widthOf(value));
  const [head = '', ...body] = rows.map((row) =>
    escapeFenced(widths.map((width, column) => padded(row[column] ?? '', width)).join('  ')).trimEnd(),
  );
  // Screen readers name drawn lines sign by sign, and pass over hyphens.
  return [head, widths.map((width) => '-'.repeat(width)).join('  '), ...body];
}

export const readBlocks = createBlocks(NOTATION);

/** See {@link splitBlocks}. */
export const paginate = (blocks: readonly Block[], limit: number, most?: number): Promise<string[]> =>
  splitBlocks(blocks, NOTATION, limit, most);

/** A paragraph of plain text. */
export const plainBlock = (value: string, marks: readonly string[] = []): Block => ({
  ...TOP,
  words: () => phrasingWords([textNode(value)], NOTATION, marks),
});

/** The same below what comes before it. */
export const plainLine = (value: string): Block => ({ ...plainBlock(value), gap: '\n' });

/** Plain text in Discord's smallest letters. */
export const smallPrintBlock = (value: string): Block => ({
  ...plainBlock(value.replace(/\s+/g, ' ')),
  prefix: '-# ',
  hanging: '-# ',
});

/** A line with a link, and plain text after it. */
export const linkBlock = (label: string, url: string, after = ''): Block => ({
  ...TOP,
  gap: '\n',
  words: () =>
    phrasingWords(
      [{ type: 'link', url, children: [textNode(label)] }, textNode(after && ` ${after}`)],
      NOTATION,
    ),
});
