import type { Interaction } from 'discord.js';
import type { Bot } from '../../core/bot/create-bot.ts';
import type { System } from '../../core/system.ts';
import type { WithLock } from '../../core/util/lock.ts';
import type { MediaReader, Platform } from '../platform.ts';
import { createDeletions } from '../shared/deletions.ts';
import { createTalkMemory } from '../shared/talk.ts';
import type { VoiceChannels } from '../voice.ts';
import { sameChannel } from './address.ts';
import type { ClientSettings } from './connection/client.ts';
import { createDiscordConnection } from './connection/connection.ts';
import { createGuilds } from './connection/guilds.ts';
import { keepRegistering, type RegisterOptions } from './connection/register.ts';
import { createDiscordRest } from './connection/rest.ts';
import { createEditPace } from './deliver/edit-pace.ts';
import { FirstResponses } from './deliver/first-responses.ts';
import { closePoll, openPoll } from './deliver/polls.ts';
import { messageLink, messageOffers, retractMessages } from './deliver/posted.ts';
import { sendPrivateMessage } from './deliver/private.ts';
import { showDirectly, showMessage } from './deliver/show.ts';
import { streamMessage } from './deliver/stream.ts';
import type { DeliveryTools } from './deliver/tools.ts';
import { DISCORD_LIMITS } from './limits.ts';
import { answerAutocomplete } from './receive/autocomplete.ts';
import { readDiscordHistory } from './receive/history.ts';
import { deletedMessages, editedMessageSchema, incomingMessageSchema } from './receive/incoming-message.ts';
import { createMessages } from './receive/message-memory.ts';
import { converse } from './receive/messages.ts';
import { answerInteraction } from './receive/respond.ts';
import type { ReceivingTools } from './receive/tools.ts';

export interface DiscordOptions
  extends ClientSettings,
    Pick<System, 'now' | 'elapsed' | 'random' | 'sleep' | 'log'> {
  readonly settings?: RegisterOptions['settings'];
  /** Keeps one replica connected at a time. */
  readonly withLock: WithLock;
  readonly media: MediaReader;
}

const NO_MESSAGE_CONTENT =
  "Discord only shows me messages that mention me. To change this, the bot's operator can enable the Message Content Intent in the Developer Portal and set DISCORD_MESSAGE_CONTENT=1.";

export function createDiscord(options: DiscordOptions): Platform {
  const { settings, log, media, now, elapsed, random, sleep, messageContent = false } = options;
  /** Event handlers that are still running; stopping waits for them. */
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  let bot: Bot | undefined;
  let isRegistering = false;

  const pace = createEditPace({ elapsed, sleep });
  const connection = createDiscordConnection({
    ...options,
    onInteraction: (interaction) => track(receiveInteraction(interaction)),
    onMessage: (data) => track(receiveMessage(data)),
    onEdit: (data) => {
      const { data: edited } = editedMessageSchema.safeParse(data);
      if (edited) messages.forget(edited.id);
    },
    onDeletion: (data) => {
      const deleted = deletedMessages(data);
      for (const { id } of deleted) messages.forget(id);
      if (bot) track(deletions.receive(deleted, bot));
    },
    onReady(client) {
      // Only the process with shard 0 registers the commands.
      if (client.ws.shards.has(0)) registerCommands(client.application.id);
    },
    onResponse: pace.read,
  });
  const rest = createDiscordRest(() => connection.client().rest, options.token);
  const guilds = createGuilds(connection.client, log);
  const responses = new FirstResponses();
  let voice: Promise<VoiceChannels> | undefined;
  /** Loads on first use: most servers never play audio. */
  async function loadVoice(): Promise<VoiceChannels> {
    const { createDiscordVoice } = await import('./voice/channels.ts');
    return createDiscordVoice({ guilds, rest, log, random, sleep });
  }
  const tools: DeliveryTools = { rest, guilds, media, log, now, responses };
  const messages = createMessages({ rest, now, log });
  const talk = createTalkMemory(now);
  const deletions = createDeletions('discord', now);

  /** Runs once per process. Stopping does not wait for it: the next start tries again. */
  function registerCommands(application: string): void {
    if (!bot || isRegistering) return;
    isRegistering = true;
    const { signal } = closing;
    void keepRegistering(bot.commands, { rest, application, settings, log, random, sleep, signal });
  }

  function track(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => log.error({ err: error }, 'Could not handle a Discord event'))
      .finally(() => pending.delete(settled));
    pending.add(settled);
  }

  const receivingTools = (startedBot: Bot, self: string): ReceivingTools => ({
    ...tools,
    bot: startedBot,
    self,
    messages,
    talk,
    deletions,
    messageContent,
    sleep,
  });

  async function receiveInteraction(interaction: Interaction): Promise<void> {
    if (!bot) return;
    const receiving = receivingTools(bot, interaction.client.user.id);
    if (interaction.isAutocomplete()) return await answerAutocomplete(interaction, receiving);
    if (
      interaction.isChatInputCommand() ||
      interaction.isMessageContextMenuCommand() ||
      interaction.isButton() ||
      interaction.isStringSelectMenu() ||
      interaction.isModalSubmit()
    )
      await answerInteraction(interaction, receiving);
  }

  async function receiveMessage(data: unknown): Promise<void> {
    const { data: message } = incomingMessageSchema.safeParse(data);
    const self = connection.client().user?.id;
    if (!message || message.author.bot || message.webhook_id !== undefined) return;
    if (bot && self !== undefined) await converse(message, receivingTools(bot, self));
  }

  async function stop(): Promise<void> {
    closing.abort();
    await connection.close();
    bot = undefined;
    await Promise.all(pending);
  }

  return {
    name: 'discord',
    ...(messageContent ? {} : { mentionsOnlyNotice: NO_MESSAGE_CONTENT }),

    async start(startedBot) {
      bot = startedBot;
      await connection.open();
    },

    stop,

    close: stop,

    status: connection.status,

    connections: connection.connections,

    readHistory: (_address, history) => readDiscordHistory(history, { messages, guilds }),

    attachmentHeaders: () => ({}),

    sameChannel,

    linkTo: messageLink,

    isPublic: async (address) => guilds.isPublic(address) ?? (await guilds.fetchIsPublic(address)),

    offers: (address, posted, action) => messageOffers(address, posted, action, tools),

    show: (address, message, showOptions) =>
      address.toPerson
        ? showDirectly(address, message, showOptions, tools)
        : showMessage(address, message, showOptions, tools),

    retract: (address, { stray, current }) => retractMessages(address, stray, current, tools),

    stream: (address, showOptions) => streamMessage(address, showOptions, { ...tools, pace }),

    canRead: guilds.canRead,

    polls: {
      mostAnswers: DISCORD_LIMITS.pollAnswers,
      open: (address, poll, key) => openPoll(address, poll, key, tools),
      close: (_address, posted) => closePoll(posted, tools),
    },

    sendPrivately: (address, message) => sendPrivateMessage(address, message, tools),

    voice: () => (voice ??= loadVoice()),
  };
}
