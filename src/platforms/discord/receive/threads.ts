/** Threads in which people go on with an answer. The bot opens them when a person presses its button. */
import { type Message, MessageFlags, PermissionFlagsBits, RESTJSONErrorCodes } from 'discord.js';
import { ellipsis } from '../../../core/util/words.ts';
import { firstResponse, nonceOf } from '../connection/rest.ts';
import { textSending } from '../deliver/payload.ts';
import { isDiscordError, troubleOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { deadenMentions } from '../render/escape.ts';
import { contentOf } from './content.ts';
import { textOfBot } from './history.ts';
import type { IncomingMessage } from './incoming-message.ts';
import type { PressedInteraction } from './invocation.ts';
import type { ReceivingTools } from './tools.ts';

const INVITATION = "Write here and I'll answer.";
const INVITATION_TO_MENTION =
  "Mention me here when you want an answer. Discord doesn't show me other messages.";

const NO_PERMISSION =
  "I can't open threads in this channel. I need Create Public Threads, Send Messages in Threads and View Channel.";
const UNNAMED = 'Conversation';
const NO_MESSAGE = "That message was deleted, so I can't open a thread for it.";

/** Opens a thread at the message whose button was pressed, and tells the person where it is. Never rejects. */
export async function continueInThread(
  interaction: PressedInteraction,
  tools: ReceivingTools,
): Promise<void> {
  const { rest, log } = tools;
  try {
    // A person who may not open threads here gets none through the bot.
    if (interaction.memberPermissions?.has(PermissionFlagsBits.CreatePublicThreads) === false) {
      const refusal = textSending("You don't have permission to open threads in this channel.");
      return await rest.reply(interaction, refusal, MessageFlags.Ephemeral);
    }
    await firstResponse(() => interaction.deferReply({ flags: MessageFlags.Ephemeral }));
    await interaction.editReply(await startThread(interaction.message, tools));
  } catch (error) {
    log.warn({ err: error, trouble: troubleOf(error) }, 'Could not open a thread');
  }
}

/** @returns the sentence for the person who pressed the button */
async function startThread(message: Message, tools: ReceivingTools): Promise<string> {
  // A thread has the id of its message.
  const existing = `Thread already open: <#${message.id}>`;
  if (message.hasThread) return existing;
  try {
    const { id } = await message.startThread({ name: await nameOf(message, tools) });
    await invite(id, tools);
    return `Continued in <#${id}>`;
  } catch (error) {
    if (isDiscordError(error, RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage)) return existing;
    const trouble = troubleOf(error);
    if (trouble === 'no-permission' || trouble === 'no-access') return NO_PERMISSION;
    if (trouble === 'message-gone') return NO_MESSAGE;
    tools.log.warn({ err: error }, 'Could not open a thread');
    return "Discord didn't open a thread. Try again in a minute.";
  }
}

/** A thread at a message that is a question; its id, or undefined where none may be opened. Never rejects. */
export async function openTalkThread(
  message: IncomingMessage,
  tools: ReceivingTools,
): Promise<string | undefined> {
  const { rest, log } = tools;
  const [line = ''] = contentOf(message, tools).text.split('\n');
  try {
    return await rest.openThread(message.channel_id, message.id, threadName(line));
  } catch (error) {
    // Discord sent the message twice: a thread has the id of its message.
    if (isDiscordError(error, RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage)) return message.id;
    log.warn({ err: error, trouble: troubleOf(error) }, 'Could not open a thread for a question');
    return undefined;
  }
}

function threadName(line: string): string {
  const plain = deadenMentions(line.replace(/[*_~`#>\\]/g, '').trim());
  return ellipsis(plain, DISCORD_LIMITS.threadName) || UNNAMED;
}

/** Says once how the thread works. The thread is of use without it. */
async function invite(thread: string, { rest, log, messageContent }: ReceivingTools): Promise<void> {
  const invitation = textSending(`-# ${messageContent ? INVITATION : INVITATION_TO_MENTION}`);
  await rest.post(thread, invitation, { nonce: nonceOf(`invite ${thread}`) }).catch((error: unknown) => {
    log.warn({ err: error }, "Could not post the thread's introduction");
  });
}

/** More than an answer takes, with what else is said meanwhile. */
const MOST_PAGES = 10;

/** After the question: the message that was answered, else what the answer begins with. */
async function nameOf(
  { id, channelId: channel, reference, embeds, content }: Message,
  tools: ReceivingTools,
): Promise<string> {
  const { messages, self } = tools;
  const asked = reference?.messageId;
  const question = asked === undefined ? undefined : await messages.read(channel, asked);
  const isCard = embeds.some(({ title }) => title !== null);
  const before = isCard || question ? [] : await messages.latest(channel, id, MOST_PAGES);
  const other = before.findLastIndex((one) => one.author.id !== self || one.components.length > 0);
  const first = before[other + 1] ?? { content, embeds: embeds.map(({ data }) => data) };
  const [line = ''] = ((question && contentOf(question, tools).text) || textOfBot(first)).split('\n');
  return threadName(line);
}
