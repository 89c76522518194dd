/** Parses Markdown section by section. */
import { setImmediate } from 'node:timers/promises';
import type { MarkdownNode } from '../../../core/web/browser-chat.ts';
import { wholeCharacters } from '../text.ts';
import { definitionsIn, SECTION_LENGTH, tokensOf } from './parser.ts';
import { treeOf } from './tree.ts';

/**
 * Parses CommonMark with GitHub's tables, strikethrough, task lists and bare URLs. HTML, footnotes and link definitions stay text;
 * images become links. Never throws. Yields to the event loop between the sections of a long text.
 * @param read called for each section
 */
export async function readMarkdown<Part>(
  markdown: string,
  read: (nodes: readonly MarkdownNode[]) => Iterable<Part>,
): Promise<Part[]> {
  const parts: Part[] = [];
  const references = definitionsIn(markdown);
  for (const section of sections(markdown)) {
    if (section.length < markdown.length) await setImmediate();
    for (const part of read(parseMarkdown(section, references))) parts.push(part);
  }
  return parts;
}

/** Like {@link readMarkdown}, for short text. */
export const parseMarkdown = (markdown: string, references = definitionsIn(markdown)): MarkdownNode[] =>
  treeOf(tokensOf(markdown, references));

const OPENING_FENCE = /^(?:(`{3,})[^`]*|(~{3,})(?!~).*)$/;
const CLOSING_FENCE = /^ {0,3}(`+|~+)[ \t\r]*$/;

/** Splits the text between paragraphs, otherwise between lines or words, and never inside code. */
function* sections(markdown: string): Generator<string> {
  let rest = markdown;
  while (rest.length > SECTION_LENGTH) {
    const end = sectionEnd(rest);
    yield rest.slice(0, end);
    rest = rest.slice(end).replace(/^\n/, '');
  }
  yield rest;
}

function sectionEnd(text: string): number {
  let fence: string | undefined;
  let paragraph = 0;
  let line = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end > SECTION_LENGTH && fence === undefined) break;
    const row = text.slice(start, end);
    if (fence === undefined) {
      const [, backticks, tildes] = OPENING_FENCE.exec(row) ?? [];
      fence = backticks ?? tildes;
      // An indented line may belong to the list item above.
      if (row.trim() === '' && /\S/.test(text.charAt(end + 1))) paragraph = end;
    } else if (CLOSING_FENCE.exec(row)?.[1]?.startsWith(fence)) {
      fence = undefined;
      paragraph = end;
    }
    line = end;
    start = end + 1;
  }
  if (paragraph > SECTION_LENGTH / 8) return paragraph;
  if (line > 0) return line;
  const space = text.lastIndexOf(' ', SECTION_LENGTH);
  return space > SECTION_LENGTH / 2 ? space : wholeCharacters(text, SECTION_LENGTH);
}
