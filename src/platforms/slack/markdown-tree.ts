/** Cutting of Markdown trees, so that what is too long becomes pieces that mean the same. */
import type { fromMarkdown } from 'mdast-util-from-markdown';
import { wholeCharacters } from './escape.ts';

export type MarkdownRoot = ReturnType<typeof fromMarkdown>;
export type RootContent = MarkdownRoot['children'][number];
export type MarkdownNode = MarkdownRoot | RootContent;

/** Items up to this size stay whole in their list. */
const SMALL_ITEM = 1000;
/** A word this near to the start of its text goes to the next piece as a whole. */
const WORD = 40;

/** How much there is to say in a node, in characters of text; at least 1. */
export function sizeOf(node: MarkdownNode): number {
  if ('value' in node) return Math.max(1, node.value.length);
  if (!('children' in node)) return 1;
  return Math.max(
    1,
    node.children.reduce((sum, child) => sum + sizeOf(child), 0),
  );
}

/**
 * Two nodes of the same type that together say what `node` said; the first holds at most `size` characters of text.
 * Text is cut between words, code between lines, lists between items; a table's head is repeated. Undefined when that
 * leaves nothing in one of them.
 */
export function cut(node: MarkdownNode, size: number): [MarkdownNode, MarkdownNode] | undefined {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
    case 'html':
      return cutValue(node, size, [' ', '\n']);
    case 'code':
      return cutValue(node, size, ['\n']);
    case 'table': {
      const [head, ...rows] = node.children;
      if (head === undefined) return undefined;
      let room = size - sizeOf(head);
      const fitting = rows.findIndex((row) => {
        room -= sizeOf(row);
        return room < 0;
      });
      if (fitting <= 0) return undefined;
      return [
        { ...node, children: [head, ...rows.slice(0, fitting)] },
        { ...node, children: [head, ...rows.slice(fitting)] },
      ];
    }
    case 'list': {
      const parts = cutChildren(node, size);
      if (parts === undefined || !node.ordered) return parts;
      const [first, second] = parts;
      const whole = node.children.length - second.children.length;
      return [first, { ...second, start: (node.start ?? 1) + whole }];
    }
    default:
      return 'children' in node ? cutChildren(node, size) : undefined;
  }
}

function cutChildren<Node extends MarkdownNode>(node: Node, size: number): [Node, Node] | undefined {
  const children: readonly MarkdownNode[] = 'children' in node ? node.children : [];
  let before = 0;
  for (const [index, child] of children.entries()) {
    const childSize = sizeOf(child);
    if (before + childSize <= size) {
      before += childSize;
      continue;
    }
    const whole = child.type === 'listItem' && index > 0 && childSize <= SMALL_ITEM;
    const parts = whole ? undefined : cut(child, size - before);
    if (parts === undefined && index === 0) return undefined;
    const head = parts === undefined ? [] : [parts[0]];
    const tail = parts === undefined ? [child] : [parts[1]];
    return [
      { ...node, children: [...children.slice(0, index), ...head] },
      { ...node, children: [...tail, ...children.slice(index + 1)] },
    ];
  }
  return undefined;
}

function cutValue<Node extends MarkdownNode & { value: string }>(
  node: Node,
  size: number,
  between: readonly string[],
): [Node, Node] | undefined {
  const { value } = node;
  if (size < 1 || size >= value.length) return undefined;
  const gap = Math.max(...between.map((sign) => value.lastIndexOf(sign, size)));
  if (gap > 0 && gap < value.length - 1) {
    return [
      { ...node, value: value.slice(0, gap) },
      { ...node, value: value.slice(gap + 1) },
    ];
  }
  if (size < WORD && node.type === 'text') return undefined;
  const at = wholeCharacters(value, size);
  return [
    { ...node, value: value.slice(0, at) },
    { ...node, value: value.slice(at) },
  ];
}

/** The text of a node and everything in it, blocks on lines of their own. */
export function textOf(node: MarkdownNode): string {
  if ('value' in node) return node.value;
  if (node.type === 'image') return node.alt ?? '';
  if (node.type === 'break') return '\n';
  if (!('children' in node)) return '';
  const inline = [
    'paragraph',
    'heading',
    'strong',
    'emphasis',
    'delete',
    'link',
    'linkReference',
    'tableCell',
  ];
  return node.children
    .map(textOf)
    .join(inline.includes(node.type) ? '' : node.type === 'tableRow' ? ' ' : '\n');
}
