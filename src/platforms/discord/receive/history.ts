/** Reads the conversation before a question. */
import type { BaseInteraction } from 'discord.js';
import { z } from 'zod';
import type { ConversationTurn, HistoryReference } from '../../../core/invocation.ts';
import { parseActionId } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { PlatformError } from '../../platform.ts';
import { isEmptyMessage } from '../../shared/question.ts';
import { type Guilds, isThread } from '../connection/guilds.ts';
import { ZERO_WIDTH_SPACE } from '../render/escape.ts';
import { allComponents, type ContentTools, contentOf } from './content.ts';
import { type Component, type IncomingMessage, incomingMessageSchema } from './incoming-message.ts';
import type { Messages } from './message-memory.ts';

/** Message types in a conversation: messages, replies, and answers to slash commands and message menus. */
const CONVERSATION_TYPES: ReadonlySet<number> = new Set([0, 19, 20, 23]);
/** The first message of a thread that was opened on a message. It refers to that message. */
const THREAD_STARTER = 21;
/** One request returns all of them. */
const MAX_TURNS = 50;
const MAX_CHAIN_LENGTH = 20;

/** Either the latest messages before one, or a message and the chain of its replies. `self` is the bot's user id. */
const referenceSchema = z.object({
  channel: z.string(),
  self: z.string(),
  before: z.string().optional(),
  reply: z.string().optional(),
});
type Reference = z.infer<typeof referenceSchema>;

/**
 * Returns the latest messages in threads and direct messages, and the chain of replies elsewhere and for a reply in a
 * direct message. Undefined if there are no earlier messages.
 */
export function historyOfMessage(
  {
    id: before,
    guild_id: guild,
    channel_id: channel,
    channel_type: type,
    message_reference,
  }: IncomingMessage,
  self: string,
): HistoryReference | undefined {
  const reply = message_reference?.message_id;
  if (isThread(type) || (guild === undefined && reply === undefined))
    return { channel, self, before } satisfies Reference;
  const isHere = (message_reference?.channel_id ?? channel) === channel;
  return reply === undefined || !isHere ? undefined : ({ channel, self, reply } satisfies Reference);
}

/** Returns the latest messages of a thread, or undefined elsewhere. */
export function historyOfInteraction(
  { id: before, channel }: BaseInteraction,
  self: string,
): HistoryReference | undefined {
  return channel?.isThread() ? ({ channel: channel.id, self, before } satisfies Reference) : undefined;
}

const NO_HISTORY =
  "I couldn't read the earlier messages here. Ask a moderator to grant me Read Message History.";

/** See Platform.readHistory. */
export async function readDiscordHistory(
  history: HistoryReference,
  {
    messages,
    guilds,
  }: {
    readonly messages: Messages;
    readonly guilds: ContentTools['guilds'] & Pick<Guilds, 'canReadHistory'>;
  },
): Promise<ConversationTurn[]> {
  const { data: reference } = referenceSchema.safeParse(history);
  if (!reference) return [];
  const { self, before } = reference;
  const found =
    before === undefined
      ? await chainOf(reference, messages)
      : await latest({ ...reference, before }, messages);
  // Without the permission, Discord returns an empty list.
  if (found.length === 0 && guilds.canReadHistory(reference.channel) === false)
    throw new PlatformError('refused', 'The bot may not read the message history', { advice: NO_HISTORY });
  return found.flatMap((message) => turnOf(message, { guilds, self }));
}

async function latest(
  { channel, before }: Pick<Reference, 'channel'> & { readonly before: string },
  messages: Messages,
): Promise<IncomingMessage[]> {
  const found = await messages.latest(channel, before, MAX_TURNS);
  const [first, ...rest] = found;
  if (first?.type !== THREAD_STARTER) return found;
  const { message_id: id, channel_id: parent = channel } = first.message_reference ?? {};
  const starter = id === undefined ? undefined : await messages.read(parent, id);
  return starter ? [starter, ...rest] : rest;
}

async function chainOf({ channel, reply }: Reference, messages: Messages): Promise<IncomingMessage[]> {
  const chain: IncomingMessage[] = [];
  for (let next = reply; next !== undefined && chain.length < MAX_CHAIN_LENGTH; ) {
    const found = await messages.read(channel, next);
    if (!found) break;
    chain.unshift(found);
    const { message_id: id, channel_id: parent = channel } = found.message_reference ?? {};
    next = parent === channel ? id : undefined;
  }
  return chain;
}

/** Returns the message that this one replies to, if Discord included it and it is in the same channel. */
export function repliedMessage({
  message_reference: reference,
  referenced_message: data,
  guild_id,
  channel_id: channel,
  channel_type,
}: IncomingMessage): IncomingMessage | undefined {
  if (reference?.message_id === undefined || (reference.channel_id ?? channel) !== channel) return undefined;
  const found = incomingMessageSchema.safeParse(data).data;
  return found && { ...found, guild_id, channel_type };
}

/** Returns an empty list for a message whose text Discord hides without the Message Content Intent. */
function turnOf(message: IncomingMessage, tools: ContentTools): ConversationTurn[] {
  const { author, type, components, interaction_metadata: interaction } = message;
  if (!CONVERSATION_TYPES.has(type)) return [];
  if (author.id === tools.self) {
    const { attachments: files } = message;
    const job = jobOf(components);
    const answers = interaction?.id ?? message.message_reference?.message_id;
    const text = textOfBot(message);
    const isEmpty = text === '' && files.length === 0 && job === undefined && answers === undefined;
    return isEmpty ? [] : [{ author: 'bot', text, files, ...present({ job, answers }) }];
  }
  const content = contentOf(message, tools);
  if (isEmptyMessage(content)) return [];
  const name = author.global_name ?? author.username;
  return [{ author: 'person', name, person: author.id, ...content }];
}

/** Returns the job of the first button. */
function jobOf(components: readonly Component[]): string | undefined {
  return allComponents(components)
    .flatMap(({ custom_id: id }) => parseActionId(id ?? '') ?? [])
    .at(0)?.job;
}

/** Returns the text of the bot's message without the small print, which is only for people. */
export function textOfBot({
  content,
  embeds,
}: Pick<IncomingMessage, 'content'> & {
  readonly embeds: readonly Pick<IncomingMessage['embeds'][number], 'title' | 'description'>[];
}): string {
  return [content, ...embeds.flatMap(({ title, description }) => [title, description])]
    .flatMap((text = '') => text.replaceAll(ZERO_WIDTH_SPACE, '').split('\n'))
    .filter((line) => !line.startsWith('-# '))
    .join('\n')
    .trim();
}
