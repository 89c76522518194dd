/** Threads in which people go on with an answer, opened by the bot when somebody presses its button. */
import { MessageFlags, RESTJSONErrorCodes } from 'discord.js';
import type { Log } from '../../command.ts';
import { shorten } from './buttons.ts';
import { isDiscordError, troubleOf } from './errors.ts';
import { deadenMentions } from './escape.ts';
import type { ComponentInteraction, IncomingMessage } from './interaction.ts';
import { nonceOf } from './nonce.ts';
import { missingOf } from './permissions.ts';
import type { LiveToken } from './place.ts';
import type { DiscordRest, Payload } from './rest.ts';
import { spokenByBot } from './spoken.ts';

/** The button's `custom_id`: the message that it stands at says all that is needed. */
export const OPEN_THREAD = 'thread';

/** Discord's limit for names of channels and threads. */
const LONGEST_NAME = 100;

const INVITATION = {
  hearing: 'Write here, and I answer.',
  deaf: 'Mention me here when you want an answer: Discord shows me no other messages.',
} as const;

export interface ThreadDependencies {
  readonly rest: DiscordRest;
  readonly log: Log;
  /** The bot reads what is written without a mention. */
  readonly messageContent: boolean;
}

/** Opens a thread at the message whose button was pressed, and tells where it is. Never rejects. */
export async function openThread(interaction: ComponentInteraction, d: ThreadDependencies): Promise<void> {
  try {
    // Who may not open threads here does not get one by way of the bot.
    const missing = missingOf(interaction.member?.permissions, ['Create Public Threads'] as const);
    if (missing.length > 0) {
      return await d.rest.reply(interaction, alone('You may not open threads in this channel.'));
    }
    await d.rest.defer(interaction, MessageFlags.Ephemeral);
    const token: LiveToken = {
      application: interaction.application_id,
      token: interaction.token,
      expiresAt: Number.POSITIVE_INFINITY,
    };
    await d.rest.editResponse(token, '@original', alone(await open(interaction, d)));
  } catch (error) {
    d.log.warn({ err: error, trouble: troubleOf(error) }, 'A thread could not be opened');
  }
}

/** @returns the sentence for whoever pressed the button */
async function open({ message, channel_id }: ComponentInteraction, d: ThreadDependencies): Promise<string> {
  if (!message) return 'There is no message to open a thread at any more.';
  // A thread has the id of its message.
  const existing = `There is a thread already: <#${message.id}>`;
  if (message.flags & MessageFlags.HasThread) return existing;
  try {
    const thread = await d.rest.openThread(channel_id, message.id, nameOf(message));
    await invite(thread, d);
    return `Here it goes on: <#${thread}>`;
  } catch (error) {
    if (isDiscordError(error, RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage)) return existing;
    switch (troubleOf(error)) {
      case 'no-permission':
      case 'no-access':
        return 'I may not open threads in this channel: I lack Create Public Threads, Send Messages in Threads or View Channel.';
      case 'message-gone':
        return 'There is no message to open a thread at any more.';
      default:
        d.log.warn({ err: error }, 'A thread could not be opened');
        return 'Discord did not open a thread. Please try again in a moment.';
    }
  }
}

/** Says once how the thread works. The thread stands without it. */
async function invite(thread: string, { rest, log, messageContent }: ThreadDependencies): Promise<void> {
  const content = `-# ${messageContent ? INVITATION.hearing : INVITATION.deaf}`;
  const body: Payload = { ...say(content), nonce: nonceOf(`invite ${thread}`), enforce_nonce: true };
  await rest.post(thread, { body, files: [] }).catch((error: unknown) => {
    log.warn({ err: error }, 'How a thread works could not be said in it');
  });
}

function nameOf(message: Pick<IncomingMessage, 'content' | 'embeds'>): string {
  const [first = ''] = spokenByBot(message).split('\n');
  return shorten(deadenMentions(first.replace(/[*_~`#>]/g, '').trim()), LONGEST_NAME) || 'A talk';
}

const say = (content: string): Payload => ({
  content,
  embeds: [],
  components: [],
  attachments: [],
  allowed_mentions: { parse: [] },
});

const alone = (content: string) => ({
  body: { ...say(content), flags: MessageFlags.Ephemeral },
  files: [],
});

/** Whether somebody who mentions nobody speaks to the bot in one of its threads. */
export function isPlainTalk(message: IncomingMessage): boolean {
  const pointsAtSomebody =
    message.mentions.length > 0 || message.mention_roles.length > 0 || message.mention_everyone;
  return message.content.trim() !== '' && !pointsAtSomebody && message.message_reference === undefined;
}
