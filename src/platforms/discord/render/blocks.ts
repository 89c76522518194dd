/** Markdown as a flat row of blocks. Each block can be broken between two messages. */
import {
  isBareLink,
  type MarkdownContent,
  type PhrasingContent,
  parseMarkdown,
  tableSentence,
  textOf,
  withoutReferences,
} from '../../shared/markdown.ts';
import { widthOf } from '../../shared/text.ts';
import { escapeText, type InlineToken, type Mark, tokens } from './inline.ts';

export interface TextBlock {
  readonly kind: 'text';
  readonly tokens: readonly InlineToken[];
  /** Before the first line, such as `- ` or `# `. */
  readonly prefix: string;
  /** Before every other line, such as `> `. */
  readonly hanging: string;
  /** Follows the block before it without an empty line, as the next item of a list. */
  readonly tight: boolean;
}

export interface CodeBlock {
  readonly kind: 'code';
  readonly language: string;
  readonly code: string;
  readonly tight: boolean;
}

export type MarkdownBlock = TextBlock | CodeBlock;

type List = Extract<MarkdownContent, { type: 'list' }>;
type Table = Extract<MarkdownContent, { type: 'table' }>;
type Layout = Omit<TextBlock, 'kind' | 'tokens'> & { readonly depth: number };

const TOP: Layout = { prefix: '', hanging: '', tight: false, depth: 0 };
/** Discord draws no deeper lists; deeper text keeps this indentation. */
const DEEPEST = 8;
/** Wider tables wrap in most windows, and are written row by row. In columns of fixed width. */
const WIDEST_TABLE = 80;

export const blocksOf = (markdown: string): MarkdownBlock[] =>
  withoutReferences(parseMarkdown(markdown)).children.flatMap((node) => [...blocks(node, TOP)]);

/** A paragraph of plain text. */
export const plainBlock = (value: string, marks: readonly Mark[] = [], tight = false): TextBlock =>
  text(tokens([{ type: 'text', value }], marks), { ...TOP, tight });

/** Plain text in Discord's smallest letters. */
export const smallPrintBlock = (value: string): TextBlock => ({
  ...plainBlock(value.replace(/\s+/g, ' ')),
  prefix: '-# ',
  hanging: '-# ',
});

/** A line with a link, and plain text after it. */
export const linkBlock = (label: string, url: string, after: string): TextBlock =>
  text(
    tokens([
      { type: 'link', url, children: [{ type: 'text', value: label }] },
      { type: 'text', value: after && ` ${after}` },
    ]),
    { ...TOP, tight: true },
  );

function* blocks(node: MarkdownContent, layout: Layout): Generator<MarkdownBlock> {
  switch (node.type) {
    case 'paragraph':
      yield text(tokens(node.children), layout);
      return;
    case 'heading': {
      // Discord knows three sizes.
      const prefix = `${layout.prefix}${'#'.repeat(node.depth)} `;
      if (node.depth <= 3) yield text(tokens(node.children), { ...layout, prefix });
      else yield text(tokens(node.children, ['**']), layout);
      return;
    }
    case 'thematicBreak':
      yield text(tokens([{ type: 'text', value: '⎯⎯⎯⎯⎯⎯' }]), layout);
      return;
    case 'blockquote': {
      // Discord knows quotes of one level.
      const quote = `${layout.prefix}${layout.hanging}`.includes('> ') ? '' : '> ';
      const { prefix, hanging } = layout;
      yield* inside(node.children, { ...layout, prefix: prefix + quote, hanging: hanging + quote });
      return;
    }
    case 'list':
      yield* list(node, layout);
      return;
    case 'code': {
      const language = /^[\w+#.-]{1,20}$/.test(node.lang ?? '') ? (node.lang ?? '') : '';
      yield* code(node.value, language, layout);
      return;
    }
    case 'table':
      yield* table(node, layout);
      return;
    case 'footnoteDefinition': {
      const prefix = `${layout.prefix}${escapeText(`[${node.label ?? node.identifier}]`, false)} `;
      yield* inside(node.children, { ...layout, prefix });
      return;
    }
    case 'listItem':
    case 'tableRow':
    case 'tableCell':
      yield* inside(node.children, layout);
      return;
    case 'definition':
    case 'yaml':
      return;
    default:
      yield text(tokens([node]), layout);
  }
}

const text = (row: readonly InlineToken[], { prefix, hanging, tight }: Layout): TextBlock => ({
  kind: 'text',
  tokens: row,
  prefix,
  hanging,
  tight,
});

/** Code carries no prefix, so a bullet or number is in the line above. */
function* code(value: string, language: string, layout: Layout): Generator<MarkdownBlock> {
  const hasMarker = layout.prefix !== layout.hanging;
  if (hasMarker) yield text([], layout);
  yield { kind: 'code', language, code: value, tight: hasMarker || layout.tight };
}

function* inside(nodes: readonly MarkdownContent[], layout: Layout): Generator<MarkdownBlock> {
  const { hanging, depth } = layout;
  for (const [index, node] of nodes.entries()) {
    // Only the first block is on the line of the bullet; quoted blocks hang together, or the quote would break.
    const later = { ...layout, prefix: hanging, tight: depth > 0 || hanging !== '' };
    yield* blocks(node, index === 0 ? layout : later);
  }
}

function* list(node: List, { prefix, hanging, tight, depth }: Layout): Generator<MarkdownBlock> {
  for (const [index, item] of node.children.entries()) {
    const bullet = node.ordered ? `${(node.start ?? 1) + index}. ` : '- ';
    const box = item.checked === true ? '☑ ' : item.checked === false ? '☐ ' : '';
    const layout = {
      prefix: `${index === 0 ? prefix : hanging}${bullet}${box}`,
      hanging: depth < DEEPEST ? `${hanging}${' '.repeat(bullet.length)}` : hanging,
      tight: index > 0 || tight,
      depth: Math.min(depth + 1, DEEPEST),
    };
    if (item.children.length === 0) yield text([], layout);
    yield* inside(item.children, layout);
  }
}

function* table(node: Table, layout: Layout): Generator<MarkdownBlock> {
  const aligned = alignedTable(node);
  if (aligned !== undefined) {
    yield text(tokens([{ type: 'text', value: tableSentence(node) }]), layout);
    yield* code(aligned, '', { ...layout, prefix: layout.hanging, tight: true });
    const links = node.children.flatMap((row) => row.children.flatMap((cell) => linksIn(cell.children)));
    const separated = links.flatMap((link, index) => (index > 0 ? [SEPARATOR, link] : [link]));
    if (links.length > 0) yield text(tokens(separated), { ...layout, prefix: layout.hanging, tight: true });
    return;
  }
  const [head, ...body] = node.children;
  for (const { children: cells } of body.length > 0 ? body : node.children) {
    const row = cells.flatMap((cell, column) => {
      const name = body.length > 0 ? (head?.children[column]?.children ?? []) : [];
      return [
        ...(column > 0 ? tokens([{ type: 'break' }]) : []),
        ...(name.length > 0 ? [...tokens(name, ['**']), ...tokens([{ type: 'text', value: ': ' }])] : []),
        ...tokens(cell.children),
      ];
    });
    yield text(row, layout);
  }
}

const SEPARATOR = { type: 'text', value: ' · ' } as const;

/** Links whose address cannot be seen. */
function linksIn(nodes: readonly PhrasingContent[]): PhrasingContent[] {
  return nodes.flatMap((node) => {
    if (node.type === 'link') return isBareLink(textOf(node), node.url) ? [] : [node];
    return 'children' in node ? linksIn(node.children) : [];
  });
}

/** In columns of one width; undefined when that is too wide. */
function alignedTable(node: Table): string | undefined {
  const rows = node.children.map((row) =>
    row.children.map((cell) => textOf(cell).replace(/\s+/g, ' ').trim()),
  );
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  if (widths.reduce((sum, width) => sum + width + 2, -2) > WIDEST_TABLE) return undefined;
  const [head, ...body] = rows.map((row) =>
    widths
      .map((width, column) => padded(row[column] ?? '', width))
      .join('  ')
      .trimEnd(),
  );
  // Screen readers name drawn lines sign by sign, and pass over hyphens.
  return [head, widths.map((width) => '-'.repeat(width)).join('  '), ...body].join('\n');
}

const padded = (value: string, width: number): string => value + ' '.repeat(width - widthOf(value));
