/** The gateway connection: a discord.js client, and a new one whenever Discord ended the old one for good. */
import {
  Client,
  DiscordjsError,
  DiscordjsErrorCodes,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  Options,
  Status,
} from 'discord.js';
import { z } from 'zod';
import { backoff } from '../../../core/backoff.ts';
import type { Log } from '../../../core/log.ts';
import type { PlatformStatus } from '../../platform.ts';
import { type DiscordRestOptions, nodeFetch } from './rest.ts';

/** Tells the adapter what happens on Discord. */
export interface DiscordConnection {
  /** Resolves when the first attempt has succeeded or failed; later ones go on by themselves. */
  open(): Promise<void>;
  close(): Promise<void>;
  status(): PlatformStatus;
  /** How many shards are connected. */
  connections(): number;
}

export interface GatewaySettings extends DiscordRestOptions {
  /** This replica's shards; all, as many as Discord recommends, when absent. */
  readonly shards?: { readonly ids: readonly number[]; readonly total: number } | undefined;
  /** The privileged intent of this name is switched on: people need not mention the bot in its threads. */
  readonly messageContent?: boolean | undefined;
}

/** What trying again takes. */
export interface RetryTools {
  readonly log: Log;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** Resolves after the time or when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

interface GatewayOptions extends GatewaySettings, RetryTools {
  readonly onInteraction: (data: unknown) => void;
  readonly onMessage: (data: unknown) => void;
  /** Once for each client that became ready. */
  readonly onReady: (client: Client<true>) => void;
}

/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const CLOSED: Readonly<Record<number, string>> = {
  4004: 'the token was refused',
  4010: 'there is no such shard: check DISCORD_SHARDS',
  4011: 'it asks for shards: set DISCORD_SHARDS',
  4014: 'the message content intent is not switched on in the Developer Portal, and DISCORD_MESSAGE_CONTENT asks for it',
};

const RETRY = { firstMs: 1_000, longestMs: 5 * 60_000 } as const;
/** After Discord closed for good: each try costs one of the day's 1,000 identifies, past which the token is reset. */
const RETRY_CLOSED = { ...RETRY, firstMs: 2 * 60_000 } as const;

/** Connects, and tries again while Discord is away or refuses the token. The status says why it is not ready. */
export function createGatewayConnection(options: GatewayOptions): DiscordConnection {
  const { token, random, sleep, log } = options;
  const closing = new AbortController();
  let client: Client | undefined;
  let reason = 'not started';
  let loop: Promise<void> | undefined;
  let end = () => {};

  async function run(attempted: () => void): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      let retry: typeof RETRY | typeof RETRY_CLOSED = RETRY;
      end = resolve;
      const present = createClient(options, (why, isClosed) => {
        reason = why;
        if (isClosed) retry = RETRY_CLOSED;
        resolve();
      });
      client = present;
      try {
        reason = 'connecting';
        await Promise.race([present.login(token), ended]);
        const ready = new Promise((isReady) => present.once(Events.ClientReady, isReady));
        if (!present.isReady()) await Promise.race([ready, ended]);
        if (present.isReady()) failures = 0;
        attempted();
        await ended;
      } catch (error) {
        reason = reasonOf(error);
        log.warn({ err: error }, `Discord is not connected: ${reason}`);
        attempted();
      }
      await present.destroy();
      failures += 1;
      await sleep(backoff({ ...retry, attempt: failures, random }), closing.signal);
    }
  }

  return {
    open: () =>
      new Promise((resolve) => {
        loop ??= run(resolve);
      }),

    async close() {
      closing.abort();
      end();
      reason = 'stopped';
      await loop;
    },

    connections: () => client?.ws.shards.filter(({ status }) => status === Status.Ready).size ?? 0,

    status() {
      if (!client?.isReady()) return { ready: false, reason: `Discord: ${reason}` };
      const { shards } = client.ws;
      const waiting = shards.filter((shard) => shard.status !== Status.Ready);
      if (waiting.size === 0) return { ready: true };
      return { ready: false, reason: `Discord: ${waiting.size} of ${shards.size} shards are not connected` };
    },
  };
}

function createClient(
  { apiUrl, shards, messageContent, log, measure, onInteraction, onMessage, onReady }: GatewayOptions,
  onEnd: (reason: string, isClosed: boolean) => void,
): Client {
  const client = new Client({
    // Mentions and direct messages carry their text without a privileged intent.
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      ...(messageContent ? [GatewayIntentBits.MessageContent] : []),
    ],
    allowedMentions: { parse: [] },
    rest: { makeRequest: nodeFetch, ...(apiUrl === undefined ? {} : { api: apiUrl }) },
    // Guilds are needed for their file limits and permissions; everything else is only passed on.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 0,
      // Its own membership says what the bot may do where.
      GuildMemberManager: { maxSize: 1, keepOverLimit: ({ id, client: { user } }) => id === user.id },
      UserManager: 1,
      PresenceManager: 0,
      ReactionManager: 0,
    }),
    ...(shards === undefined ? {} : { shards: [...shards.ids], shardCount: shards.total }),
  });
  client.ws.on(GatewayDispatchEvents.InteractionCreate, onInteraction);
  client.ws.on(GatewayDispatchEvents.MessageCreate, onMessage);
  client.once(Events.ClientReady, onReady);
  client.on(Events.Error, (error) => log.warn({ err: error }, 'The Discord client reports an error'));
  client.on(Events.ShardError, (error, shard) =>
    log.warn({ err: error, shard }, 'A connection to Discord failed'),
  );
  client.on(Events.ShardReconnecting, () =>
    measure?.('minstrel_platform_reconnects_total', { platform: 'discord' }),
  );
  client.on(Events.ShardResume, (shard) => log.info({ shard }, 'The connection to Discord was resumed'));
  client.on(Events.ShardDisconnect, ({ code }, shard) => {
    log.error({ shard, code }, 'Discord closed the connection for good');
    onEnd(CLOSED[code] ?? `closed with ${code}`, true);
  });
  client.on(Events.Invalidated, () => onEnd('the session was invalidated', false));
  dropUnreadableEvents(client, log);
  return client;
}

/** discord.js reads events where an error of its own would end the process, and has no place to catch it. */
function dropUnreadableEvents({ ws }: Client, log: Log): void {
  const read: unknown = Reflect.get(ws, 'handlePacket');
  if (typeof read !== 'function') throw new TypeError('discord.js reads events in another place');
  Reflect.set(ws, 'handlePacket', (packet: unknown, ...others: unknown[]): unknown => {
    try {
      return Reflect.apply(read, ws, [packet, ...others]);
    } catch (error) {
      const event = z.object({ t: z.string() }).safeParse(packet).data?.t;
      log.error({ err: error, event }, 'An event of Discord could not be read, and was dropped');
      return true;
    }
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid)
    return 'the token was refused';
  return error instanceof Error ? error.message : String(error);
}
