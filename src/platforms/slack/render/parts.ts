/** A Message as Slack messages that fit: the first is for the channel, the others for its thread. */
import type { types } from '@slack/bolt';
import type { Message } from '../../../core/message.ts';
import { splitPlain, wellFormed, wholeCharacters } from '../../shared/text.ts';
import { LIMITS } from '../limits.ts';
import { buttonsOf, feedbackBlocks } from './buttons.ts';
import { type DetailOptions, detailBlocks } from './details.ts';
import { contextBlock, contextBlocks, type LinkOptions, linkLines } from './lines.ts';
import {
  mentionBlocks,
  progressBlocks,
  summaryOf,
  type TextOptions,
  textBlocks,
  titleBlocks,
} from './text.ts';

export interface Part {
  /** For notifications and screen readers; mrkdwn. */
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

export interface Rendering {
  /** At least one. */
  readonly parts: readonly Part[];
  /** The whole text, when it is too long for messages. */
  readonly textFile: string | undefined;
}

export interface RenderOptions extends DetailOptions, LinkOptions, TextOptions {
  /** The person that `notify` mentions. */
  readonly person: string;
  /** Characters of all blocks of one part. */
  readonly budget?: number;
  /** Long text is whole in the thread, and only its beginning is in the channel. */
  readonly inThread?: boolean;
  /** The workspace shows the app as an agent, whose answers people judge. */
  readonly hasAgents?: boolean;
  /** Only the first part is wanted: the text is being streamed in its thread. */
  readonly firstOnly?: boolean;
}

/** Renders any Message. Loses no text, and mentions `person` alone, only when the message says so. */
export async function render(given: Message, options: RenderOptions): Promise<Rendering> {
  const message = wellFormed(given);
  const budget = options.budget ?? LIMITS.partCharacters;
  const { shown, below, textFile } = await textOf(message, budget, options);
  const { inPlace, asLines } = buttonsOf(message);
  const blocks = [
    ...mentionBlocks(message, options),
    ...titleBlocks(message.title),
    ...progressBlocks(message),
    ...shown,
    ...detailBlocks(message, options),
    ...contextBlocks([...linkLines(message.media ?? [], options), ...asLines]),
    ...(message.footer ? splitPlain(message.footer, LIMITS.contextText).map(contextBlock) : []),
  ];
  const feedback = options.hasAgents && !options.bare ? feedbackBlocks(message) : [];
  const packed = pack([...blocks, ...inPlace.slice(1)], [...inPlace.slice(0, 1), ...feedback], budget);
  const summary = summaryOf(message, options);
  return {
    parts: [
      ...packed.slice(0, 1).map((blocks) => ({ text: summary, blocks })),
      ...below,
      ...packed.slice(1).map((blocks) => ({ text: summary, blocks })),
    ],
    textFile,
  };
}

interface RenderedText {
  /** Among the other blocks. */
  readonly shown: types.KnownBlock[];
  /** Messages of their own. */
  readonly below: readonly Part[];
  readonly textFile?: Rendering['textFile'];
}

async function textOf({ text = '' }: Message, budget: number, options: RenderOptions): Promise<RenderedText> {
  if (options.firstOnly && text.length > LIMITS.streamFrom)
    return { shown: await headOf(text, options), below: [] };
  const most = options.inThread ? LIMITS.threadParts : LIMITS.textParts;
  // Text that is clearly too long is not rendered whole.
  const tooLong = text.length > most * LIMITS.partCharacters;
  const shownText = tooLong ? text.slice(0, wholeCharacters(text, budget)) : text;
  const pieces = await textBlocks(shownText, budget, options);
  const [beginning] = pieces;
  if (beginning !== undefined && (tooLong || pieces.length > most)) {
    const shown = [beginning, contextBlock('The full text is attached.')];
    return { shown, below: [], textFile: text };
  }
  if (!options.inThread || text.length <= LIMITS.streamFrom) return { shown: pieces, below: [] };
  return {
    shown: await headOf(text, options),
    below: pieces.map((piece) => ({ text: summaryOf({ text }, options), blocks: [piece] })),
  };
}

/** The beginning, for the channel, of a text that is in the thread. The rest of the text is not parsed for that. */
async function headOf(text: string, options: RenderOptions): Promise<types.KnownBlock[]> {
  const near = text.slice(0, wholeCharacters(text, LIMITS.beginning * 4));
  const [head] = await textBlocks(near, LIMITS.beginning, options);
  return [...(head === undefined ? [] : [head]), contextBlock('The rest is in the thread.')];
}

/** Fills parts in order. `last` closes the first part, so that the buttons are at its end. */
function pack(
  blocks: readonly types.KnownBlock[],
  last: readonly types.KnownBlock[],
  budget: number,
): types.KnownBlock[][] {
  const first: types.KnownBlock[] = [];
  const parts = [first];
  let part = first;
  let free = budget - weightOf(last);
  let slots = LIMITS.blocks - last.length;
  for (const block of blocks) {
    const weight = weightOf(block);
    if (part.length > 0 && (weight > free || part.length >= slots)) {
      part = [];
      parts.push(part);
      free = budget;
      slots = LIMITS.blocks;
    }
    part.push(block);
    free -= weight;
  }
  first.push(...last);
  return parts;
}

/** Characters that Slack counts in blocks. */
function weightOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [key, inner]) => {
    const counts = typeof inner === 'string' && (key === 'text' || key === 'alt_text');
    return sum + (counts ? inner.length : weightOf(inner));
  }, 0);
}
