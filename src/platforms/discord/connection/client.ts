/** Creates the discord.js client with its intents, caches and event handlers. */
import {
  type APIRequest,
  Client,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  type Interaction,
  Options,
  Partials,
  type ResponseLike,
} from 'discord.js';
import type { Log } from '../../../core/telemetry/log.ts';
import type { Measure } from '../../../core/telemetry/series.ts';
import { TOKEN_REJECTED } from '../errors.ts';
import type { DiscordAccount } from './rest.ts';
import { createStrategy } from './strategy.ts';
import { restOptions } from './transport.ts';

const GUILDS_MS = 1_500;

export interface ClientSettings extends DiscordAccount {
  /** The shards of this process. Default: as many as Discord recommends. */
  readonly shards?: { readonly ids: readonly number[]; readonly total: number } | undefined;
  /** The privileged Message Content Intent is on, so the bot answers in its threads without a mention. */
  readonly messageContent?: boolean | undefined;
  /** Records metrics. */
  readonly measure: Measure;
}

export interface ClientEvents {
  readonly onInteraction: (interaction: Interaction) => void;
  /** Receives the raw event, in the form that REST uses for older messages. Called only after the client is ready. */
  readonly onMessage: (data: unknown) => void;
  readonly onEdit: (data: unknown) => void;
  /** Receives the id of a deleted message, or the ids of several. */
  readonly onDeletion: (data: unknown) => void;
  /** Called once per client. */
  readonly onReady: (client: Client<true>) => void;
}

interface CreateClientOptions extends ClientSettings, ClientEvents {
  /** Aborts when the client is discarded. */
  readonly discarded: AbortSignal;
  readonly log: Log;
  /** `closeCode`: Discord's code for closing permanently, after which no shard reconnects. */
  readonly onEnd: (reason: string, closeCode?: number) => void;
  readonly onResponse: (request: APIRequest, response: ResponseLike) => void;
}

/** The client's REST client works without a connection. */
export function createClient(options: CreateClientOptions): Client {
  const { apiUrl, shards, messageContent, discarded, log, measure, onEnd } = options;
  const client = new Client({
    // Mentions and direct messages carry their text without a privileged intent.
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      // For the members of voice channels.
      GatewayIntentBits.GuildVoiceStates,
      GatewayIntentBits.DirectMessages,
      ...(messageContent ? [GatewayIntentBits.MessageContent] : []),
    ],
    // Without it, interactions in archived threads and direct messages have no channel.
    partials: [Partials.Channel],
    allowedMentions: { parse: [] },
    rest: restOptions(apiUrl),
    // Interactions wait for the guilds, and must be answered within three seconds.
    waitGuildTimeout: GUILDS_MS,
    // File limits and permissions need guilds, roles and channels. Most other data is not cached.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      ...NOT_CACHED,
      // The bot's own membership, for its permissions.
      GuildMemberManager: { maxSize: 1, keepOverLimit: ({ id, client: { user } }) => id === user.id },
      UserManager: 1,
    }),
    ...(shards ? { shards: [...shards.ids], shardCount: shards.total } : { shards: 'auto' }),
    ws: { buildStrategy: (manager) => createStrategy(manager, discarded, log) },
  });
  client.rest.setToken(options.token);
  client.once(Events.ClientReady, options.onReady);
  const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
  client.on(Events.InteractionCreate, options.onInteraction);
  client.ws.on(GatewayDispatchEvents.MessageCreate, (data) => void ready.then(() => options.onMessage(data)));
  client.ws.on(GatewayDispatchEvents.MessageUpdate, options.onEdit);
  client.ws.on(GatewayDispatchEvents.MessageDelete, options.onDeletion);
  client.ws.on(GatewayDispatchEvents.MessageDeleteBulk, options.onDeletion);
  client.on(Events.Error, (error) => log.warn({ err: error }, 'Discord client error'));
  client.on(Events.ShardError, (error, shard) =>
    log.warn({ err: error, shard }, 'Discord shard connection failed'),
  );
  client.on(Events.ShardReconnecting, () =>
    measure('minstrel_platform_reconnects_total', { platform: 'discord' }),
  );
  client.on(Events.ShardResume, (shard) => log.info({ shard }, 'Discord connection resumed'));
  client.on(Events.ShardDisconnect, ({ code }, shard) => {
    const reason = CLOSED[code] ?? `closed with ${code}`;
    log.error({ shard, code }, `Discord closed the connection permanently: ${reason}`);
    onEnd(reason, code);
  });
  client.on(Events.Invalidated, () => onEnd('Discord invalidated the session'));
  client.rest.on('response', options.onResponse);
  client.rest.on('response', ({ method, route }, { status }) =>
    // The route contains no ids or tokens.
    measure('minstrel_platform_requests_total', {
      platform: 'discord',
      method: `${method} ${route}`,
      status: String(status),
    }),
  );
  client.rest.on('rateLimited', () => measure('minstrel_rate_limits_total', { by: 'discord' }));
  return client;
}

/** Guild data that the bot does not use. */
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
  4004: TOKEN_REJECTED,
  4010: 'the shard does not exist: check DISCORD_SHARDS',
  4011: 'Discord requires more shards: raise the number in DISCORD_SHARDS',
  4014: 'DISCORD_MESSAGE_CONTENT is set, but the Message Content Intent is off in the Developer Portal',
};
