/** A Message as the texts that a terminal prints. Each has a name, so that a later state of it can be compared. */
import { type Button, type MediaItem, type Message, stageToSay } from '../../../core/message.ts';
import { printable, type Style } from './style.ts';

export interface Block {
  /** Unique within a message. */
  readonly slot: string;
  readonly text: string;
  /** What tells two states apart; without it, the text. */
  readonly identity?: string;
  /** An empty line comes before it. */
  readonly apart?: boolean;
}

export interface SavedFile {
  readonly path: string;
  readonly seconds?: number | undefined;
}

export interface RenderTools {
  readonly style: Style;
  /** Markdown as paragraphs. */
  readonly layOut: (markdown: string) => Promise<readonly string[]>;
  /** The number that presses a button. */
  readonly numberOf: (actionId: string) => number;
  /** Where a kept file was saved; undefined for what is not. */
  readonly savedAs: (item: MediaItem) => SavedFile | undefined;
}

/** A finished message, whole. */
export async function renderWhole(message: Message, tools: RenderTools): Promise<Block[]> {
  const { style } = tools;
  const fields = (message.fields ?? []).map(
    ({ name, value }) => `${style('dim', `${line(name)}:`)} ${printable(value)}`,
  );
  return [
    ...(await renderBeginning(message, tools)),
    ...block('fields', fields.join('\n')),
    ...block('footer', style('dim', printable(message.footer ?? ''))),
    // Buttons have other numbers after a restart, and are the same buttons.
    ...block('actions', renderActions(message.actions ?? [], tools), JSON.stringify(message.actions)),
  ];
}

/** What an unfinished message can already show. */
export async function renderBeginning(message: Message, tools: RenderTools): Promise<Block[]> {
  const { style, layOut } = tools;
  const text = await layOut(message.text ?? '');
  return [
    ...block('title', style('bold', line(message.title ?? ''))),
    ...text.map((content, index) => ({ slot: `text ${index}`, text: content, apart: index > 0 })),
    ...(message.media ?? []).map((item) => ({
      // A file that came early keeps its slot, also when others come before it later.
      slot: `media ${item.source.type === 'kept' ? item.source.file.name : item.source.url}`,
      text: renderMedia(item, message.title, tools),
    })),
  ];
}

export function renderActions(
  actions: readonly Button[],
  { style, numberOf }: Pick<RenderTools, 'style' | 'numberOf'>,
): string {
  return actions
    .map((button) => {
      const label = line(button.label);
      if (button.type === 'link') return `${label}: ${line(button.url)}`;
      return `${style('cyan', `[${numberOf(button.id)}]`)} ${button.emoji ? `${button.emoji} ` : ''}${label}`;
    })
    .join('   ');
}

/** One line about a job that runs; with `now`, for how long. */
export function renderProgress(message: Message, style: Style, now?: number): string {
  const { progress } = message;
  if (!progress) return '';
  const elapsedMs = now === undefined ? 0 : now - progress.startedAt;
  const facts = [
    ...(progress.queuePosition === undefined ? [] : [`place ${progress.queuePosition} in the queue`]),
    ...(elapsedMs < 1000 ? [] : [clock(elapsedMs / 1000)]),
    ...(progress.until === undefined ? [] : waitUntil(progress.until, now)),
    ...(progress.estimateMs === undefined ? [] : [`usually about ${clock(progress.estimateMs / 1000)}`]),
  ];
  const what = [style('bold', line(message.title ?? '')), line(stageToSay(message))];
  return [what.filter(Boolean).join(': '), ...facts.map((fact) => style('dim', fact))].join(' · ');
}

function waitUntil(until: number, now: number | undefined): string[] {
  if (now !== undefined) return [`for ${clock(Math.max(0, until - now) / 1000)} more`];
  const date = new Date(until);
  return Number.isNaN(date.getTime()) ? [] : [`until ${date.toISOString().slice(11, 19)} UTC`];
}

/** A caption may tell the length itself. */
const TIME = /\d:\d\d/;

const SIGNS = { audio: '♪', image: '▣', video: '▶', file: '▤' } as const;

function renderMedia(item: MediaItem, title: string | undefined, { style, savedAs }: RenderTools): string {
  const saved = savedAs(item);
  const facts = [
    ...(item.caption ? [line(item.caption)] : []),
    ...(saved?.seconds === undefined || TIME.test(item.caption ?? '') ? [] : [clock(saved.seconds)]),
    ...(item.source.type === 'kept' ? [size(item.source.file.bytes)] : []),
  ];
  const shown = item.source.type === 'remote' ? item.source.url : (saved?.path ?? item.name);
  const alt =
    item.alt && item.alt !== title && item.kind !== 'audio' ? `\n  ${style('dim', line(item.alt))}` : '';
  return `${SIGNS[item.kind]} ${[style('underline', line(shown)), ...facts].join(' · ')}${alt}`;
}

function block(slot: string, text: string, identity = text): Block[] {
  return text === '' ? [] : [{ slot, text, identity }];
}

function line(text: string): string {
  return printable(text).replace(/\s*\n\s*/g, ' ');
}

/** `1:02` for 62 seconds. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const tail = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
