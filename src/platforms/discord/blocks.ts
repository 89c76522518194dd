/** Markdown as a flat row of blocks, each of which can be broken between two messages. */
import { type Definitions, type Mark, type Token, tokens } from './inline.ts';
import { type Content, type List, parseMarkdown, type Root, type Table } from './parse.ts';

export interface TextBlock {
  readonly kind: 'text';
  readonly tokens: readonly Token[];
  /** Before the first line, such as `- ` or `# `. */
  readonly prefix: string;
  /** Before every other line, such as `> `. */
  readonly hanging: string;
  /** Belongs close to the block before it, as the next item of a list. */
  readonly tight: boolean;
}

export interface CodeBlock {
  readonly kind: 'code';
  readonly language: string;
  readonly code: string;
  readonly tight: boolean;
}

export type Block = TextBlock | CodeBlock;

interface Place {
  readonly prefix: string;
  readonly hanging: string;
  readonly tight: boolean;
  readonly depth: number;
}

const TOP: Place = { prefix: '', hanging: '', tight: false, depth: 0 };
/** Discord draws no deeper lists; deeper text keeps this indentation. */
const DEEPEST = 8;
/** Wider tables wrap on a telephone, and are written row by row. */
const WIDEST_TABLE = 60;

export function blocksOf(markdown: string): Block[] {
  const root = parseMarkdown(markdown);
  const definitions = definitionsOf(root);
  return root.children.flatMap((node) => [...blocks(node, definitions, TOP)]);
}

/** A paragraph of plain text. */
export const plainBlock = (text: string, marks: readonly Mark[] = [], tight = false): TextBlock => ({
  kind: 'text',
  tokens: [...tokens([{ type: 'text', value: text }], new Map(), marks)],
  prefix: '',
  hanging: '',
  tight,
});

/** Plain text in Discord's smallest letters. */
export const smallPrintBlock = (text: string): TextBlock => ({
  ...plainBlock(text.replace(/\s+/g, ' ')),
  prefix: '-# ',
  hanging: '-# ',
});

/** A line with a link, and plain text after it. */
export const linkBlock = (label: string, url: string, after: string): TextBlock => ({
  kind: 'text',
  tokens: [
    ...tokens([{ type: 'link', url, children: [{ type: 'text', value: label }] }], new Map()),
    ...(after ? tokens([{ type: 'text', value: ` ${after}` }], new Map()) : []),
  ],
  prefix: '',
  hanging: '',
  tight: true,
});

function definitionsOf(root: Root): Definitions {
  const found = new Map<string, string>();
  const visit = (node: Content | Root) => {
    if (node.type === 'definition' && !found.has(node.identifier)) found.set(node.identifier, node.url);
    if ('children' in node) for (const child of node.children) visit(child);
  };
  visit(root);
  return found;
}

function* blocks(node: Content, definitions: Definitions, place: Place): Generator<Block> {
  switch (node.type) {
    case 'paragraph':
      yield text([...tokens(node.children, definitions)], place);
      return;
    case 'heading':
      // Discord knows three sizes.
      if (node.depth <= 3)
        yield text([...tokens(node.children, definitions)], {
          ...place,
          prefix: `${place.prefix}${'#'.repeat(node.depth)} `,
        });
      else yield text([...tokens(node.children, definitions, ['**'])], place);
      return;
    case 'thematicBreak':
      yield text([{ kind: 'word', text: '⎯⎯⎯⎯⎯⎯', marks: [] }], place);
      return;
    case 'blockquote':
      yield* inside(node.children, definitions, {
        ...place,
        prefix: `${place.prefix}${quote(place)}`,
        hanging: `${place.hanging}${quote(place)}`,
      });
      return;
    case 'list':
      yield* list(node, definitions, place);
      return;
    case 'code':
      yield {
        kind: 'code',
        language: /^[\w+#.-]{1,20}$/.test(node.lang ?? '') ? (node.lang ?? '') : '',
        code: node.value,
        tight: place.tight,
      };
      return;
    case 'html':
      yield text([...tokens([{ type: 'text', value: node.value }], definitions)], place);
      return;
    case 'table':
      yield* table(node, definitions, place);
      return;
    case 'definition':
    case 'yaml':
      return;
    case 'footnoteDefinition':
      yield* inside(node.children, definitions, {
        ...place,
        prefix: `${place.prefix}\\[${node.identifier.replace(/\W/g, '')}\\] `,
      });
      return;
    case 'listItem':
    case 'tableRow':
    case 'tableCell':
      yield* inside(node.children, definitions, place);
      return;
    default:
      yield text([...tokens([node], definitions)], place);
  }
}

/** Discord knows quotes of one level. */
const quote = (place: Place): string =>
  place.prefix.includes('> ') || place.hanging.includes('> ') ? '' : '> ';

const text = (row: readonly Token[], place: Place): TextBlock => ({
  kind: 'text',
  tokens: row,
  prefix: place.prefix,
  hanging: place.hanging,
  tight: place.tight,
});

function* inside(nodes: readonly Content[], definitions: Definitions, place: Place): Generator<Block> {
  let first = true;
  for (const node of nodes) {
    // Only the first block stands on the line of the bullet; quoted blocks hang together, or the quote would break.
    const tight = first ? place.tight : place.depth > 0 || place.hanging !== '';
    yield* blocks(node, definitions, { ...place, prefix: first ? place.prefix : place.hanging, tight });
    first = false;
  }
}

function* list(node: List, definitions: Definitions, place: Place): Generator<Block> {
  const depth = Math.min(place.depth + 1, DEEPEST);
  for (const [index, item] of node.children.entries()) {
    const bullet = node.ordered ? `${(node.start ?? 1) + index}. ` : '- ';
    const box = item.checked === true ? '☑ ' : item.checked === false ? '☐ ' : '';
    const itemPlace = {
      prefix: `${index === 0 ? place.prefix : place.hanging}${bullet}${box}`,
      hanging: place.depth < DEEPEST ? `${place.hanging}${' '.repeat(bullet.length)}` : place.hanging,
      tight: index > 0 || place.tight,
      depth,
    };
    if (item.children.length === 0) yield text([], itemPlace);
    yield* inside(item.children, definitions, itemPlace);
  }
}

function* table(node: Table, definitions: Definitions, place: Place): Generator<Block> {
  const rows = node.children.map((row) =>
    row.children.map((cell) => plainText([...tokens(cell.children, definitions)])),
  );
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  if (widths.reduce((sum, width) => sum + width + 2, 0) <= WIDEST_TABLE) {
    const line = (row: readonly string[]) =>
      widths
        .map((width, column) => pad(row[column] ?? '', width))
        .join('  ')
        .trimEnd();
    const [head = [], ...body] = rows;
    yield {
      kind: 'code',
      language: '',
      code: [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n'),
      tight: place.tight,
    };
    return;
  }
  const [head, ...body] = node.children;
  for (const row of body.length > 0 ? body : node.children) {
    const cells = row.children.flatMap((cell, column): Token[] => {
      const name = body.length > 0 ? (head?.children[column]?.children ?? []) : [];
      return [
        ...(column > 0 ? ([{ kind: 'break', text: '\n', marks: [] }] satisfies Token[]) : []),
        ...(name.length > 0
          ? [
              ...tokens(name, definitions, ['**']),
              { kind: 'word', text: ':', marks: [] } satisfies Token,
              { kind: 'space', text: ' ', marks: [] } satisfies Token,
            ]
          : []),
        ...tokens(cell.children, definitions),
      ];
    });
    yield text(cells, place);
  }
}

const plainText = (row: readonly Token[]): string =>
  row.map((token) => (token.kind === 'break' ? ' ' : token.text)).join('');
const pad = (value: string, width: number): string =>
  value + ' '.repeat(Math.max(0, width - [...value].length));
