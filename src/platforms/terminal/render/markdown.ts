/** Markdown as a terminal shows it. */
import {
  type MarkdownContent as Block,
  isBareLink,
  type MarkdownRoot,
  parseMarkdown,
  textOf,
  withoutReferences,
} from '../../shared/markdown.ts';
import { createPartReader, widthOf } from '../../shared/text.ts';
import { createStyle, printable, type Style } from './style.ts';

type Parent = Extract<MarkdownRoot | Block, { children: readonly unknown[] }>;

export interface TerminalTextInput {
  /** Markdown. */
  readonly text: string;
  readonly colour: boolean;
}

/** Its paragraphs, lists, tables and so on, one text each. None of the text is lost. For a render thread. */
export function createTerminalText(): (input: TerminalTextInput) => string[] {
  const read = createPartReader((markdown, colour: boolean) => {
    const root = withoutReferences(parseMarkdown(markdown));
    makePrintable(root);
    return blocks(root, createStyle(colour));
  });
  return ({ text, colour }) => read(printable(text), colour);
}

/** The same without reading the Markdown. */
export const terminalTextPlainly = ({ text }: TerminalTextInput): string[] =>
  printable(text)
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph !== '');

/** Parsing decodes character references such as `&#27;`. */
function makePrintable(node: MarkdownRoot | Block): void {
  if ('value' in node) node.value = printable(node.value);
  if ('url' in node) node.url = printable(node.url);
  if ('label' in node && node.label) node.label = printable(node.label);
  if ('children' in node) for (const child of node.children) makePrintable(child);
}

function blocks(node: Parent, style: Style): string[] {
  return node.children.map((child) => block(child, style)).filter((text) => text !== '');
}

function indented(text: string, first: string, rest: string): string {
  return text
    .split('\n')
    .map((line, index) => (index === 0 ? first : rest) + line)
    .join('\n');
}

function block(node: Block, style: Style): string {
  switch (node.type) {
    case 'heading':
      return style(['bold', 'underline'], inline(node, style));
    case 'blockquote':
      return indented(blocks(node, style).join('\n\n'), style('dim', '│ '), style('dim', '│ '));
    case 'list':
      return node.children
        .map((item, index) => {
          const mark = node.ordered ? `${(node.start ?? 1) + index}. ` : '• ';
          const box = typeof item.checked === 'boolean' ? (item.checked ? '[x] ' : '[ ] ') : '';
          const content = blocks(item, style).join(node.spread ? '\n\n' : '\n');
          return indented(box + content, mark, ' '.repeat(mark.length));
        })
        .join('\n');
    case 'code':
      return indented(style('cyan', node.value), '    ', '    ');
    case 'table':
      return table(node, style);
    case 'thematicBreak':
      return style('dim', '───');
    case 'footnoteDefinition':
      return indented(blocks(node, style).join('\n'), `[${node.label ?? node.identifier}] `, '    ');
    default:
      return inline(node, style);
  }
}

function inline(node: Block, style: Style): string {
  const within = () =>
    'children' in node ? node.children.map((child) => inline(child, style)).join('') : '';
  switch (node.type) {
    case 'text':
      return node.value;
    case 'inlineCode':
      return style('cyan', node.value);
    case 'strong':
      return style('bold', within());
    case 'emphasis':
      return style('italic', within());
    case 'delete':
      return style('strikethrough', within());
    case 'break':
      return '\n';
    case 'link': {
      const label = within();
      return isBareLink(textOf(node), node.url) ? label : `${label} (${node.url})`;
    }
    default:
      return within();
  }
}

function table(node: Extract<Block, { type: 'table' }>, style: Style): string {
  const rows = node.children.map((row) => row.children.map((cell) => inline(cell, style)));
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  return rows
    .map((row, index) => {
      const line = row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd();
      return index === 0 ? style('bold', line) : line;
    })
    .join('\n');
}
