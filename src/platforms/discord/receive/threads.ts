/** Opens threads that continue a conversation. */
import { type Message, MessageFlags, PermissionFlagsBits, RESTJSONErrorCodes } from 'discord.js';
import { ellipsis } from '../../../core/util/words.ts';
import { firstResponse, nonceOf } from '../connection/rest.ts';
import { textSending } from '../deliver/payload.ts';
import { errorKindOf, isDiscordError } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { disableMentions } from '../render/escape.ts';
import { contentOf } from './content.ts';
import { textOfBot } from './history.ts';
import type { IncomingMessage } from './incoming-message.ts';
import type { PressedInteraction } from './invocation.ts';
import type { ReceivingTools } from './tools.ts';

const INTRODUCTION = "Write here and I'll answer.";
const INTRODUCTION_WITH_MENTION =
  "Mention me here when you want an answer. Discord doesn't show me other messages.";

const NO_PERMISSION =
  "I can't open threads in this channel. Ask a moderator to grant me Create Public Threads, Send Messages in Threads and View Channel.";
const DEFAULT_NAME = 'Conversation';
const MESSAGE_DELETED = "That message was deleted, so I can't open a thread for it. Ask your question again.";

/** Opens a thread on the message whose button was pressed, and links to it. Never rejects. */
export async function continueInThread(
  interaction: PressedInteraction,
  tools: ReceivingTools,
): Promise<void> {
  const { rest, log } = tools;
  try {
    // The bot must not open threads for people without the permission.
    if (interaction.memberPermissions?.has(PermissionFlagsBits.CreatePublicThreads) === false) {
      const refusal = textSending(
        "You don't have permission to open threads in this channel. Ask a moderator to grant it to you.",
      );
      return await rest.reply(interaction, refusal, MessageFlags.Ephemeral);
    }
    await firstResponse(() => interaction.deferReply({ flags: MessageFlags.Ephemeral }));
    await interaction.editReply(await startThread(interaction.message, tools));
  } catch (error) {
    log.warn({ err: error, kind: errorKindOf(error) }, 'Could not open a thread');
  }
}

/** @returns the reply to the person who pressed the button */
async function startThread(message: Message, tools: ReceivingTools): Promise<string> {
  // A thread has the id of its message.
  const existing = `Thread already open: <#${message.id}>`;
  if (message.hasThread) return existing;
  try {
    const { id } = await message.startThread({ name: await nameOf(message, tools) });
    await introduce(id, tools);
    return `Continued in <#${id}>`;
  } catch (error) {
    if (isDiscordError(error, RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage)) return existing;
    const kind = errorKindOf(error);
    if (kind === 'no-permission' || kind === 'no-access') return NO_PERMISSION;
    if (kind === 'message-deleted') return MESSAGE_DELETED;
    tools.log.warn({ err: error }, 'Could not open a thread');
    return "Discord didn't open a thread. Try again in a minute.";
  }
}

/** Opens a thread on a question and returns its id, or undefined if that fails. Never rejects. */
export async function openTalkThread(
  message: IncomingMessage,
  tools: ReceivingTools,
): Promise<string | undefined> {
  const { rest, log } = tools;
  const [line = ''] = contentOf(message, tools).text.split('\n');
  try {
    return await rest.openThread(message.channel_id, message.id, threadName(line));
  } catch (error) {
    // Discord sent the message twice. A thread has the id of its message.
    if (isDiscordError(error, RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage)) return message.id;
    log.warn({ err: error, kind: errorKindOf(error) }, 'Could not open a thread for a question');
    return undefined;
  }
}

function threadName(line: string): string {
  const plain = disableMentions(line.replace(/[*_~`#>\\]/g, '').trim());
  return ellipsis(plain, DISCORD_LIMITS.threadName) || DEFAULT_NAME;
}

/** Explains how the thread works. The thread is useful even if this fails. */
async function introduce(thread: string, { rest, log, messageContent }: ReceivingTools): Promise<void> {
  const introduction = textSending(`-# ${messageContent ? INTRODUCTION : INTRODUCTION_WITH_MENTION}`);
  await rest.post(thread, introduction, { nonce: nonceOf(`invite ${thread}`) }).catch((error: unknown) => {
    log.warn({ err: error }, "Could not post the thread's introduction");
  });
}

/** More than the pages of an answer and the messages between them. */
const MAX_MESSAGES = 10;

/** Names the thread after the question, or else after the start of the answer. */
async function nameOf(
  { id, channelId: channel, reference, embeds, content }: Message,
  tools: ReceivingTools,
): Promise<string> {
  const { messages, self } = tools;
  const questionId = reference?.messageId;
  const question = questionId === undefined ? undefined : await messages.read(channel, questionId);
  const isCard = embeds.some(({ title }) => title !== null);
  const before = isCard || question ? [] : await messages.latest(channel, id, MAX_MESSAGES);
  const other = before.findLastIndex((one) => one.author.id !== self || one.components.length > 0);
  const first = before[other + 1] ?? { content, embeds: embeds.map(({ data }) => data) };
  const [line = ''] = ((question && contentOf(question, tools).text) || textOfBot(first)).split('\n');
  return threadName(line);
}
