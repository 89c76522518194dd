/** A message's title, facts, progress and covers as embeds. What does not fit is handed back as text. */
import type { APIEmbed, APIEmbedField } from 'discord.js';
import type { Message, Progress } from '../../message.ts';
import { type Block, plainBlock } from './blocks.ts';
import { deadenMentions, escapePlain, escapeText } from './escape.ts';
import { LIMITS } from './limits.ts';

export interface Cover {
  readonly url: string;
  /** Plain. */
  readonly alt: string;
}

export interface Card {
  readonly embed: APIEmbed;
  /** Covers after the first, each in an embed of its own. */
  readonly covers: APIEmbed[];
  /** How long a description the embed can still take. */
  readonly room: number;
  /** What was too long for the embed. */
  readonly overflow: Block[];
}

/** Discord draws fields beside each other; together they leave the description room. */
const ALL_FIELDS = 2_400;
const FURTHER_COVERS = 9;
const COVER_TEXT = 50;

/** Covers that a message can show; further pictures are attached. */
export const MOST_COVERS = 1 + FURTHER_COVERS;

export const hasCard = (message: Message): boolean =>
  message.title !== undefined ||
  message.footer !== undefined ||
  message.progress !== undefined ||
  (message.fields?.length ?? 0) > 0 ||
  (message.media?.some((item) => item.cover) ?? false);

export function renderCard(message: Message, covers: readonly Cover[]): Card {
  const overflow: Block[] = [];
  const [cover, ...further] = covers.slice(0, MOST_COVERS);
  const embed: APIEmbed = {
    ...titleOf(message.title, overflow),
    ...fieldsOf(message, overflow),
    ...footerOf(message.footer, overflow),
    ...(cover ? { thumbnail: { url: cover.url } } : {}),
  };
  const moreCovers = further.map(({ url, alt }) => ({
    description: escapePlain(alt.slice(0, COVER_TEXT / 2)).slice(0, COVER_TEXT) || '…',
    thumbnail: { url },
  }));
  const used = charactersOf(embed) + moreCovers.reduce((sum, one) => sum + charactersOf(one), 0);
  return {
    embed,
    covers: moreCovers,
    overflow,
    room: Math.min(LIMITS.embedDescription, LIMITS.embedsTotal - used),
  };
}

/** The same facts as text, for a channel where the bot may show no embeds. */
export function plainCard(message: Message): Block[] {
  return [
    ...(message.title?.trim() ? [plainBlock(message.title, ['**'])] : []),
    ...(message.progress ? [plainBlock(message.progress.stage)] : []),
    ...(message.fields ?? []).map(({ name, value }) => plainBlock(`${name}: ${value}`, [], true)),
    ...(message.footer?.trim() ? [plainBlock(message.footer)] : []),
  ];
}

/** What counts towards the 6000 characters of a message's embeds. */
export const charactersOf = (embed: APIEmbed): number =>
  (embed.title?.length ?? 0) +
  (embed.description?.length ?? 0) +
  (embed.footer?.text.length ?? 0) +
  (embed.fields ?? []).reduce((sum, field) => sum + field.name.length + field.value.length, 0);

function titleOf(title: string | undefined, overflow: Block[]): Pick<APIEmbed, 'title'> {
  const escaped = escapePlain(title?.trim() ?? '');
  if (escaped === '') return {};
  if (escaped.length <= LIMITS.embedTitle) return { title: escaped };
  overflow.push(plainBlock(title ?? '', ['**']));
  return {};
}

function fieldsOf(message: Message, overflow: Block[]): Pick<APIEmbed, 'fields'> {
  const fields: APIEmbedField[] = [];
  let used = 0;
  for (const { name, value } of message.fields ?? []) {
    const field = {
      name: escapePlain(name.trim()) || '…',
      value: escapePlain(value.trim()) || '…',
      inline: value.length <= 40,
    };
    const length = field.name.length + field.value.length;
    const fits =
      fields.length < LIMITS.embedFields &&
      field.name.length <= LIMITS.embedFieldName &&
      field.value.length <= LIMITS.embedFieldValue &&
      used + length <= ALL_FIELDS;
    if (fits) {
      fields.push(field);
      used += length;
    } else overflow.push(plainBlock(name, ['**']), plainBlock(value, [], true));
  }
  return fields.length > 0 ? { fields } : {};
}

function footerOf(footer: string | undefined, overflow: Block[]): Pick<APIEmbed, 'footer'> {
  // A footer reads no Markdown.
  const text = deadenMentions(footer?.trim() ?? '');
  if (text === '') return {};
  if (text.length <= LIMITS.embedFooter / 2) return { footer: { text } };
  overflow.push(plainBlock(footer ?? ''));
  return {};
}

/** Discord counts the time since the start by itself, so a card need not be edited for it. */
export function progressLine(progress: Progress): string {
  const seconds = Math.max(0, Math.floor(progress.startedAt / 1_000));
  const parts = [
    ...(Number.isSafeInteger(seconds) && seconds < 1e11 ? [`Started <t:${seconds}:R>`] : []),
    ...(progress.queuePlace === undefined ? [] : [`place ${progress.queuePlace} in the queue`]),
    ...(progress.estimateMs === undefined ? [] : [`usually takes ${duration(progress.estimateMs)}`]),
  ];
  return parts.join(' · ');
}

export const stageLine = (progress: Progress): string =>
  escapeText(progress.stage.replace(/\s+/g, ' ').trim(), true);

function duration(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1_000));
  if (seconds < 90) return `about ${seconds} s`;
  return `about ${Math.round(seconds / 60)} min`;
}
