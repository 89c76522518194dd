/** A discord.js client as this bot uses it: its intents, its caches, and what it passes on. */
import {
  Client,
  type ClientOptions,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  Options,
  type RESTOptions,
} from 'discord.js';
import { z } from 'zod';
import type { Log } from '../../../core/telemetry/log.ts';
import { TOKEN_REFUSED } from '../errors.ts';
import type { DiscordRestOptions } from './rest/rest.ts';

export interface ClientSettings extends DiscordRestOptions {
  /** This client's shards; all, as many as Discord recommends, when absent. */
  readonly shards?: { readonly ids: readonly number[]; readonly total: number } | undefined;
  /** The privileged intent of this name is switched on: people need not mention the bot in its threads. */
  readonly messageContent?: boolean | undefined;
}

export interface ClientEvents {
  readonly onInteraction: (data: unknown) => void;
  /** Not before the client is ready: only then it knows itself and the channels. */
  readonly onMessage: (data: unknown) => void;
  /** One message or many were deleted; Discord tells their ids. */
  readonly onDeletion: (data: unknown) => void;
  /** The session of a shard goes on, with what it missed. */
  readonly onResumed: () => void;
  /** Once for each client that became ready. */
  readonly onReady: (client: Client<true>) => void;
}

interface CreateClientOptions extends ClientSettings, ClientEvents {
  readonly makeRequest: RESTOptions['makeRequest'];
  /** How its shards are opened and closed; discord.js's own ways where left out. */
  readonly ws?: ClientOptions['ws'];
  readonly log: Log;
  /** `closedWith`: Discord's own code, after which no shard connects again. */
  readonly onEnd: (reason: string, closedWith?: number) => void;
}

export function createClient(options: CreateClientOptions): Client {
  const { apiUrl, shards, messageContent, makeRequest, ws, log, measure, onEnd } = options;
  const client = new Client({
    // Mentions and direct messages carry their text without a privileged intent.
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      // Who is in which voice channel.
      GatewayIntentBits.GuildVoiceStates,
      GatewayIntentBits.DirectMessages,
      ...(messageContent ? [GatewayIntentBits.MessageContent] : []),
    ],
    allowedMentions: { parse: [] },
    rest: {
      makeRequest,
      globalRequestsPerSecond: Number.POSITIVE_INFINITY,
      ...(apiUrl === undefined ? {} : { api: apiUrl }),
    },
    // Guilds, roles and channels are needed for file limits and permissions; everything else is only passed on.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      ...NOT_CACHED,
      // Its own membership says what the bot may do where.
      GuildMemberManager: { maxSize: 1, keepOverLimit: ({ id, client: { user } }) => id === user.id },
      UserManager: 1,
    }),
    ...(shards === undefined ? {} : { shards: [...shards.ids], shardCount: shards.total }),
    ...(ws === undefined ? {} : { ws }),
  });
  const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
  client.once(Events.ClientReady, options.onReady);
  client.ws.on(GatewayDispatchEvents.InteractionCreate, options.onInteraction);
  client.ws.on(GatewayDispatchEvents.MessageCreate, (data) => void ready.then(() => options.onMessage(data)));
  client.ws.on(GatewayDispatchEvents.MessageDelete, options.onDeletion);
  client.ws.on(GatewayDispatchEvents.MessageDeleteBulk, options.onDeletion);
  client.on(Events.Error, (error) => log.warn({ err: error }, 'The Discord client reports an error'));
  client.on(Events.ShardError, (error, shard) =>
    log.warn({ err: error, shard }, 'A connection to Discord failed'),
  );
  client.on(Events.ShardReconnecting, () =>
    measure?.('minstrel_platform_reconnects_total', { platform: 'discord' }),
  );
  client.on(Events.ShardResume, (shard) => {
    log.info({ shard }, 'The connection to Discord was resumed');
    options.onResumed();
  });
  client.on(Events.ShardDisconnect, ({ code }, shard) => {
    const reason = CLOSED[code] ?? `closed with ${code}`;
    log.error({ shard, code }, `Discord closed the connection for good: ${reason}`);
    onEnd(reason, code);
  });
  client.on(Events.Invalidated, () => onEnd('the session was invalidated'));
  dropUnreadableEvents(client, log);
  return client;
}

/** What Discord tells of each guild and nothing here asks for. */
const NOT_CACHED = {
  MessageManager: 0,
  PresenceManager: 0,
  ReactionManager: 0,
  BaseGuildEmojiManager: 0,
  GuildEmojiManager: 0,
  GuildStickerManager: 0,
  GuildScheduledEventManager: 0,
  StageInstanceManager: 0,
  ThreadMemberManager: 0,
} as const;

/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const CLOSED: Readonly<Record<number, string>> = {
  4004: TOKEN_REFUSED,
  4010: 'there is no such shard: check DISCORD_SHARDS',
  4011: 'it asks for more shards: set DISCORD_SHARDS, or with Redis stop all replicas and then start them',
  4014: 'the message content intent is not switched on in the Developer Portal, and DISCORD_MESSAGE_CONTENT asks for it',
};

/** That discord.js makes objects of them would only cost time. */
const READ_AS_THEY_CAME: ReadonlySet<string> = new Set([
  GatewayDispatchEvents.InteractionCreate,
  GatewayDispatchEvents.MessageCreate,
  GatewayDispatchEvents.MessageDelete,
  GatewayDispatchEvents.MessageDeleteBulk,
]);

const dispatchedSchema = z.object({ t: z.string() });

/** discord.js reads events where an error of its own would end the process, and nothing can catch it. */
function dropUnreadableEvents({ ws }: Client, log: Log): void {
  const read: unknown = Reflect.get(ws, 'handlePacket');
  if (typeof read !== 'function') throw new TypeError('discord.js reads events in another place');
  Reflect.set(ws, 'handlePacket', (packet: unknown, ...others: unknown[]): unknown => {
    const event = dispatchedSchema.safeParse(packet).data?.t;
    const isOurs = event !== undefined && READ_AS_THEY_CAME.has(event);
    try {
      return Reflect.apply(read, ws, [isOurs ? undefined : packet, ...others]);
    } catch (error) {
      log.error({ err: error, event }, 'An event of Discord could not be read, and was dropped');
      return true;
    }
  });
}
