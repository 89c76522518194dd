/** Renders messages as lines for a terminal. */

import type { styleText } from 'node:util';
import type { Button, MediaItem, Message } from '../../core/message.ts';
import { fileSize } from '../../core/util/words.ts';
import { progressFacts, stageText } from '../shared/progress.ts';
import { wellFormed, wholeCharacters } from '../shared/text.ts';

/** Styles text if the terminal supports colours. */
export type Style = (format: Parameters<typeof styleText>[0], text: string) => string;

export interface RenderTools {
  readonly style: Style;
  /** The number that presses a button. */
  readonly numberOf: (button: Extract<Button, { type: 'action' }>) => number;
  /** The path of a saved file; undefined if it was not saved. */
  readonly savedAs: (item: MediaItem) => string | undefined;
}

export interface Parts {
  readonly title: string;
  readonly text: string;
  /** Files, facts and buttons. */
  readonly rest: readonly string[];
}

/** The parts of a message; missing parts are empty. Facts and buttons are left out while it is in progress. */
export function renderParts(message: Message, tools: RenderTools): Parts {
  const { style } = tools;
  const { title = '', text = '', media = [], fields = [], footer = '', actions = [], progress } = message;
  const facts = [
    ...fields.map(({ name, value }) => `${style('dim', `${line(name)}:`)} ${printable(value)}`),
    footer && style('dim', printable(footer)),
    renderActions(actions, tools),
  ];
  return {
    title: title && style('bold', line(title)),
    text: readableMarkdown(text),
    rest: [...media.map((item) => renderMedia(item, title, tools)), ...(progress ? [] : facts)],
  };
}

/** A progress line with its buttons; empty for a message without progress. */
export function renderProgress(message: Message, tools: RenderTools): string {
  const { title = '', progress, actions = [] } = message;
  if (!progress) return '';
  const subject = [tools.style('bold', line(title)), line(stageText(message))].filter(Boolean).join(': ');
  const facts = progressFacts(progress, (word, at) =>
    word === 'until' ? [`until ${new Date(at).toISOString().slice(11, 19)} UTC`] : [],
  );
  const status = [subject, ...facts.map((fact) => tools.style('dim', fact))].join(' · ');
  return ['…', status, renderActions(actions, tools)].filter(Boolean).join(' ');
}

function renderActions(
  actions: readonly Button[],
  { style, numberOf }: Pick<RenderTools, 'style' | 'numberOf'>,
): string {
  return actions
    .map((button) => {
      const label = line(button.label);
      if (button.type === 'link') return `${label}: ${line(button.url)}`;
      return `${style('cyan', `[${numberOf(button)}]`)} ${label}`;
    })
    .join('   ');
}

const SIGNS = { audio: '♪', image: '▣', video: '▶', file: '▤' } as const;

function renderMedia(item: MediaItem, title: string, { style, savedAs }: RenderTools): string {
  const { kind, name, source, caption, alt } = item;
  const location = source.type === 'remote' ? source.url : (savedAs(item) ?? name);
  const facts = [
    ...(caption ? [line(caption)] : []),
    ...(source.type === 'stored' ? [fileSize(source.file.bytes)] : []),
  ];
  const description = alt && alt !== title && kind !== 'audio' ? `\n  ${style('dim', line(alt))}` : '';
  return `${SIGNS[kind]} ${[style('underline', line(location)), ...facts].join(' · ')}${description}`;
}

/** Keeps Markdown as it is, except for escapes outside code. */
export function readableMarkdown(markdown: string): string {
  let fence: string | undefined;
  return printable(markdown)
    .split('\n')
    .map((row) => {
      const [, marks] = /^ {0,3}(`{3,}|~{3,})/.exec(row) ?? [];
      const isFence = marks !== undefined && (fence === undefined || marks.startsWith(fence));
      const isCode = isFence || fence !== undefined;
      if (isFence) fence = fence === undefined ? marks : undefined;
      if (isCode) return row;
      return row
        .replace(/\[([^[\]]{1,60})\]\((?:day|time):\d{1,14}\)/g, '$1')
        .replace(/\\([!-/:-@[-`{-~])|`[^`]*`/g, (match, escaped?: string) => escaped ?? match)
        .replace(/\\$/, '');
    })
    .join('\n');
}

/** The complete rows of a growing text, and their length in characters. */
export function completeRows(text: string, columns: number): { rows: string[]; length: number } {
  const rows: string[] = [];
  let length = 0;
  for (;;) {
    const next = text.slice(length, length + columns + 1);
    const isFull = next.length > columns;
    const newline = next.indexOf('\n');
    if (newline < 0 && !isFull) return { rows, length };
    const space = newline < 0 ? next.lastIndexOf(' ') : newline;
    const end = space < 0 ? wholeCharacters(next, columns) : space;
    rows.push(next.slice(0, end));
    length += space < 0 ? end : end + 1;
  }
}

/** Control characters could move the cursor and overwrite lines; direction marks could reverse text. */
const UNSAFE = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Removes everything from a text that a terminal could interpret as a command. */
export function printable(text: string): string {
  return wellFormed(text).replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(UNSAFE, '');
}

function line(text: string): string {
  return printable(text)
    .split('\n')
    .map((part) => part.trim())
    .join(' ');
}
