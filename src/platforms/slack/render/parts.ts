/** Renders a Message as Slack messages that fit: the first for the channel, the others for its thread. */
import type { types } from '@slack/bolt';
import type { Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { splitPlain, wellFormed, wholeCharacters } from '../../shared/text.ts';
import { LIMITS } from '../limits.ts';
import { buttonsOf, feedbackBlocks } from './buttons.ts';
import { dataBlocks } from './data.ts';
import { type DetailOptions, detailBlocks, headBlocks, titleLink } from './details.ts';
import { contextBlock, contextBlocks, type LinkOptions, linkLines } from './lines.ts';
import { mentionBlocks, progressBlocks, summaryOf, type TextOptions, textBlocks } from './text.ts';

export interface Part {
  /** For notifications and screen readers; mrkdwn. */
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

export interface Rendering {
  /** At least one. */
  readonly parts: readonly Part[];
  /** The full text, if it is too long for messages. */
  readonly textFile: string | undefined;
}

export interface RenderOptions extends DetailOptions, LinkOptions, TextOptions {
  /** The person that `notify` mentions. */
  readonly person: string;
  /** The most characters in the blocks of one part. */
  readonly budget?: number;
  /** The thread has the full text, and the channel only its beginning. */
  readonly inThread?: boolean;
  /** The app is an agent, so answers have feedback buttons. */
  readonly hasAgents?: boolean;
  /** Renders only the first part. The text is being streamed in its thread. */
  readonly firstOnly?: boolean;
}

/** Rows of buttons that stay below the first message. */
const MOST_ROWS = 4;

/** Renders any Message without losing text. Mentions `person` only, and only if `notify` is set. */
export async function render(input: Message, options: RenderOptions): Promise<Rendering> {
  const message = wellFormed(input);
  const budget = options.budget ?? LIMITS.partCharacters;
  const { shown, below, textFile } = await textOf(message, budget, options);
  const data = options.hasCards ? dataBlocks(message) : undefined;
  const withTitle = titleLink(message);
  const actions = message.actions?.filter((button) => button !== withTitle);
  const { inPlace, asLines } = buttonsOf({ ...message, ...present({ actions }) });
  const blocks = [
    ...mentionBlocks(message, options),
    ...headBlocks(message, options),
    ...progressBlocks(message),
    ...shown,
    ...(data ?? detailBlocks(message, options)),
    ...contextBlocks([...(data ? [] : linkLines(message.media ?? [], options)), ...asLines]),
    ...(message.footer ? splitPlain(message.footer, LIMITS.contextText).map(contextBlock) : []),
  ];
  const feedback = options.hasAgents && !options.bare ? feedbackBlocks(message) : [];
  const pinned = inPlace.slice(0, MOST_ROWS);
  const packed = pack([...blocks, ...inPlace.slice(MOST_ROWS)], [...pinned, ...feedback], budget);
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
  /** Blocks of the first message. */
  readonly shown: types.KnownBlock[];
  /** Separate messages. */
  readonly below: readonly Part[];
  readonly textFile?: Rendering['textFile'];
}

async function textOf({ text = '' }: Message, budget: number, options: RenderOptions): Promise<RenderedText> {
  if (options.firstOnly && text.length > LIMITS.streamFrom)
    return { shown: await headOf(text, options), below: [] };
  const maxParts = options.inThread ? LIMITS.threadParts : LIMITS.textParts;
  // Avoids rendering text that is certainly too long.
  const tooLong = text.length > maxParts * LIMITS.partCharacters;
  const shownText = tooLong ? text.slice(0, wholeCharacters(text, budget)) : text;
  const pieces = await textBlocks(shownText, budget, options);
  const [beginning] = pieces;
  if (beginning !== undefined && (tooLong || pieces.length > maxParts)) {
    const shown = [beginning, contextBlock('The full text is attached.')];
    return { shown, below: [], textFile: text };
  }
  if (!options.inThread || text.length <= LIMITS.streamFrom) return { shown: pieces, below: [] };
  return {
    shown: await headOf(text, options),
    below: pieces.map((piece) => ({ text: summaryOf({ text }, options), blocks: [piece] })),
  };
}

/** The beginning of a text that is in the thread, for the channel. Parses only as much as needed. */
async function headOf(text: string, options: RenderOptions): Promise<types.KnownBlock[]> {
  const near = text.slice(0, wholeCharacters(text, LIMITS.beginning * 4));
  const [head] = await textBlocks(near, LIMITS.beginning, options);
  return [...(head === undefined ? [] : [head]), contextBlock('The rest is in the thread.')];
}

/** Fills parts in order. `last` ends the first part, so that the buttons are below it. */
function pack(
  blocks: readonly types.KnownBlock[],
  last: readonly types.KnownBlock[],
  budget: number,
): types.KnownBlock[][] {
  const first: types.KnownBlock[] = [];
  const parts = [first];
  let part = first;
  let charactersLeft = budget - weightOf(last);
  let blocksLeft = LIMITS.blocks - last.length;
  for (const block of blocks) {
    const weight = weightOf(block);
    if (part.length > 0 && (weight > charactersLeft || part.length >= blocksLeft)) {
      part = [];
      parts.push(part);
      charactersLeft = budget;
      blocksLeft = LIMITS.blocks;
    }
    part.push(block);
    charactersLeft -= weight;
  }
  first.push(...last);
  return parts;
}

/** The characters that Slack counts in a block. */
function weightOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [key, inner]) => {
    const counts = typeof inner === 'string' && (key === 'text' || key === 'alt_text');
    return sum + (counts ? inner.length : weightOf(inner));
  }, 0);
}
