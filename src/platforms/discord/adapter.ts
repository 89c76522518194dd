import { setTimeout as delay } from 'node:timers/promises';
import type { ConversationTurn, Log } from '../../command.ts';
import type { Bot, MediaReader, Platform, Posted, WebhookRequest } from '../platform.ts';
import { acknowledge } from './acknowledge.ts';
import { complete } from './autocomplete.ts';
import { isThread } from './channel-types.ts';
import { Connection, type GatewayConnection } from './client.ts';
import { converse, isAddressed, talkBefore } from './conversation.ts';
import { EditScheduler } from './edit-scheduler.ts';
import { HttpOnly } from './http-only.ts';
import {
  type IncomingMessage,
  type Interaction,
  incomingMessageSchema,
  interactionSchema,
} from './interaction.ts';
import { DEFAULT_FILE_BYTES, FILE_BYTES_BY_TIER } from './limits.ts';
import { linkTo } from './message-link.ts';
import { Originals } from './originals.ts';
import { beside } from './place.ts';
import { Registrar } from './registrar.ts';
import { DiscordRest } from './rest.ts';
import { show } from './show.ts';
import { createSignatureCheck } from './signature.ts';
import { createStream, hasFiles } from './stream.ts';
import { ThreadOwners } from './thread-owners.ts';
import { isPlainTalk } from './threads.ts';
import { receiveWebhook } from './webhook.ts';
import { whisper } from './whisper.ts';

export interface DiscordOptions {
  readonly token: string;
  /** REST base without the version, for proxies and tests. The gateway's address comes from there too. */
  readonly apiUrl?: string | undefined;
  readonly shards?: { readonly ids: readonly number[]; readonly total: number } | undefined;
  /** 64 hexadecimal digits. With it, interactions are also taken by HTTP. */
  readonly publicKey?: string | undefined;
  /** No connection is held: interactions come by HTTP alone. */
  readonly httpOnly?: boolean | undefined;
  /** The privileged intent of this name is switched on: people need not mention the bot in its threads. */
  readonly messageContent?: boolean | undefined;
  /** Runs the work while no other replica runs a task of this name; at once by default. */
  readonly inTurn?: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly media: MediaReader;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after the time or when the signal aborts; the real timer by default. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const realSleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);

export function createDiscord(options: DiscordOptions): Platform {
  const {
    log,
    media,
    now,
    sleep = realSleep,
    inTurn = (_task, work) => work(),
    messageContent = false,
  } = options;
  const rest = new DiscordRest(options);
  /** What is being answered right now. */
  const underWay = new Set<Promise<void>>();
  let bot: Bot | undefined;
  let self: string | undefined;
  const scheduler = new EditScheduler({ now, sleep, log });
  const registrar = new Registrar({
    rest,
    log,
    sleep,
    inTurn: (work) => inTurn('discord commands', work),
  });
  const registerCommands = () => {
    // Not waited for at the end: it may stand in a queue of replicas, and the next start does it again.
    if (bot) void registrar.run(bot.commands);
  };
  const connection: GatewayConnection = options.httpOnly
    ? new HttpOnly({ rest, log, sleep, onReady: registerCommands })
    : new Connection({
        ...options,
        sleep,
        onInteraction: (data) => track(receiveInteraction(data)),
        onMessage: (data) => track(receiveMessage(data)),
        onReady: (id) => {
          self = id;
          // Of the replicas of one bot, the one with the first shard writes the commands.
          if (options.shards?.ids.includes(0) ?? true) registerCommands();
        },
      });
  const threads = new ThreadOwners({ rest, seen: connection, log });
  const isSigned = options.publicKey === undefined ? undefined : createSignatureCheck(options.publicKey, now);
  const showing = {
    rest,
    media,
    now,
    originals: new Originals(now),
    lacking: (guild: string, channel: string) => connection.lacking(guild, channel),
    fileBytes: (guild: string | undefined) =>
      FILE_BYTES_BY_TIER[guild === undefined ? 0 : (connection.premiumTier(guild) ?? 0)] ??
      DEFAULT_FILE_BYTES,
  };

  function track(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) =>
        log.error({ err: error }, 'Something that Discord sent could not be handled'),
      )
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
  }

  async function receiveInteraction(data: unknown): Promise<void> {
    if (!bot) return;
    const interaction = interactionSchema.safeParse(data);
    if (!interaction.success)
      return log.warn({ err: interaction.error }, 'Discord sent an interaction of an unknown kind');
    if (interaction.data.type === 4) return await complete(interaction.data, { bot, rest, now, sleep, log });
    await acknowledge(interaction.data, {
      bot,
      rest,
      media,
      now,
      sleep,
      log,
      messageContent,
      talk,
      whisper: (address, message) => whisper(address, message, showing),
    });
  }

  async function talk(interaction: Interaction): Promise<readonly ConversationTurn[]> {
    const { id, guild_id: guild, channel_id, channel, application_id } = interaction;
    if (guild === undefined || !channel || !isThread(channel.type)) return [];
    const bot = self ?? application_id;
    const owner =
      channel.owner_id ?? (await threads.ownerOf(guild, { channel_id, channel_type: channel.type }));
    return owner === bot ? await talkBefore(channel_id, id, { rest, self: bot, log }) : [];
  }

  async function receiveMessage(data: unknown): Promise<void> {
    if (!bot || self === undefined) return;
    const message = incomingMessageSchema.safeParse(data);
    if (!message.success) return;
    if (!isAddressed(message.data, self) && !(await isForThread(message.data, self))) return;
    await converse(message.data, {
      bot,
      rest,
      self,
      log,
      guilds: connection,
      say: async (address, invocation, { message: sentence }) => {
        await show(address, sentence, { key: `r${invocation.id}`, remember: async () => {} }, showing);
      },
    });
  }

  /** Whether somebody speaks to the bot without a mention, in a thread that it opened. */
  async function isForThread(message: IncomingMessage, bot: string): Promise<boolean> {
    if (!messageContent || message.author.bot || message.webhook_id !== undefined || message.type !== 0)
      return false;
    if (message.guild_id === undefined || !isPlainTalk(message)) return false;
    return (await threads.ownerOf(message.guild_id, message)) === bot;
  }

  return {
    name: 'discord',

    async start(theBot) {
      bot = theBot;
      await connection.open();
    },

    async stop() {
      registrar.close();
      await connection.close();
      bot = undefined;
      await Promise.all(underWay);
    },

    async close() {
      registrar.close();
      await connection.close();
      await Promise.all(underWay);
      scheduler.close();
      rest.close();
    },

    status: () => connection.status(),

    ...(isSigned && {
      receive: async (request: WebhookRequest) =>
        receiveWebhook(request, {
          isSigned,
          take: (interaction) => {
            if (bot) track(receiveInteraction(interaction));
            return bot !== undefined;
          },
        }),
    }),

    attachmentHeaders: () => ({}),

    beside,

    linkTo,

    show: (address, message, showOptions) =>
      scheduler.write(address.channel, showOptions.key, () => show(address, message, showOptions, showing), {
        uploads: hasFiles(message),
      }),

    stream(address, showOptions) {
      let posted: Posted | undefined = showOptions.posted;
      const remember = async (latest: Posted) => {
        posted = latest;
        await showOptions.remember(latest);
      };
      return createStream({
        scheduler,
        channel: address.channel,
        key: showOptions.key,
        write: async (message, streaming) => {
          posted = await show(address, message, { ...showOptions, posted, remember, streaming }, showing);
          return posted;
        },
      });
    },

    whisper: (address, message) => whisper(address, message, showing),
  };
}
