/** The gateway connection: a discord.js client that is built anew whenever Discord ended the old one for good. */
import {
  Client,
  type ClientOptions,
  DiscordjsError,
  DiscordjsErrorCodes,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  Options,
  PermissionFlagsBits,
  Status,
} from 'discord.js';
import type { Log } from '../../command.ts';
import type { PlatformStatus } from '../platform.ts';
import { missingToAnswer, type PermissionName, withOverwrites } from './permissions.ts';
import { nodeFetch } from './rest.ts';

/** What the adapter needs of whatever tells it what happens on Discord. */
export interface GatewayConnection {
  /** Resolves when the first attempt has succeeded or failed; later ones go on by themselves. */
  open(): Promise<void>;
  close(): Promise<void>;
  status(): PlatformStatus;
  /** 0 to 3; undefined for a guild that is not seen. */
  premiumTier(guild: string): number | undefined;
  /** The channel that a thread belongs to, where that is known. */
  parentOf(guild: string, channel: string): string | undefined;
  /** Who opened a thread; undefined for what is none, or is not seen. */
  threadOwner(guild: string, channel: string): string | undefined;
  /** Messages tell a member's roles and not their permissions: whether the guild's roles let them manage it. */
  /** What the bot itself lacks to answer in a channel; undefined for what is not seen. */
  lacking(guild: string, channel: string): PermissionName[] | undefined;
  /** Whether a member may use application commands in a channel; true for what is not seen. */
  mayUseCommands(guild: string, channel: string, person: string, roles: readonly string[]): boolean;
  moderates(guild: string, person: string, roles: readonly string[]): boolean;
}

export interface ConnectionOptions {
  readonly token: string;
  readonly apiUrl?: string | undefined;
  /** This replica's shards; all, as many as Discord recommends, when absent. */
  readonly shards?: { readonly ids: readonly number[]; readonly total: number } | undefined;
  /** Asks for the privileged message content intent, which must be switched on in the Developer Portal. */
  readonly messageContent?: boolean | undefined;
  readonly log: Log;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly onInteraction: (data: unknown) => void;
  readonly onMessage: (data: unknown) => void;
  /** Once for each client that became ready. */
  readonly onReady: (self: string) => void;
}

/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const CLOSED: Readonly<Record<number, string>> = {
  4004: 'the token was refused',
  4010: 'there is no such shard: look at DISCORD_SHARDS',
  4011: 'it asks for shards: set DISCORD_SHARDS',
  4014: 'the message content intent is not switched on in the Developer Portal, and DISCORD_MESSAGE_CONTENT asks for it',
};

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5 * 60_000;

/** No privileged intent: mentions and direct messages arrive with their text without one. */
const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.DirectMessages,
] as const;

/** Connects, and goes on trying while Discord is away or the token is refused. Says in its status why it is not ready. */
export class Connection implements GatewayConnection {
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  #client: Client | undefined;
  #reason = 'not started';
  #loop: Promise<void> | undefined;
  #ended: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#loop ??= this.#run(resolve);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#ended?.();
    this.#reason = 'stopped';
    await this.#loop;
  }

  status(): PlatformStatus {
    const client = this.#client;
    if (!client?.isReady()) return { ready: false, reason: `Discord: ${this.#reason}` };
    const waiting = client.ws.shards.filter((shard) => shard.status !== Status.Ready);
    if (waiting.size === 0) return { ready: true };
    return {
      ready: false,
      reason: `Discord: ${waiting.size} of ${client.ws.shards.size} shards are not connected`,
    };
  }

  premiumTier(guild: string): number | undefined {
    return this.#client?.guilds.cache.get(guild)?.premiumTier;
  }

  parentOf(guild: string, channel: string): string | undefined {
    const found = this.#client?.guilds.cache.get(guild)?.channels.cache.get(channel);
    return found?.isThread() ? (found.parentId ?? undefined) : undefined;
  }

  threadOwner(guild: string, channel: string): string | undefined {
    const found = this.#client?.guilds.cache.get(guild)?.channels.cache.get(channel);
    return found?.isThread() ? (found.ownerId ?? undefined) : undefined;
  }

  moderates(guild: string, person: string, roles: readonly string[]): boolean {
    const known = this.#client?.guilds.cache.get(guild);
    if (known === undefined) return false;
    if (known.ownerId === person) return true;
    // The role of everyone has the guild's own id.
    return [guild, ...roles].some((role) =>
      known.roles.cache.get(role)?.permissions.has(PermissionFlagsBits.ManageGuild),
    );
  }

  lacking(guild: string, channel: string): PermissionName[] | undefined {
    const known = this.#client?.guilds.cache.get(guild);
    const found = known?.channels.cache.get(channel);
    const self = known?.members.me;
    if (!found || !self) return undefined;
    return missingToAnswer(found.permissionsFor(self).bitfield.toString(), found.isThread());
  }

  mayUseCommands(guild: string, channel: string, person: string, roles: readonly string[]): boolean {
    const known = this.#client?.guilds.cache.get(guild);
    const found = known?.channels.cache.get(channel);
    const place = found?.isThread() ? found.parent : found;
    if (!known || !place || !('permissionOverwrites' in place) || known.ownerId === person) return true;
    const held = [guild, ...roles];
    const base = held.reduce(
      (bits, role) => bits | (known.roles.cache.get(role)?.permissions.bitfield ?? 0n),
      0n,
    );
    if (base & PermissionFlagsBits.Administrator) return true;
    const overwrites = [[guild], roles, [person]].map((ids) =>
      ids.flatMap((id) => place.permissionOverwrites.cache.get(id) ?? []),
    );
    return (
      (withOverwrites(
        base,
        overwrites.map((some) =>
          some.map(({ allow, deny }) => ({ allow: allow.bitfield, deny: deny.bitfield })),
        ),
      ) &
        PermissionFlagsBits.UseApplicationCommands) !==
      0n
    );
  }

  async #run(attempted: () => void): Promise<void> {
    let pause = FIRST_RETRY_MS;
    while (!this.#closing.signal.aborted) {
      const client = this.#build();
      const ended = new Promise<void>((resolve) => {
        this.#ended = resolve;
      });
      try {
        this.#reason = 'connecting';
        await Promise.race([client.login(this.#options.token), ended]);
        if (!client.isReady()) await Promise.race([once(client, Events.ClientReady), ended]);
        pause = FIRST_RETRY_MS;
        attempted();
        await ended;
      } catch (error) {
        this.#reason = reasonOf(error);
        this.#options.log.warn({ err: error }, `Discord is not connected: ${this.#reason}`);
        attempted();
      }
      await client.destroy();
      await this.#options.sleep(pause, this.#closing.signal);
      pause = Math.min(pause * 2, LONGEST_RETRY_MS);
    }
  }

  #build(): Client {
    const { apiUrl, shards, messageContent, log } = this.#options;
    const settings: ClientOptions = {
      intents: [...INTENTS, ...(messageContent ? [GatewayIntentBits.MessageContent] : [])],
      allowedMentions: { parse: [] },
      rest: { makeRequest: nodeFetch, ...(apiUrl === undefined ? {} : { api: apiUrl }) },
      // Guilds are needed for their file limits; everything else is only passed on.
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
    };
    const client = new Client(settings);
    this.#client = client;
    client.ws.on(GatewayDispatchEvents.InteractionCreate, (data: unknown) =>
      this.#options.onInteraction(data),
    );
    client.ws.on(GatewayDispatchEvents.MessageCreate, (data: unknown) => this.#options.onMessage(data));
    client.once(Events.ClientReady, (ready) => this.#options.onReady(ready.user.id));
    client.on(Events.Error, (error) => log.warn({ err: error }, 'The Discord client reports an error'));
    client.on(Events.ShardError, (error, shard) =>
      log.warn({ err: error, shard }, 'A connection to Discord failed'),
    );
    client.on(Events.ShardResume, (shard) => log.info({ shard }, 'The connection to Discord was resumed'));
    client.on(Events.ShardDisconnect, (event, shard) => {
      this.#reason = CLOSED[event.code] ?? `closed with ${event.code}`;
      log.error({ shard, code: event.code }, 'Discord closed the connection for good');
      this.#ended?.();
    });
    client.on(Events.Invalidated, () => {
      this.#reason = 'the session was invalidated';
      this.#ended?.();
    });
    return client;
  }
}

const once = (client: Client, event: typeof Events.ClientReady): Promise<void> =>
  new Promise((resolve) => {
    client.once(event, () => resolve());
  });

function reasonOf(error: unknown): string {
  if (error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid)
    return 'the token was refused';
  return error instanceof Error ? error.message : String(error);
}
