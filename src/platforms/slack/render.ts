/** Turns a Message into Slack messages that fit: the first stands in the channel, the others go into its thread. */
import type { types } from '@slack/bolt';
import type { Message } from '../../message.ts';
import { buttonsOf } from './blocks/buttons.ts';
import { type DetailOptions, detailBlocks } from './blocks/details.ts';
import { mentionBlocks, progressBlock, titleBlocks } from './blocks/heading.ts';
import { contextBlock, contextBlocks, type LinkOptions, linkLines } from './blocks/lines.ts';
import { summaryOf, textPieces } from './blocks/text.ts';
import { splitPlain, wholeCharacters } from './escape.ts';
import { LIMITS } from './limits.ts';

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

export interface RenderOptions extends DetailOptions, LinkOptions {
  /** Whom `notify` mentions. */
  readonly person: string;
  /** Characters of all blocks of one part. */
  readonly budget?: number;
  /** Only plain sections and buttons: for a message that Slack did not take as it was. */
  readonly bare?: boolean;
  /** Long text stands in the thread whole, and only its beginning in the channel. */
  readonly inThread?: boolean;
  /** Nothing but the first part is wanted. */
  readonly firstOnly?: boolean;
}

interface Piece {
  readonly block: types.KnownBlock;
  readonly weight: number;
}

/** Renders any Message. Loses no text, pings nobody but `person`, and only when the message says so. */
export function render(message: Message, options: RenderOptions): Rendering {
  const budget = options.budget ?? LIMITS.partCharacters;
  const { shown, below, file } = textOf(message, budget, options);
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
    parts: [
      ...packed.slice(0, 1).map((blocks) => ({ text: summary, blocks })),
      ...below,
      ...packed.slice(1).map((blocks) => ({ text: summary, blocks })),
    ],
    textFile: file,
  };
}

interface RenderedText {
  /** Among the other blocks. */
  readonly shown: types.KnownBlock[];
  /** Messages of their own. */
  readonly below: readonly Part[];
  readonly file: Rendering['textFile'];
}

function textOf({ text = '' }: Message, budget: number, options: RenderOptions): RenderedText {
  if (options.inThread && options.firstOnly && text.length > LIMITS.streamFrom)
    return { shown: headOf(text, options), below: [], file: undefined };
  const most = options.inThread ? LIMITS.threadParts : LIMITS.textParts;
  // What is clearly too long need not be rendered whole to know it.
  const hopeless = text.length > most * LIMITS.partCharacters;
  const pieces = textPieces(hopeless ? text.slice(0, wholeCharacters(text, budget)) : text, budget, options);
  const [beginning] = pieces;
  if (beginning !== undefined && (hopeless || pieces.length > most)) {
    const shown = [beginning, contextBlock('The whole text is in the file below.')];
    return { shown, below: [], file: { name: 'text.md', content: text } };
  }
  if (!options.inThread || text.length <= LIMITS.streamFrom)
    return { shown: pieces, below: [], file: undefined };
  return {
    shown: headOf(text, options),
    below: pieces.map((piece) => ({ text: summaryOf({ text }, options), blocks: [piece] })),
    file: undefined,
  };
}

/** What stands in the channel of a text that is in the thread; the rest of it need not be read for that. */
function headOf(text: string, options: RenderOptions): types.KnownBlock[] {
  const near = text.slice(0, wholeCharacters(text, LIMITS.beginning * 4));
  const [head] = textPieces(near, LIMITS.beginning, options);
  return [...(head === undefined ? [] : [head]), contextBlock('It goes on in the thread.')];
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
