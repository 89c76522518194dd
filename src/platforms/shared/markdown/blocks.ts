/** Markdown as a flat row of blocks, each of which can be broken between two messages. */

import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { type LineLayout, type PhrasingNotation, phrasingWords, type Word } from './phrasing.ts';
import { readMarkdown } from './read.ts';
import { tableSentence } from './tree.ts';

interface Layout extends LineLayout {
  /** Between the block and the one before it: a line break or more. */
  readonly gap: string;
}

/** Lines between a head and a foot that are repeated where it is broken: code in its fence, rows below the head of a table. */
export interface Frame {
  readonly head: string;
  readonly lines: readonly string[];
  readonly foot?: string;
}

/** Words are made when they are written: kept for 50 long answers at once, they would exceed the memory budget. */
export type Block = Layout & ({ readonly words: () => readonly Word[] } | Frame);

/** What a chat reads as Markdown, where chats differ. */
export interface Notation extends PhrasingNotation {
  /** Code without a language has none. */
  readonly code: (code: string, language: string) => Frame;
  /** Fences stand in their list or quote. Where they do not, they begin a line of their own. */
  readonly indentsCode: boolean;
  /** Rows below its sentence; undefined where the table is not shown as one. */
  readonly table: (table: MarkdownNode) => Frame | undefined;
  /** Follows such a table: what it could not show. */
  readonly tableNotes?: (table: MarkdownNode) => readonly MarkdownNode[];
  /** Deeper headings are bold text. */
  readonly deepestHeading: number;
  readonly rule: string;
  readonly boxes: { readonly checked: string; readonly open: string };
  /** Paragraphs in a list or quote need an empty line between them, as in CommonMark. */
  readonly spreads: boolean;
}

export const TOP: Layout = { prefix: '', hanging: '', gap: '\n\n' };

/** After text, their first line would be read as more of it, or as the line below a heading. */
const SPREADABLE: ReadonlySet<string> = new Set(['paragraph', 'table', 'thematicBreak']);

/** Deeper items stand below their parents. */
const DEEPEST_LIST = 8;

/** Makes a function that reads Markdown into blocks. */
export function createBlocks(notation: Notation): (markdown: string) => Promise<Block[]> {
  const text = (nodes: readonly MarkdownNode[], layout: Layout, marks: readonly string[] = []): Block => ({
    ...layout,
    words: () => phrasingWords(nodes, notation, marks),
  });

  function* inside(nodes: readonly MarkdownNode[], layout: Layout, depth: number): Generator<Block> {
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
        // Chats know quotes of one level.
        const quote = `${layout.prefix}${layout.hanging}`.includes('> ') ? '' : '> ';
        const quoted = { prefix: layout.prefix + quote, hanging: layout.hanging + quote };
        yield* inside(children, { ...layout, ...quoted }, depth);
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
      // A bullet or number is in the line above.
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
        hanging: depth < DEEPEST_LIST ? hanging + ' '.repeat(bullet.length) : hanging,
        gap: index === 0 ? gap : '\n',
      };
      if (nodes.length === 0) yield text([], item);
      yield* inside(nodes, item, depth + 1);
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
    // Row by row, each cell after the name of its column.
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
