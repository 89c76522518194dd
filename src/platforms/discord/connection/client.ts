/** A discord.js client as this bot uses it: its intents, its caches, and what it passes on. */
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
import { TOKEN_REFUSED } from '../errors.ts';
import type { DiscordAccount } from './rest.ts';
import { createStrategy } from './strategy.ts';
import { restOptions } from './transport.ts';

const GUILDS_MS = 1_500;

export interface ClientSettings extends DiscordAccount {
  /** The shards of this process; all, as many as Discord recommends, when absent. */
  readonly shards?: { readonly ids: readonly number[]; readonly total: number } | undefined;
  /** The privileged intent of this name is switched on: people need not mention the bot in its threads. */
  readonly messageContent?: boolean | undefined;
  /** For operators' numbers. */
  readonly measure: Measure;
}

export interface ClientEvents {
  readonly onInteraction: (interaction: Interaction) => void;
  /** As Discord sends it: what was said before is read in the same form. Not before the client is ready. */
  readonly onMessage: (data: unknown) => void;
  /** A message was edited, by whomever. */
  readonly onEdit: (data: unknown) => void;
  /** One message or many were deleted; Discord tells their ids. */
  readonly onDeletion: (data: unknown) => void;
  /** Once for each client that became ready. */
  readonly onReady: (client: Client<true>) => void;
}

interface CreateClientOptions extends ClientSettings, ClientEvents {
  /** Aborts when the client is given up. */
  readonly over: AbortSignal;
  readonly log: Log;
  /** `closedWith`: Discord's own code, after which no shard connects again. */
  readonly onEnd: (reason: string, closedWith?: number) => void;
  /** Discord answered a request. */
  readonly onResponse: (request: APIRequest, response: ResponseLike) => void;
}

/** Its REST client can be used without a connection. */
export function createClient(options: CreateClientOptions): Client {
  const { apiUrl, shards, messageContent, over, log, measure, onEnd } = options;
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
    // Interactions then tell their channel also where it is a thread from the archive, or a direct channel.
    partials: [Partials.Channel],
    allowedMentions: { parse: [] },
    rest: restOptions(apiUrl),
    // Interactions wait until guilds are known, and people wait three seconds.
    waitGuildTimeout: GUILDS_MS,
    // Guilds, roles and channels are needed for file limits and permissions; everything else is only passed on.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      ...NOT_CACHED,
      // Its own membership says what the bot may do where.
      GuildMemberManager: { maxSize: 1, keepOverLimit: ({ id, client: { user } }) => id === user.id },
      UserManager: 1,
    }),
    ...(shards ? { shards: [...shards.ids], shardCount: shards.total } : { shards: 'auto' }),
    ws: { buildStrategy: (manager) => createStrategy(manager, over, log) },
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
    // The route has no ids and no tokens in it.
    measure('minstrel_platform_requests_total', {
      platform: 'discord',
      method: `${method} ${route}`,
      status: String(status),
    }),
  );
  client.rest.on('rateLimited', () => measure('minstrel_rate_limits_total', { by: 'discord' }));
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
  4010: 'the shard does not exist: check DISCORD_SHARDS',
  4011: 'Discord requires more shards: raise the number in DISCORD_SHARDS',
  4014: 'DISCORD_MESSAGE_CONTENT is set, but the Message Content Intent is off in the Developer Portal',
};
