/** Halving of Markdown trees, so that a part that is too long becomes two that mean the same. */
import type { fromMarkdown } from 'mdast-util-from-markdown';
import { wholeCharacters } from './escape.ts';

export type MarkdownRoot = ReturnType<typeof fromMarkdown>;
export type RootContent = MarkdownRoot['children'][number];
export type MarkdownNode = MarkdownRoot | RootContent;

/**
 * Two nodes that together say what `node` said: children are shared out, text is cut between words, code between
 * lines, a table's head is repeated. Undefined when there is nothing to halve.
 */
export function halve(node: MarkdownNode): [MarkdownNode, MarkdownNode] | undefined {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
    case 'html':
      return halveValue(node, ' ');
    case 'code':
      return halveValue(node, '\n');
    case 'table': {
      const [head, ...rows] = node.children;
      if (head === undefined || rows.length < 2) return undefined;
      const middle = Math.ceil(rows.length / 2);
      return [
        { ...node, children: [head, ...rows.slice(0, middle)] },
        { ...node, children: [head, ...rows.slice(middle)] },
      ];
    }
    case 'list': {
      const halves = halveChildren(node);
      if (halves === undefined || !node.ordered) return halves;
      const [first, second] = halves;
      const goesOn = first.children.length < node.children.length ? first.children.length : 0;
      return [first, { ...second, start: (node.start ?? 1) + goesOn }];
    }
    default:
      return 'children' in node ? halveChildren(node) : undefined;
  }
}

function halveChildren<Node extends MarkdownNode>(node: Node): [Node, Node] | undefined {
  const children: readonly MarkdownNode[] = 'children' in node ? node.children : [];
  const [only] = children;
  if (only === undefined) return undefined;
  if (children.length > 1) {
    const middle = Math.ceil(children.length / 2);
    return [
      { ...node, children: children.slice(0, middle) },
      { ...node, children: children.slice(middle) },
    ];
  }
  const halves = halve(only);
  if (halves === undefined) return undefined;
  return [
    { ...node, children: [halves[0]] },
    { ...node, children: [halves[1]] },
  ];
}

function halveValue<Node extends MarkdownNode & { value: string }>(
  node: Node,
  between: string,
): [Node, Node] | undefined {
  const { value } = node;
  if (value.length < 2) return undefined;
  const middle = Math.floor(value.length / 2);
  const before = value.lastIndexOf(between, middle);
  const after = value.indexOf(between, middle);
  const nearest = after !== -1 && (before <= 0 || after - middle < middle - before) ? after : before;
  if (nearest <= 0 || nearest >= value.length - 1) {
    const cut = wholeCharacters(value, middle);
    return [
      { ...node, value: value.slice(0, cut) },
      { ...node, value: value.slice(cut) },
    ];
  }
  return [
    { ...node, value: value.slice(0, nearest) },
    { ...node, value: value.slice(nearest + 1) },
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
