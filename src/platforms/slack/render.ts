/** Turns a Message into Slack messages that fit: the first stands in the channel, the others go into its thread. */
import type { types } from '@slack/bolt';
import {
  type Button,
  type KeptFile,
  LINKED_FILES_SENTENCE,
  type MediaItem,
  type Message,
  type Progress,
} from '../../message.ts';
import { ellipsis, escapeMrkdwn, splitMrkdwn, splitPlain, wholeCharacters } from './escape.ts';
import { LIMITS } from './limits.ts';
import { plainOfMarkdown, slackMarkdown } from './markdown.ts';

export interface Part {
  /** What notifications and screen readers get; mrkdwn. */
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

export interface Rendering {
  /** At least one. */
  readonly parts: readonly Part[];
  /** The whole text, when it is too long for messages. */
  readonly textFile: { readonly name: string; readonly content: string } | undefined;
}

export interface RenderOptions {
  /** Whom `notify` mentions. */
  readonly person: string;
  /** Pictures that were uploaded: kept name to Slack's file id. */
  readonly pictures?: ReadonlyMap<string, string>;
  /** Files that Slack did not take, and every file where nothing can be uploaded: shown as links. */
  readonly links?: (file: KeptFile, downloadName: string) => string | undefined;
  /** Characters of all blocks of one part. */
  readonly budget?: number;
  /** Only plain sections and buttons: for a message that Slack did not take as it was. */
  readonly bare?: boolean;
}

interface Piece {
  readonly block: types.KnownBlock;
  readonly weight: number;
}

/** Renders any Message. Loses no text, pings nobody but `person`, and only when the message says so. */
export function render(message: Message, options: RenderOptions): Rendering {
  const budget = options.budget ?? LIMITS.partCharacters;
  const { text = '' } = message;
  // What is clearly too long need not be rendered whole to know it.
  const hopeless = text.length > LIMITS.textParts * LIMITS.partCharacters;
  const texts = textPieces(hopeless ? text.slice(0, wholeCharacters(text, budget)) : text, budget, options);
  const tooLong = hopeless || texts.length > LIMITS.textParts;
  const [beginning] = texts;
  const shown =
    tooLong && beginning ? [beginning, contextBlock('The whole text is in the file below.')] : texts;
  const { inPlace, asLines } = buttonsOf(message.actions ?? []);
  const blocks = [
    ...mentionBlocks(message, options),
    ...titleBlocks(message.title),
    ...(message.progress ? [progressBlock(message.progress)] : []),
    ...shown,
    ...detailBlocks(message, options),
    ...contextBlocks([...linkLines(message.media ?? [], options), ...asLines]),
    ...(message.footer ? splitPlain(message.footer, LIMITS.contextText).map(contextBlock) : []),
  ];
  // The blocks of few buttons close the first part together; of many, the first does.
  const few = (message.actions ?? []).length <= LIMITS.buttonsInBlock;
  const closing = few ? inPlace : inPlace.slice(0, 1);
  const packed = pack([...blocks, ...inPlace.slice(closing.length)].map(weigh), closing.map(weigh), budget);
  const summary = summaryOf(message, options);
  return {
    parts: packed.map((part) => ({ text: summary, blocks: part })),
    textFile: tooLong ? { name: 'text.md', content: text } : undefined,
  };
}

/** Fills parts in order; `last` closes the first part, so that the buttons stand where people look. */
function pack(pieces: readonly Piece[], last: readonly Piece[], budget: number): types.KnownBlock[][] {
  const parts: types.KnownBlock[][] = [[]];
  let room = budget - last.reduce((sum, { weight }) => sum + weight, 0);
  let slots = LIMITS.blocks - last.length;
  for (const { block, weight } of pieces) {
    let part = parts.at(-1);
    if (part === undefined || (part.length > 0 && (weight > room || part.length >= slots))) {
      part = [];
      parts.push(part);
      room = budget;
      slots = LIMITS.blocks;
    }
    part.push(block);
    room -= weight;
  }
  parts[0]?.push(...last.map(({ block }) => block));
  return parts;
}

function weigh(block: types.KnownBlock): Piece {
  const count = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    return Object.entries(value).reduce((sum, [key, inner]) => {
      const counted = typeof inner === 'string' && (key === 'text' || key === 'alt_text') ? inner.length : 0;
      return sum + counted + count(inner);
    }, 0);
  };
  return { block, weight: count(block) };
}

function textPieces(text: string, budget: number, { bare }: RenderOptions): types.KnownBlock[] {
  if (text === '') return [];
  return bare ? barePieces(text) : richPieces(text, budget);
}

/** A markdown block must fit beside title and buttons, so it takes no more than four fifths of a part. */
function richPieces(text: string, budget: number): types.KnownBlock[] {
  return slackMarkdown(text, Math.floor(budget * 0.8)).map((piece) => ({ type: 'markdown', text: piece }));
}

function barePieces(text: string): types.KnownBlock[] {
  return splitPlain(plainOfMarkdown(text), LIMITS.sectionText).map(plainSection);
}

function plainSection(text: string): types.KnownBlock {
  return { type: 'section', text: { type: 'plain_text', text, emoji: false } };
}

function mentionBlocks(message: Message, { person }: RenderOptions): types.KnownBlock[] {
  if (!message.notify) return [];
  return [{ type: 'context', elements: [{ type: 'mrkdwn', text: `<@${escapeMrkdwn(person)}>` }] }];
}

function titleBlocks(title: string | undefined): types.KnownBlock[] {
  if (title === undefined || title.trim() === '') return [];
  if (title.length <= LIMITS.headerText)
    return [{ type: 'header', text: { type: 'plain_text', text: title, emoji: false } }];
  return splitPlain(title, LIMITS.sectionText).map(plainSection);
}

function progressBlock({ stage, startedAt, queuePlace, estimateMs }: Progress): types.KnownBlock {
  const seconds = Math.floor(startedAt / 1000);
  const started = new Date(startedAt);
  const fallback = Number.isNaN(started.getTime())
    ? 'just now'
    : `${started.toISOString().slice(11, 16)} UTC`;
  const facts = [
    `:hourglass_flowing_sand: ${escapeMrkdwn(ellipsis(stage.trim() === '' ? 'Working' : stage, 300))}`,
    ...(queuePlace === undefined ? [] : [`place ${queuePlace} in the queue`]),
    ...(Number.isSafeInteger(seconds) && seconds > 0
      ? [`started <!date^${seconds}^{time}|${fallback}>`]
      : []),
    ...(estimateMs === undefined ? [] : [`usually takes about ${duration(estimateMs)}`]),
  ];
  return { type: 'context', elements: [{ type: 'mrkdwn', text: facts.join(' · ') }] };
}

function duration(ms: number): string {
  return ms < 90_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;
}

/** Fields two in a row, with the cover beside the first ones; then the other pictures. */
function detailBlocks(message: Message, options: RenderOptions): types.KnownBlock[] {
  const pictures = options.bare
    ? []
    : (message.media ?? []).flatMap((item) => {
        const id = item.source.type === 'kept' ? options.pictures?.get(item.source.file.name) : undefined;
        return id === undefined ? [] : [{ item, id }];
      });
  const rows = fieldRows(message);
  const cover = rows.length > 0 ? pictures.find(({ item }) => item.cover) : undefined;
  const fieldBlocks = rows.map(
    (fields, index): types.KnownBlock => ({
      type: 'section',
      fields,
      ...(index === 0 && cover
        ? { accessory: { type: 'image', slack_file: { id: cover.id }, alt_text: altOf(cover.item) } }
        : {}),
    }),
  );
  const imageBlocks = pictures
    .filter((picture) => picture !== cover)
    .map(
      ({ item, id }): types.KnownBlock => ({
        type: 'image',
        slack_file: { id },
        alt_text: altOf(item),
        ...(item.caption
          ? { title: { type: 'plain_text', text: ellipsis(item.caption, LIMITS.imageTitle), emoji: false } }
          : {}),
      }),
    );
  return [...fieldBlocks, ...imageBlocks];
}

function fieldRows({ fields = [] }: Message): types.MrkdwnElement[][] {
  const texts = fields.flatMap(({ name, value }) => {
    const label = escapeMrkdwn(name).replaceAll('*', '∗');
    const head = label.trim() === '' ? '' : `*${label}*\n`;
    if (head.length > LIMITS.sectionField / 2) return splitMrkdwn(`${name}\n${value}`, LIMITS.sectionField);
    const [first = '', ...rest] = splitMrkdwn(value, LIMITS.sectionField - head.length);
    return [`${head}${first}`, ...rest];
  });
  const elements = texts
    .filter((text) => text.trim() !== '')
    .map((text) => ({ type: 'mrkdwn' as const, text }));
  return grouped(elements, LIMITS.sectionFields);
}

/** Elements for blocks of at most `most`, which are also bounded by length, so that a few long ones fill no message. */
function grouped<Element extends { readonly text: string }>(
  elements: readonly Element[],
  most: number,
): Element[][] {
  const groups: Element[][] = [];
  let length = 0;
  for (const element of elements) {
    const group = groups.at(-1);
    if (group === undefined || group.length >= most || length + element.text.length > LIMITS.sectionText) {
      groups.push([element]);
      length = element.text.length;
    } else {
      group.push(element);
      length += element.text.length;
    }
  }
  return groups;
}

function altOf({ alt, name }: MediaItem): string {
  return ellipsis(alt?.trim() || name.trim() || 'picture', LIMITS.altText);
}

/** Lines for what cannot be a file here: media still at the gateway, and files that Slack did not take. */
function linkLines(media: readonly MediaItem[], { links }: RenderOptions): string[] {
  let isLinked = false;
  const lines = media.flatMap((item) => {
    const url = item.source.type === 'remote' ? item.source.url : links?.(item.source.file, item.name);
    if (url === undefined) return [];
    isLinked ||= item.source.type === 'kept';
    const label = item.caption ? `${item.name} · ${item.caption}` : item.name;
    return linkLine(url, label);
  });
  return isLinked ? [...lines, LINKED_FILES_SENTENCE] : lines;
}

function linkLine(url: string, label: string): string[] {
  const shown = label.trim() === '' ? 'link' : label;
  if (!/^https?:\/\/[^\s|<>]+$/i.test(url) || url.length > LIMITS.url / 2)
    return splitMrkdwn(`${shown}: ${url}`, LIMITS.contextText);
  const [first = '', ...rest] = splitMrkdwn(shown, LIMITS.contextText - LIMITS.url / 2 - 10);
  return [`<${escapeMrkdwn(url)}|${first}>`, ...rest];
}

function contextBlocks(lines: readonly string[]): types.KnownBlock[] {
  const elements = lines.map((text) => ({ type: 'mrkdwn' as const, text }));
  return grouped(elements, LIMITS.contextElements).map((group) => ({ type: 'context', elements: group }));
}

function contextBlock(text: string): types.KnownBlock {
  return { type: 'context', elements: [{ type: 'plain_text', text, emoji: false }] };
}

/** Buttons in blocks of at most 25, and lines for those that Slack would not take as buttons. */
function buttonsOf(buttons: readonly Button[]): { inPlace: types.ActionsBlock[]; asLines: string[] } {
  const asLines: string[] = [];
  const elements: Placed[] = [];
  const ids = new Set<string>();
  for (const [index, button] of buttons.entries()) {
    const label = button.label.trim() === '' ? '…' : button.label;
    if (button.type === 'link') {
      if (
        /^https?:\/\/\S+$/i.test(button.url) &&
        button.url.length <= LIMITS.url &&
        label.length <= LIMITS.buttonLabel
      ) {
        elements.push({
          group: undefined,
          button: {
            type: 'button',
            action_id: `link:${index}`,
            text: plainText(label),
            url: button.url,
          },
        });
      } else asLines.push(...linkLine(button.url, label));
      continue;
    }
    const shown = button.emoji ? `${button.emoji} ${label}` : label;
    const id =
      ids.has(button.id) || button.id === '' || button.id.length > LIMITS.actionId
        ? `button:${index}`
        : button.id;
    ids.add(id);
    if (shown.length > LIMITS.buttonLabel) asLines.push(...splitMrkdwn(shown, LIMITS.contextText));
    elements.push({
      group: button.group,
      button: {
        type: 'button',
        action_id: id,
        ...(button.id === '' || button.id.length > LIMITS.buttonValue ? {} : { value: button.id }),
        text: plainText(ellipsis(shown, LIMITS.buttonLabel)),
        ...(button.emphasis === undefined ? {} : { style: button.emphasis }),
      },
    });
  }
  return { inPlace: actionBlocks(elements), asLines };
}

interface Placed {
  readonly group: string | undefined;
  readonly button: types.Button;
}

/** A block for each group of buttons, and one for those without; past what one block holds, no groups are made. */
function actionBlocks(buttons: readonly Placed[]): types.ActionsBlock[] {
  const isMany = buttons.length > LIMITS.buttonsInBlock;
  const blocks: types.ActionsBlock[] = [];
  let group: string | undefined;
  for (const placed of buttons) {
    const last = blocks.at(-1);
    if (last && (isMany || group === placed.group) && last.elements.length < LIMITS.buttonsInBlock)
      last.elements.push(placed.button);
    else blocks.push({ type: 'actions', elements: [placed.button] });
    group = placed.group;
  }
  return blocks;
}

function plainText(text: string): types.PlainTextElement {
  return { type: 'plain_text', text, emoji: true };
}

function summaryOf(message: Message, { person }: RenderOptions): string {
  const mention = message.notify ? `<@${escapeMrkdwn(person)}> ` : '';
  const text =
    message.text === undefined ? undefined : plainOfMarkdown(message.text.slice(0, LIMITS.fallbackText * 2));
  const facts = [message.title, message.progress?.stage, text, message.media?.[0]?.name, message.footer];
  const said = facts.filter((fact) => fact !== undefined && fact.trim() !== '').join(' · ');
  const [first] = splitMrkdwn(said, LIMITS.fallbackText);
  return `${mention}${first ?? '…'}`;
}
