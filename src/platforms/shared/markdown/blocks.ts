/** Reads Markdown into a flat list of blocks. Each block can be split between two messages. */

import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { type LineLayout, type PhrasingNotation, phrasingWords, type Word } from './phrasing.ts';
import { readMarkdown } from './read.ts';
import { tableSentence } from './tree.ts';

interface Layout extends LineLayout {
  /** The separator from the previous block: one or more line breaks. */
  readonly gap: string;
}

/** Lines with a head and foot that every piece repeats: code in a fence, rows of a table. */
export interface Frame {
  readonly head: string;
  readonly lines: readonly string[];
  readonly foot?: string;
}

/** Words are created lazily: storing them for 50 long answers at once would exceed the memory budget. */
export type Block = Layout & ({ readonly words: () => readonly Word[] } | Frame);

/** The Markdown dialect of a chat platform. */
export interface Notation extends PhrasingNotation {
  /** `language` is empty if the code has none. */
  readonly code: (code: string, language: string) => Frame;
  /** True if fences may be indented in a list or quote. Otherwise they start on their own line. */
  readonly indentsCode: boolean;
  /** The rows below the table's introduction; undefined to list the cells instead. */
  readonly table: (table: MarkdownNode) => Frame | undefined;
  /** Content the table could not show, such as links; placed after it. */
  readonly tableNotes?: (table: MarkdownNode) => readonly MarkdownNode[];
  /** Deeper headings are bold text. */
  readonly deepestHeading: number;
  readonly rule: string;
  readonly boxes: { readonly checked: string; readonly open: string };
  /** True if paragraphs in a list or quote need an empty line between them, as in CommonMark. */
  readonly spreads: boolean;
}

export const TOP: Layout = { prefix: '', hanging: '', gap: '\n\n' };

/** Without an empty line, these would continue the paragraph before them or turn it into a heading. */
const SPREADABLE: ReadonlySet<string> = new Set(['paragraph', 'table', 'thematicBreak']);

/** Deeper items are not indented further. */
const MAX_LIST_DEPTH = 8;

/** Creates a function that parses Markdown into blocks. */
export function createBlocks(notation: Notation): (markdown: string) => Promise<Block[]> {
  const text = (nodes: readonly MarkdownNode[], layout: Layout, marks: readonly string[] = []): Block => ({
    ...layout,
    words: () => phrasingWords(nodes, notation, marks),
  });

  function* blocksIn(nodes: readonly MarkdownNode[], layout: Layout, depth: number): Generator<Block> {
    const { hanging } = layout;
    for (const [index, node] of nodes.entries()) {
      const isSpread = notation.spreads && SPREADABLE.has(node.type);
      const gap = hanging !== '' && !isSpread ? '\n' : `\n${hanging.trimEnd()}\n`;
      yield* blocks(node, index === 0 ? layout : { prefix: hanging, hanging, gap }, depth);
    }
  }

  function* blocks(node: MarkdownNode, layout: Layout, depth: number): Generator<Block> {
    const { children = [], value = '' } = node;
    switch (node.type) {
      case 'heading': {
        const { depth: level = 1 } = node;
        if (level > notation.deepestHeading) yield text(children, layout, ['**']);
        else yield text(children, { ...layout, prefix: `${layout.prefix}${'#'.repeat(level)} ` });
        return;
      }
      case 'thematicBreak':
        yield { ...layout, words: () => [{ kind: 'link', text: notation.rule, marks: [] }] };
        return;
      case 'blockquote': {
        // Chat platforms support only one level of quotes.
        const quote = `${layout.prefix}${layout.hanging}`.includes('> ') ? '' : '> ';
        const quoted = { prefix: layout.prefix + quote, hanging: layout.hanging + quote };
        yield* blocksIn(children, { ...layout, ...quoted }, depth);
        return;
      }
      case 'list':
        yield* list(node, layout, depth);
        return;
      case 'code':
        yield* framed(notation.code(value, node.language ?? ''), layout);
        return;
      case 'table':
        yield* table(node, layout);
        return;
      default:
        yield text(children, layout);
    }
  }

  function* framed(frame: Frame, layout: Layout): Generator<Block> {
    if (notation.indentsCode) yield { ...layout, ...frame };
    else {
      // The bullet or number stays on the line above.
      const hasMarker = layout.prefix !== layout.hanging;
      if (hasMarker) yield text([], layout);
      yield { ...TOP, gap: hasMarker ? '\n' : layout.gap, ...frame };
    }
  }

  function* list({ children = [], start }: MarkdownNode, layout: Layout, depth: number): Generator<Block> {
    for (const [index, { children: nodes = [], checked }] of children.entries()) {
      const bullet = start === undefined ? '- ' : `${start + index}. `;
      const box = checked === undefined ? '' : notation.boxes[checked ? 'checked' : 'open'];
      const { prefix, hanging, gap } = layout;
      const item = {
        prefix: `${index === 0 ? prefix : hanging}${bullet}${box}`,
        hanging: depth < MAX_LIST_DEPTH ? hanging + ' '.repeat(bullet.length) : hanging,
        gap: index === 0 ? gap : '\n',
      };
      if (nodes.length === 0) yield text([], item);
      yield* blocksIn(nodes, item, depth + 1);
    }
  }

  function* table(node: MarkdownNode, layout: Layout): Generator<Block> {
    const frame = notation.table(node);
    const { hanging } = layout;
    const below = { prefix: hanging, hanging, gap: notation.spreads ? `\n${hanging.trimEnd()}\n` : '\n' };
    if (frame) {
      yield text([textNode(tableSentence(node))], layout);
      yield* framed(frame, below);
      const notes = notation.tableNotes?.(node) ?? [];
      if (notes.length > 0) yield text(notes, below);
      return;
    }
    // List each row as "column: cell" lines.
    const [head, ...body] = node.children ?? [];
    const rows = body.length > 0 ? body : [head ?? node];
    for (const [index, { children: cells = [] }] of rows.entries()) {
      const row = cells.flatMap(({ children = [] }, column): MarkdownNode[] => {
        const name = body.length > 0 ? (head?.children?.[column]?.children ?? []) : [];
        return [
          ...(column > 0 ? [{ type: 'break' as const }] : []),
          ...(name.length > 0 ? [{ type: 'strong' as const, children: name }, textNode(': ')] : []),
          ...children,
        ];
      });
      yield text(row, index === 0 ? layout : { ...layout, prefix: hanging });
    }
  }

  return (markdown) => readMarkdown(markdown, (nodes) => nodes.flatMap((node) => [...blocks(node, TOP, 0)]));
}

export const textNode = (value: string): MarkdownNode => ({ type: 'text', value });
