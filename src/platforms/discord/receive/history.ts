/** What was said before a question: which messages of Discord these are, and their words. */
import type { BaseInteraction } from 'discord.js';
import { z } from 'zod';
import type { ConversationTurn, HistoryReference } from '../../../core/invocation.ts';
import { parseActionId } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { isBare } from '../../shared/question.ts';
import { isThread } from '../connection/guilds.ts';
import { ZERO_WIDTH_SPACE } from '../render/escape.ts';
import { type ContentTools, contentOf, everyComponent } from './content.ts';
import { type Component, type IncomingMessage, incomingMessageSchema } from './incoming-message.ts';
import type { Messages } from './message-memory.ts';

/** Messages of people and of the bot: a message, a reply, and the answers to commands and to menus. */
const SAID_TYPES: ReadonlySet<number> = new Set([0, 19, 20, 23]);
/** The first message of a thread that was opened at a message: it refers to that message. */
const THREAD_STARTER = 21;
/** One request gives them all. */
const MOST_TURNS = 50;
const LONGEST_CHAIN = 20;

/** The latest messages before one, or a message and the chain of what it replies to. `self` is the bot's own user id. */
const referenceSchema = z.object({
  channel: z.string(),
  self: z.string(),
  before: z.string().optional(),
  reply: z.string().optional(),
});
type Reference = z.infer<typeof referenceSchema>;

/**
 * In threads and direct messages, the latest messages; elsewhere, and for a reply in a direct message, the chain of
 * replies. Undefined where nothing was said before.
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

/** The latest messages of a thread; undefined elsewhere. */
export function historyOfInteraction(
  { id: before, channel }: BaseInteraction,
  self: string,
): HistoryReference | undefined {
  return channel?.isThread() ? ({ channel: channel.id, self, before } satisfies Reference) : undefined;
}

/** See Platform.readHistory. */
export async function readDiscordHistory(
  history: HistoryReference,
  { messages, guilds }: Pick<ContentTools, 'guilds'> & { readonly messages: Messages },
): Promise<ConversationTurn[]> {
  const { data: reference } = referenceSchema.safeParse(history);
  if (!reference) return [];
  const { self, before } = reference;
  const found =
    before === undefined
      ? await chainOf(reference, messages)
      : await latest({ ...reference, before }, messages);
  return found.flatMap((message) => turnOf(message, { guilds, self }));
}

async function latest(
  { channel, before }: Pick<Reference, 'channel'> & { readonly before: string },
  messages: Messages,
): Promise<IncomingMessage[]> {
  const found = await messages.latest(channel, before, MOST_TURNS);
  const [first, ...others] = found;
  if (first?.type !== THREAD_STARTER) return found;
  const { message_id: id, channel_id: parent = channel } = first.message_reference ?? {};
  const starter = id === undefined ? undefined : await messages.read(parent, id);
  return starter ? [starter, ...others] : others;
}

async function chainOf({ channel, reply }: Reference, messages: Messages): Promise<IncomingMessage[]> {
  const chain: IncomingMessage[] = [];
  for (let next = reply; next !== undefined && chain.length < LONGEST_CHAIN; ) {
    const found = await messages.read(channel, next);
    if (!found) break;
    chain.unshift(found);
    const { message_id: id, channel_id: where = channel } = found.message_reference ?? {};
    next = where === channel ? id : undefined;
  }
  return chain;
}

/** The message that this one replies to, in the same channel, where Discord tells it along. */
export function repliedTo({
  message_reference: reference,
  referenced_message: told,
  guild_id,
  channel_id: channel,
  channel_type,
}: IncomingMessage): IncomingMessage | undefined {
  if (reference?.message_id === undefined || (reference.channel_id ?? channel) !== channel) return undefined;
  const found = incomingMessageSchema.safeParse(told).data;
  return found && { ...found, guild_id, channel_type };
}

/** None for a message whose words Discord hides from a bot without the message content intent. */
function turnOf(message: IncomingMessage, tools: ContentTools): ConversationTurn[] {
  const { author, type, components, interaction_metadata: interaction } = message;
  if (!SAID_TYPES.has(type)) return [];
  if (author.id === tools.self) {
    const { attachments: files } = message;
    const job = jobOf(components);
    const answers = interaction?.id ?? message.message_reference?.message_id;
    const text = textOfBot(message);
    const isNothing = text === '' && files.length === 0 && job === undefined && answers === undefined;
    return isNothing ? [] : [{ author: 'bot', text, files, ...present({ job, answers }) }];
  }
  const content = contentOf(message, tools);
  if (isBare(content)) return [];
  const name = author.global_name ?? author.username;
  return [{ author: 'person', name, person: author.id, ...content }];
}

/** The job that its buttons name. */
function jobOf(components: readonly Component[]): string | undefined {
  return everyComponent(components)
    .flatMap(({ custom_id: id }) => parseActionId(id ?? '') ?? [])
    .at(0)?.job;
}

/** What a message of the bot shows, without the small print that is for people alone. */
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
