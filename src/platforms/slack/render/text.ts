/** Renders text blocks: the mention, the title, the progress and the text. */
import type { types } from '@slack/bolt';
import type { Message } from '../../../core/message.ts';
import { capitalised, ellipsis } from '../../../core/util/words.ts';
import { progressFacts, stageText } from '../../shared/progress.ts';
import { splitPlain, wholeCharacters } from '../../shared/text.ts';
import { LIMITS } from '../limits.ts';
import { escapeMrkdwn, mrkdwn, plainText, splitMrkdwn } from './escape.ts';
import { plainOfMarkdown, plainPieces, slackMarkdown } from './markdown.ts';

export function mentionBlocks(message: Message, { person }: { readonly person: string }): types.KnownBlock[] {
  if (!message.notify) return [];
  return [{ type: 'context', elements: [mrkdwn(`<@${escapeMrkdwn(person)}>`)] }];
}

export function titleBlocks(title: string | undefined): types.KnownBlock[] {
  if (title === undefined || title.trim() === '') return [];
  if (title.length <= LIMITS.headerText)
    return [{ type: 'header', text: plainText(title, LIMITS.headerText) }];
  return splitPlain(title, LIMITS.sectionText).map(plainSection);
}

function time(word: string, milliseconds: number, format: '{time}' | '{time_secs}'): string[] {
  const seconds = Math.floor(milliseconds / 1000);
  if (!Number.isSafeInteger(seconds) || seconds <= 0) return [];
  const date = new Date(milliseconds);
  const fallback = Number.isNaN(date.getTime()) ? 'just now' : `${date.toISOString().slice(11, 16)} UTC`;
  return [`${word} <!date^${seconds}^${format}|${fallback}>`];
}

/** A time in the reader's zone. `fallback` is for clients that cannot show it. */
export function dateAndTime(milliseconds: number, fallback: string): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (!Number.isSafeInteger(seconds) || seconds <= 0) return escapeMrkdwn(fallback);
  return `<!date^${seconds}^{date_short_pretty}, {time}|${escapeMrkdwn(fallback.replaceAll('|', ' '))}>`;
}

export function progressBlocks(message: Message): types.KnownBlock[] {
  const { progress } = message;
  if (!progress) return [];
  const facts = [
    escapeMrkdwn(ellipsis(stageText(message), MAX_STAGE)),
    ...progressFacts(progress, (word, at) => time(word, at, word === 'until' ? '{time_secs}' : '{time}')),
  ];
  const shown = capitalised(facts.filter((fact) => fact !== '').join(' · '));
  return [{ type: 'context', elements: [mrkdwn(`:hourglass_flowing_sand: ${shown}`)] }];
}

export interface TextOptions {
  /** Uses plain text only. */
  readonly bare?: boolean;
}

/** Renders text as markdown blocks, or as plain text with `bare`. */
export async function textBlocks(
  text: string,
  budget: number,
  { bare = false }: TextOptions,
): Promise<types.KnownBlock[]> {
  if (text === '') return [];
  if (bare) return (await plainPieces(text, LIMITS.sectionText)).map(plainSection);
  // Leaves space for the title and buttons.
  const pieces = await slackMarkdown(text, Math.floor(budget * 0.8));
  return pieces.map((piece) => ({ type: 'markdown', text: piece }));
}

const plainSection = (piece: string): types.KnownBlock => ({
  type: 'section',
  text: plainText(piece, LIMITS.sectionText),
});

const MAX_STAGE = 300;
/** The characters of Markdown to summarise. */
const SUMMARY_SOURCE = 500;

/** The text of notifications and screen readers, as mrkdwn. */
export function summaryOf(message: Message, { person }: { readonly person: string }): string {
  const mention = message.notify ? `<@${escapeMrkdwn(person)}> ` : '';
  const beginning = message.text?.slice(0, wholeCharacters(message.text, SUMMARY_SOURCE));
  const text = beginning === undefined ? undefined : plainOfMarkdown(beginning);
  // Screen readers read this instead of the blocks, so it includes the fields.
  const fields = (message.fields ?? []).map(({ name, value }) => `${name}: ${value}`);
  // File names are not helpful here.
  const media = (message.media ?? []).map(({ alt, caption }) => alt?.trim() || caption?.trim());
  const facts = [message.title, stageText(message), text, ...fields, ...media, message.footer];
  const known = facts.filter((fact) => fact !== undefined && fact.trim() !== '');
  const [first] = splitMrkdwn([...new Set(known)].join(' · '), LIMITS.fallbackText);
  return `${mention}${first ?? '…'}`;
}
