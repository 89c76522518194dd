/** What was said before, read back from Discord as it was meant; what cannot be read is left out. */
import type { BaseInteraction } from 'discord.js';
import type { ConversationTurn } from '../../../core/invocation.ts';
import { parseActionId } from '../../../core/message.ts';
import { unescapeOutsideCode } from '../../shared/markdown/unescape.ts';
import { isThread } from '../connection/guilds.ts';
import { troubleOf } from '../errors.ts';
import { ZERO_WIDTH_SPACE } from '../render/escape.ts';
import { type IncomingMessage, incomingMessageSchema } from './interaction.ts';
import type { ReceivingTools } from './tools.ts';

type HistoryTools = Pick<ReceivingTools, 'rest' | 'log'>;
type SpokenMessage = Pick<IncomingMessage, 'content' | 'embeds' | 'components'>;

/** The command that answers. */
export const ASK = 'ask';
/** Messages of people and of the bot: a message, a reply, and the answers to commands and to menus. */
const SAID_TYPES: ReadonlySet<number> = new Set([0, 19, 20, 23]);
/** The first message of a thread that was opened at a message: it refers to that message. */
const THREAD_STARTER = 21;
/** One request gives them all. */
const MOST_TURNS = 50;
/** Each is a request, or two. */
const LONGEST_CHAIN = 20;
/** More than an answer takes, with what else is said meanwhile. */
const MOST_PAGES = 10;

/**
 * In threads and direct messages, the latest messages; elsewhere, and for a reply in a direct message, the chain of
 * replies. Never rejects.
 * @param self the bot's own user id
 */
export async function historyOfMessage(
  message: IncomingMessage,
  self: string,
  tools: HistoryTools,
): Promise<ConversationTurn[]> {
  const { guild_id: guild, channel_id: channel, channel_type: type, message_reference: reference } = message;
  const isTalk = isThread(type) || (guild === undefined && !reference);
  return turnsOf(
    await (isTalk ? latest(channel, message.id, tools) : replyChain(message, self, tools)),
    self,
  );
}

/** The latest messages of a thread; nothing elsewhere. Never rejects. */
export async function historyOfInteraction(
  { id, channel }: BaseInteraction,
  { self, ...tools }: HistoryTools & Pick<ReceivingTools, 'self'>,
): Promise<ConversationTurn[]> {
  return channel?.isThread() ? turnsOf(await latest(channel.id, id, tools), self) : [];
}

/** The message that this one replies to, in the same channel; undefined when there is none to read. Never rejects. */
export async function repliedTo(
  { message_reference: reference, referenced_message: told, ...message }: IncomingMessage,
  tools: HistoryTools,
): Promise<IncomingMessage | undefined> {
  const { guild_id, channel_id: channel, channel_type } = message;
  if (reference?.message_id === undefined || (reference.channel_id ?? channel) !== channel) return undefined;
  const found =
    incomingMessageSchema.safeParse(told).data ?? (await readMessage(channel, reference.message_id, tools));
  return found && { ...found, guild_id, channel_type };
}

/** Undefined for a message that was deleted, or that the bot may not read. Never rejects. */
export async function readMessage(
  channel: string,
  id: string,
  { rest, log }: HistoryTools,
): Promise<IncomingMessage | undefined> {
  try {
    return incomingMessageSchema.safeParse(await rest.message(channel, id)).data;
  } catch (error) {
    log.info({ err: error, trouble: troubleOf(error) }, 'A message that was said before cannot be read');
    return undefined;
  }
}

/** Oldest first. */
async function list(request: Promise<unknown>, { log }: HistoryTools): Promise<IncomingMessage[]> {
  try {
    const found = await request;
    if (!Array.isArray(found)) return [];
    return found.flatMap((one) => incomingMessageSchema.safeParse(one).data ?? []).reverse();
  } catch (error) {
    log.warn({ err: error, trouble: troubleOf(error) }, 'What was said before cannot be read');
    return [];
  }
}

/** @param before any id that Discord gave; ids grow with time */
async function latest(channel: string, before: string, tools: HistoryTools): Promise<IncomingMessage[]> {
  const messages = await list(tools.rest.messages(channel, { before }, MOST_TURNS), tools);
  const [first, ...others] = messages;
  if (first?.type !== THREAD_STARTER) return messages;
  const { message_id: id, channel_id: parent = channel } = first.message_reference ?? {};
  const starter = id === undefined ? undefined : await readMessage(parent, id, tools);
  return starter ? [starter, ...others] : others;
}

async function replyChain(
  message: IncomingMessage,
  self: string,
  tools: HistoryTools,
): Promise<IncomingMessage[]> {
  const before: IncomingMessage[] = [];
  let found = await repliedTo(message, tools);
  for (let length = 0; found && length < LONGEST_CHAIN; length += 1) {
    before.unshift(found, ...(await pagesAfter(found, self, tools)));
    found = await repliedTo(found, tools);
  }
  return before;
}

/** The further messages of an answer, up to the one with its buttons; none for other messages. */
async function pagesAfter(
  { id: after, channel_id: channel, author, components }: IncomingMessage,
  self: string,
  tools: HistoryTools,
): Promise<IncomingMessage[]> {
  if (author.id !== self || components.length > 0) return [];
  const next = await list(tools.rest.messages(channel, { after }, MOST_PAGES), tools);
  const last = next.findIndex((one) => one.author.id !== self || one.components.length > 0);
  const end = next[last];
  return end?.author.id === self && answerJob(end) !== undefined ? next.slice(0, last + 1) : [];
}

/** The messages of the bot before `message` that are its beginning, where an answer took several. Never rejects. */
export async function pagesBefore(
  { id: before, channel, self }: { id: string; channel: string; self: string },
  tools: HistoryTools,
): Promise<IncomingMessage[]> {
  const messages = await list(tools.rest.messages(channel, { before }, MOST_PAGES), tools);
  const other = messages.findLastIndex((one) => one.author.id !== self || one.components.length > 0);
  return messages.slice(other + 1);
}

/** An answer of several messages, the last with its buttons, is one turn. */
function turnsOf(messages: readonly IncomingMessage[], self: string): ConversationTurn[] {
  const turns: ConversationTurn[] = [];
  let pages: ConversationTurn[] = [];
  for (const message of messages) {
    const job = message.author.id === self ? answerJob(message) : undefined;
    const turn = turnOf(message, self);
    if (job !== undefined) {
      const all = [...pages, ...turn];
      const text = all.map((page) => page.text).join('\n\n');
      turns.push({ author: 'bot', text, files: all.flatMap(({ files }) => files), job });
      pages = [];
    } else if (message.author.id === self && message.components.length === 0) {
      pages.push(...turn);
    } else {
      turns.push(...pages, ...turn);
      pages = [];
    }
  }
  return [...turns, ...pages];
}

/** None for a message whose words Discord hides from a bot without the message content intent. */
function turnOf(message: IncomingMessage, self: string): ConversationTurn[] {
  const isBot = message.author.id === self;
  if (!SAID_TYPES.has(message.type)) return [];
  const text = isBot ? textOfBot(message) : textOfPerson(message, self);
  const { attachments: files } = message;
  if (text === '' && files.length === 0) return [];
  const name = message.author.global_name ?? message.author.username;
  return [{ author: isBot ? 'bot' : 'person', name, person: message.author.id, text, files }];
}

/** The job of an answer, which its buttons name. */
function answerJob({ components }: Pick<SpokenMessage, 'components'>): string | undefined {
  return components
    .flatMap((row) => row.components)
    .map(({ custom_id: id }) => parseActionId(id ?? ''))
    .find((action) => action?.command === ASK)?.job;
}

/** Without the mentions of the bot. */
export const textOfPerson = ({ content }: Pick<IncomingMessage, 'content'>, self: string): string =>
  content
    .replace(new RegExp(`<@!?${self}>`, 'g'), '')
    .replaceAll(ZERO_WIDTH_SPACE, '')
    .trim();

/** Text and card as Markdown, without the small print that is for people alone. The title of an answer is its question. */
function textOfBot(message: SpokenMessage): string {
  const isAnswer = answerJob(message) !== undefined;
  const embedded = message.embeds.flatMap(({ title, description }) => [isAnswer ? '' : title, description]);
  return [message.content, ...embedded]
    .map((text) => unescapeMarkdown(withoutSmallPrint(text ?? '')))
    .filter(Boolean)
    .join('\n\n');
}

/** What a message of the bot begins with. */
export function openingLine({ content, embeds }: Pick<SpokenMessage, 'content' | 'embeds'>): string {
  const [title = ''] = [content, ...embeds.flatMap((embed) => [embed.title, embed.description])]
    .map((text) => unescapeMarkdown(withoutSmallPrint(text ?? '')))
    .filter(Boolean);
  return title.split('\n')[0] ?? '';
}

function withoutSmallPrint(text: string): string {
  return text
    .replaceAll(ZERO_WIDTH_SPACE, '')
    .split('\n')
    .filter((line) => !line.startsWith('-# '))
    .join('\n')
    .trim();
}

/** Emphasis becomes `_`, the sign that no list and no bold text begins with. */
const unescapeMarkdown = (markdown: string): string =>
  unescapeOutsideCode(markdown, (text) =>
    text.replace(/(?<![\\*\w])\*(?![*\s])((?:\\.|[^*\\])+?)(?<!\s)\*(?![*\w])/g, '_$1_'),
  );
