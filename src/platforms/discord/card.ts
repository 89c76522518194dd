/** A message's title, facts, progress and covers as embeds. What does not fit is handed back as text. */
import type { APIEmbed, APIEmbedField } from 'discord.js';
import type { Message, Progress } from '../../message.ts';
import { type Block, plainBlock, smallPrintBlock } from './blocks.ts';
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
  /** Finished Markdown that begins the description: how far the work is. */
  readonly head: string;
  /** What was too long for the embed, to stand before and after the message's text. */
  readonly before: readonly Block[];
  readonly after: readonly Block[];
}

/** Discord draws fields beside each other; together they leave the description room. */
const ALL_FIELDS = 2_400;
/** Characters of a line that stand beside another field without being broken. */
const LONGEST_BESIDE = 40;
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
  const before: Block[] = [];
  const after: Block[] = [];
  const [cover, ...further] = covers.slice(0, MOST_COVERS);
  const embed: APIEmbed = {
    ...titleOf(message.title, before),
    ...fieldsOf(message, after),
    ...footerOf(message.footer, after),
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
    head: headOf(message.progress, before),
    before,
    after,
    room: Math.min(LIMITS.embedDescription, LIMITS.embedsTotal - used),
  };
}

/** The same facts as text, where there is no card. */
export function plainCard(message: Message): Pick<Card, 'before' | 'after'> {
  return {
    before: [
      ...(message.title?.trim() ? [plainBlock(message.title, ['**'])] : []),
      ...(message.progress?.stage.trim() ? [plainBlock(message.progress.stage)] : []),
    ],
    after: [
      ...(message.fields ?? []).map(({ name, value }) => plainBlock(`${name}: ${value}`, [], true)),
      ...(message.footer?.trim() ? [smallPrintBlock(message.footer)] : []),
    ],
  };
}

/** What counts towards the 6000 characters of a message's embeds. */
const charactersOf = (embed: APIEmbed): number =>
  (embed.title?.length ?? 0) +
  (embed.description?.length ?? 0) +
  (embed.footer?.text.length ?? 0) +
  (embed.fields ?? []).reduce((sum, field) => sum + field.name.length + field.value.length, 0);

function titleOf(title: string | undefined, before: Block[]): Pick<APIEmbed, 'title'> {
  const escaped = escapePlain(title?.trim() ?? '');
  if (escaped === '') return {};
  if (escaped.length <= LIMITS.embedTitle) return { title: escaped };
  before.push(plainBlock(title ?? '', ['**']));
  return {};
}

function fieldsOf(message: Message, after: Block[]): Pick<APIEmbed, 'fields'> {
  const fields: APIEmbedField[] = [];
  let used = 0;
  for (const { name, value } of message.fields ?? []) {
    const field = {
      name: escapePlain(name.trim()) || '…',
      value: escapePlain(value.trim()) || '…',
      inline: value.split('\n').every((line) => line.length <= LONGEST_BESIDE),
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
    } else after.push(plainBlock(name, ['**']), plainBlock(value, [], true));
  }
  return fields.length > 0 ? { fields } : {};
}

function footerOf(footer: string | undefined, after: Block[]): Pick<APIEmbed, 'footer'> {
  // A footer reads no Markdown.
  const text = deadenMentions(footer?.trim() ?? '');
  if (text === '') return {};
  if (text.length <= LIMITS.embedFooter / 2) return { footer: { text } };
  after.push(smallPrintBlock(footer ?? ''));
  return {};
}

const LONGEST_STAGE = 500;

function headOf(progress: Progress | undefined, before: Block[]): string {
  if (!progress) return '';
  const stage = escapeText(progress.stage.replace(/\s+/g, ' ').trim(), true);
  if (stage.length > LONGEST_STAGE) before.unshift(plainBlock(progress.stage));
  return [stage.length > LONGEST_STAGE ? '' : stage, progressLine(progress)].filter(Boolean).join('\n');
}

/** Discord counts the time since the start by itself, so a card need not be edited for it. */
function progressLine(progress: Progress): string {
  const seconds = Math.max(0, Math.floor(progress.startedAt / 1_000));
  const parts = [
    ...(Number.isSafeInteger(seconds) && seconds < 1e11 ? [`Started <t:${seconds}:R>`] : []),
    ...(progress.queuePlace === undefined ? [] : [`place ${progress.queuePlace} in the queue`]),
    ...(progress.estimateMs === undefined ? [] : [`usually takes ${duration(progress.estimateMs)}`]),
  ];
  return parts.join(' · ');
}

function duration(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1_000));
  if (seconds < 90) return `about ${seconds} s`;
  return `about ${Math.round(seconds / 60)} min`;
}
