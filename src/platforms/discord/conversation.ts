/** Mentions, replies to the bot and direct messages, as questions with what was said before. No privileged intent is needed. */
import type { Address, ConversationTurn, Invocation, Log, Person } from '../../command.ts';
import type { Message } from '../../message.ts';
import type { Bot } from '../platform.ts';
import { isThread, takesThreads } from './channel-types.ts';
import type { GatewayConnection } from './client.ts';
import { fileReferenceOf, type IncomingMessage, incomingMessageSchema } from './interaction.ts';
import { personOf } from './invocation.ts';
import { mutes } from './permissions.ts';
import type { DiscordRest } from './rest.ts';
import { spokenByBot } from './spoken.ts';

/** The command that answers, and its option for what was said. */
export const ASK = 'ask';
const QUESTION = 'question';
const IMAGE = 'image';
const MESSAGE_TYPES: ReadonlySet<number> = new Set([0, 19]);
/** What people and the bot say: a message, a reply, and the answers to commands and to menus. */
const SAID_TYPES: ReadonlySet<number> = new Set([0, 19, 20, 23]);
/** The first message of a thread that was opened at a message: it stands for that message. */
const THREAD_STARTER = 21;
/** One request gives them all. */
const MOST_TURNS = 50;
/** Each is a request. */
const LONGEST_CHAIN = 20;

export interface ConversationDependencies {
  readonly bot: Bot;
  readonly rest: DiscordRest;
  /** The bot's own user id. */
  readonly self: string;
  readonly log: Log;
  /** What is known of guilds that messages do not tell. */
  readonly guilds: Pick<GatewayConnection, 'parentOf' | 'moderates' | 'mayUseCommands' | 'lacking'>;
  readonly say: (address: Address, invocation: Invocation, outcome: { message: Message }) => Promise<void>;
}

/** Whether a message is meant for the bot. */
export function isAddressed(message: IncomingMessage, self: string): boolean {
  if (message.author.bot || message.webhook_id !== undefined || !MESSAGE_TYPES.has(message.type))
    return false;
  return message.guild_id === undefined || message.mentions.some((user) => user.id === self);
}

/** Answers a message that {@link isAddressed}. Never rejects. */
export async function converse(message: IncomingMessage, d: ConversationDependencies): Promise<void> {
  const command = d.bot.commands.find((candidate) => candidate.name === ASK);
  if (!command) return;
  if (!mayAsk(message, d)) {
    d.log.info({ channel: message.channel_id }, 'Somebody who may use no commands there was not answered');
    return;
  }
  const question = textOf(message, d.self);
  const image =
    command.options[IMAGE] && message.attachments.find((file) => file.content_type?.startsWith('image/'));
  const files = message.attachments.map(fileReferenceOf);
  if (question === '' && files.length === 0) return;
  showTyping(message, d);
  const invocation: Invocation = {
    id: message.id,
    command: ASK,
    options: {
      [QUESTION]: question || (image ? 'What is in this picture?' : 'What is in this file?'),
      ...(image ? { [IMAGE]: fileReferenceOf(image) } : {}),
    },
    address: addressOf(message, d),
    person: speakerOf(message, d),
    conversation: await earlier(message, d),
    ...(files.length > 0 ? { files } : {}),
  };
  const outcome = await d.bot.run(invocation);
  switch (outcome.type) {
    case 'accepted':
      return outcome.begin();
    case 'message':
      return await d.say(invocation.address, invocation, outcome);
    case 'form':
      return await d.say(invocation.address, invocation, {
        message: { text: `Please use /${ASK} for this.` },
      });
    default:
      return outcome satisfies never;
  }
}

/** Where the bot may write nothing, Discord would refuse this too. */
function showTyping(
  { guild_id: guild, channel_id: channel }: IncomingMessage,
  d: ConversationDependencies,
): void {
  const lacks = guild === undefined ? [] : (d.guilds.lacking(guild, channel) ?? []);
  if (mutes(lacks)) return;
  void d.rest
    .typing(channel)
    .catch((error: unknown) => d.log.debug({ err: error }, 'Discord shows no typing'));
}

/** Whoever may use no commands in a channel gets no answer by a mention either. */
const mayAsk = (
  { guild_id: guild, channel_id, author, member }: IncomingMessage,
  d: ConversationDependencies,
) => guild === undefined || d.guilds.mayUseCommands(guild, channel_id, author.id, member?.roles ?? []);

function speakerOf(message: IncomingMessage, { guilds }: ConversationDependencies): Person {
  const person = personOf(message.author, message.member);
  const { guild_id: guild } = message;
  if (guild === undefined) return person;
  return { ...person, moderator: person.moderator || guilds.moderates(guild, person.id, person.roles) };
}

function addressOf(message: IncomingMessage, { guilds }: ConversationDependencies): Address {
  const { guild_id: guild } = message;
  const parent = guild === undefined ? undefined : guilds.parentOf(guild, message.channel_id);
  return {
    platform: 'discord',
    channel: message.channel_id,
    person: message.author.id,
    ...(guild === undefined ? {} : { guild }),
    ...(parent === undefined ? {} : { parent }),
    platformData: {
      replyTo: message.id,
      ...(takesThreads(message.channel_type) ? { threads: true } : {}),
    },
  };
}

/** In threads and direct messages what was said last; elsewhere, and where people point at a message, the chain of replies. */
async function earlier(message: IncomingMessage, d: ConversationDependencies): Promise<ConversationTurn[]> {
  try {
    const { guild_id: guild, channel_id: channel } = message;
    const inThread =
      isThread(message.channel_type) ||
      (guild !== undefined && d.guilds.parentOf(guild, channel) !== undefined);
    const isTalk = inThread || (guild === undefined && !message.message_reference);
    const before = isTalk ? await recent(channel, message.id, d) : await chain(message, d);
    return before.flatMap((one) => turnOf(one, d.self));
  } catch (error) {
    d.log.warn({ err: error }, 'What was said before cannot be read');
    return [];
  }
}

/** What was said in a thread or a direct channel before a moment, which is any id that Discord gave then. */
export async function talkBefore(
  channel: string,
  moment: string,
  d: Pick<ConversationDependencies, 'rest' | 'self' | 'log'>,
): Promise<ConversationTurn[]> {
  try {
    return (await recent(channel, moment, d)).flatMap((one) => turnOf(one, d.self));
  } catch (error) {
    d.log.warn({ err: error }, 'What was said before cannot be read');
    return [];
  }
}

async function recent(
  talk: string,
  moment: string,
  { rest }: Pick<ConversationDependencies, 'rest'>,
): Promise<IncomingMessage[]> {
  const found = incomingMessageSchema.array().safeParse(await rest.messagesBefore(talk, moment, MOST_TURNS));
  const [first, ...others] = (found.data ?? []).reverse();
  if (first?.type !== THREAD_STARTER) return first ? [first, ...others] : [];
  const { message_id: id, channel_id: channel = talk } = first.message_reference ?? {};
  const starter = incomingMessageSchema.safeParse(id && (await rest.message(channel, id)));
  return starter.success ? [starter.data, ...others] : others;
}

async function chain(
  message: IncomingMessage,
  { rest }: ConversationDependencies,
): Promise<IncomingMessage[]> {
  const before: IncomingMessage[] = [];
  let reference = message.message_reference;
  while (reference?.message_id !== undefined && before.length < LONGEST_CHAIN) {
    const found = incomingMessageSchema.safeParse(
      await rest.message(reference.channel_id ?? message.channel_id, reference.message_id),
    );
    if (!found.success) break;
    before.unshift(found.data);
    reference = found.data.message_reference;
  }
  return before;
}

/** Nothing for a message whose words Discord keeps from a bot without the message content intent. */
function turnOf(message: IncomingMessage, self: string): ConversationTurn[] {
  const isBot = message.author.id === self;
  if (!SAID_TYPES.has(message.type)) return [];
  const text = isBot ? spokenByBot(message) : textOf(message, self);
  const files = message.attachments.map(fileReferenceOf);
  if (text === '' && files.length === 0) return [];
  return [
    {
      author: isBot ? 'bot' : 'person',
      name: message.author.global_name ?? message.author.username,
      person: message.author.id,
      text,
      files,
    },
  ];
}

const textOf = (message: IncomingMessage, self: string): string =>
  message.content
    .replace(new RegExp(`<@!?${self}>`, 'g'), '')
    .replaceAll('\u200b', '')
    .trim();
