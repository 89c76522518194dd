/** Renders a message's title, fields, progress and covers as embeds. Returns what does not fit as text. */
import type { APIEmbed, APIEmbedField } from 'discord.js';
import { BRAND_COLOUR, COLOURS } from '../../../core/brand.ts';
import type { Message, Progress } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { capitalised, ellipsis } from '../../../core/util/words.ts';
import type { Block } from '../../shared/markdown/blocks.ts';
import { titleTarget } from '../../shared/markdown/tree.ts';
import { progressFacts, stageText } from '../../shared/progress.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { disableMentions, escapePlain, safeUrl } from './escape.ts';
import { plainBlock, plainLine, smallPrintBlock } from './markdown.ts';

export interface Cover {
  readonly url: string;
  /** Plain text. */
  readonly alt: string;
}

export interface Card {
  readonly embed: APIEmbed;
  /** Covers after the first, each in its own embed. */
  readonly covers: APIEmbed[];
  /** Characters left for the description. */
  readonly space: number;
  /** The progress, as Markdown at the start of the description. */
  readonly head: string;
  /** Parts that were too long for the embed, to show before and after the message's text. */
  readonly before: readonly Block[];
  readonly after: readonly Block[];
}

/** The limit for all fields together, so that the description has space. */
const MAX_FIELDS_LENGTH = 2_400;
/** Longer lines would wrap in a field beside another. */
const MAX_INLINE_LENGTH = 40;
const MAX_STAGE_LENGTH = 500;
const COVER_TEXT_LENGTH = 50;
const ACCENT = numberOf(BRAND_COLOUR);
const FAILURE = numberOf(COLOURS.danger[0]);

export const hasCard = (message: Message): boolean =>
  message.title !== undefined ||
  message.footer !== undefined ||
  message.progress !== undefined ||
  (message.fields?.length ?? 0) > 0 ||
  (message.media?.some((item) => item.cover) ?? false);

function numberOf(colour: string): number {
  return Number.parseInt(colour.slice(1), 16);
}

export function renderCard(message: Message, covers: readonly Cover[]): Card {
  const before: Block[] = [];
  const after: Block[] = [];
  const [cover, ...further] = covers.slice(0, DISCORD_LIMITS.embeds);
  const embed: APIEmbed = {
    ...titleOf(message, before),
    ...fieldsOf(message, after),
    ...footerOf(message.footer, after),
    ...present({ image: cover && { url: cover.url } }),
    color: message.isFailure ? FAILURE : ACCENT,
  };
  const moreCovers = further.map(({ url, alt }) => ({
    description: escapePlain(ellipsis(alt, COVER_TEXT_LENGTH / 2)) || '…',
    thumbnail: { url },
    color: ACCENT,
  }));
  const used = [embed, ...moreCovers].reduce((sum, one) => sum + charactersOf(one), 0);
  const space = Math.min(DISCORD_LIMITS.embedDescription, DISCORD_LIMITS.embedsTotal - used);
  return { embed, covers: moreCovers, head: headOf(message, before), before, after, space };
}

/** Renders the same parts as text, for messages without a card. */
export function plainCard(message: Message): Pick<Card, 'before' | 'after'> {
  return {
    before: [
      ...(message.title?.trim() ? [plainBlock(message.title, ['**'])] : []),
      ...(stageText(message) ? [plainBlock(stageText(message))] : []),
    ],
    after: [
      ...(message.fields ?? []).map(({ name, value }) => plainLine(`${name}: ${value}`)),
      ...(message.footer?.trim() ? [smallPrintBlock(message.footer)] : []),
    ],
  };
}

/** Returns the characters that count towards the limit of 6,000 for a message's embeds. */
const charactersOf = (embed: APIEmbed): number =>
  (embed.title?.length ?? 0) +
  (embed.description?.length ?? 0) +
  (embed.footer?.text.length ?? 0) +
  (embed.fields ?? []).reduce((sum, field) => sum + field.name.length + field.value.length, 0);

function titleOf(message: Message, before: Block[]): Pick<APIEmbed, 'title' | 'url'> {
  const { title } = message;
  const target = titleTarget(message);
  const escaped = escapePlain(title?.trim() ?? '');
  if (escaped === '') return {};
  const url = target === undefined ? undefined : safeUrl(target);
  if (escaped.length <= DISCORD_LIMITS.embedTitle) return present({ title: escaped, url });
  before.push(plainBlock(title ?? '', ['**']));
  return {};
}

function fieldsOf(message: Message, after: Block[]): Pick<APIEmbed, 'fields'> {
  const fields: APIEmbedField[] = [];
  let used = 0;
  for (const { name, value, at } of message.fields ?? []) {
    const [time] = at === undefined ? [] : timestamp('', at, 'F');
    const field = {
      name: escapePlain(name.trim()) || '…',
      value: time?.trim() ?? (escapePlain(value.trim()) || '…'),
      inline: value.split('\n').every((line) => line.length <= MAX_INLINE_LENGTH),
    };
    const length = field.name.length + field.value.length;
    const fits =
      fields.length < DISCORD_LIMITS.embedFields &&
      field.name.length <= DISCORD_LIMITS.embedFieldName &&
      field.value.length <= DISCORD_LIMITS.embedFieldValue &&
      used + length <= MAX_FIELDS_LENGTH;
    if (fits) {
      fields.push(field);
      used += length;
    } else after.push(plainBlock(name, ['**']), plainLine(value));
  }
  return fields.length > 0 ? { fields } : {};
}

function footerOf(footer: string | undefined, after: Block[]): Pick<APIEmbed, 'footer'> {
  // Discord does not read Markdown in footers.
  const text = disableMentions(footer?.trim() ?? '');
  if (text === '') return {};
  if (text.length <= DISCORD_LIMITS.embedFooter / 2) return { footer: { text } };
  after.push(smallPrintBlock(footer ?? ''));
  return {};
}

function headOf(message: Message, before: Block[]): string {
  const { progress } = message;
  if (!progress) return '';
  const stage = stageText(message).replace(/\s+/g, ' ');
  const shown = escapePlain(stage);
  const isLong = shown.length > MAX_STAGE_LENGTH;
  if (isLong) before.unshift(plainBlock(stage));
  return [isLong || shown === '' ? '' : `**${shown}**`, progressLine(progress)].filter(Boolean).join('\n');
}

/** Discord updates the time since the start, so the card does not have to be edited for it. */
function progressLine(progress: Progress): string {
  const line = progressFacts(progress, (word, at) => timestamp(word, at, word === 'until' ? 'T' : 'R')).join(
    ' · ',
  );
  return line === '' ? '' : `-# ${capitalised(line)}`;
}

function timestamp(word: string, milliseconds: number, style: 'F' | 'R' | 'T'): string[] {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  return Number.isSafeInteger(seconds) && seconds < 1e11 ? [`${word} <t:${seconds}:${style}>`] : [];
}
