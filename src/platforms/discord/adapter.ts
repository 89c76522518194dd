import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../command.ts';
import type { Bot, MediaReader, Platform, Posted } from '../platform.ts';
import { acknowledge } from './acknowledge.ts';
import { complete } from './autocomplete.ts';
import { Connection } from './client.ts';
import { converse, isAddressed } from './conversation.ts';
import { incomingMessageSchema, interactionSchema } from './interaction.ts';
import { DEFAULT_FILE_BYTES, FILE_BYTES_BY_TIER } from './limits.ts';
import { register } from './register.ts';
import { DiscordRest } from './rest.ts';
import { show } from './show.ts';
import { createStream } from './stream.ts';
import { whisper } from './whisper.ts';

export interface DiscordOptions {
  readonly token: string;
  /** REST base without the version, for proxies and tests. The gateway's address comes from there too. */
  readonly apiUrl?: string | undefined;
  readonly shards?: { readonly ids: readonly number[]; readonly total: number } | undefined;
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
  const { log, media, now, sleep = realSleep } = options;
  const rest = new DiscordRest(options);
  /** What is being answered right now. */
  const underWay = new Set<Promise<void>>();
  let bot: Bot | undefined;
  let self: string | undefined;
  let registered = false;

  const connection = new Connection({
    ...options,
    sleep,
    onInteraction: (data) => track(receiveInteraction(data)),
    onMessage: (data) => track(receiveMessage(data)),
    onReady: (id) => {
      self = id;
      // Of many replicas the one with the first shard writes the commands.
      if (options.shards?.ids.includes(0) ?? true) track(registerOnce());
    },
  });
  const showing = {
    rest,
    media,
    now,
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
    if (interaction.data.type === 4) return await complete(interaction.data, { bot, rest, now, sleep });
    await acknowledge(interaction.data, {
      bot,
      rest,
      media,
      now,
      sleep,
      log,
      whisper: (address, message) => whisper(address, message, showing),
    });
  }

  async function receiveMessage(data: unknown): Promise<void> {
    if (!bot || self === undefined) return;
    const message = incomingMessageSchema.safeParse(data);
    if (!message.success || !isAddressed(message.data, self)) return;
    await converse(message.data, {
      bot,
      rest,
      self,
      log,
      say: async (address, invocation, { message: sentence }) => {
        await show(address, sentence, { key: `r${invocation.id}`, remember: async () => {} }, showing);
      },
    });
  }

  async function registerOnce(): Promise<void> {
    if (!bot || registered) return;
    registered = true;
    try {
      const registration = await register(rest, bot.commands);
      log.info({ registration }, 'Commands are registered with Discord');
    } catch (error) {
      registered = false;
      log.error({ err: error }, 'Commands could not be registered with Discord');
    }
  }

  return {
    name: 'discord',

    async start(theBot) {
      bot = theBot;
      await connection.open();
    },

    async stop() {
      await connection.close();
      bot = undefined;
      await Promise.all(underWay);
    },

    async close() {
      await connection.close();
      await Promise.all(underWay);
      rest.close();
    },

    status: () => connection.status(),

    attachmentHeaders: () => ({}),

    show: (address, message, showOptions) => show(address, message, showOptions, showing),

    stream(address, showOptions) {
      let posted: Posted | undefined = showOptions.posted;
      const remember = async (latest: Posted) => {
        posted = latest;
        await showOptions.remember(latest);
      };
      return createStream({
        sleep,
        now,
        log,
        write: async (message, streaming) => {
          posted = await show(address, message, { ...showOptions, posted, remember, streaming }, showing);
          return posted;
        },
      });
    },

    whisper: (address, message) => whisper(address, message, showing),
  };
}
