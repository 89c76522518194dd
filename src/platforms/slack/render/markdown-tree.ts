/** Cutting of Markdown trees, so that what is too long becomes pieces that mean the same. */
import type { MarkdownContent, MarkdownRoot } from '../../shared/markdown.ts';
import { wholeCharacters } from '../../shared/text.ts';

export type MarkdownNode = MarkdownRoot | MarkdownContent;

/** Items up to this size stay whole in their list. */
const SMALL_ITEM = 1000;
/** A word this near to the start of its text goes to the next piece as a whole. */
const WORD = 40;

/** Characters of text in a node; at least 1. */
export function sizeOf(node: MarkdownNode): number {
  if ('value' in node) return Math.max(1, node.value.length);
  const children: readonly MarkdownNode[] = 'children' in node ? node.children : [];
  return children.reduce((sum, child) => sum + sizeOf(child), 0) || 1;
}

/**
 * Two nodes of the same type that together hold the text of `node`; the first holds at most `size` characters of it.
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
      let free = size - sizeOf(head);
      const fitting = rows.findIndex((row) => {
        free -= sizeOf(row);
        return free < 0;
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
  const isGap = gap > 0 && gap < value.length - 1;
  if (!isGap && size < WORD && node.type === 'text') return undefined;
  const at = isGap ? gap : wholeCharacters(value, size);
  return [
    { ...node, value: value.slice(0, at) },
    { ...node, value: value.slice(isGap ? at + 1 : at) },
  ];
}
