import {
  ChannelType,
  type Client,
  Events,
  type Guild,
  PermissionFlagsBits,
  PermissionsBitField,
  ShardClientUtil,
} from 'discord.js';
import { z } from 'zod';
import type { Address, Person } from '../../../core/invocation.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import {
  isModerator,
  isNoMember,
  missingToAnswer,
  type PermissionName,
  troubleOf,
  withOverwrites,
} from '../errors.ts';
import type { DiscordRest } from './rest/rest.ts';

const READING = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;
const threadSchema = z.object({ parent_id: z.string(), owner_id: z.string().nullish() });
const bitsSchema = z.string().regex(/^\d+$/).transform(BigInt);
const channelSchema = z.object({
  type: z.number(),
  guild_id: z.string().optional(),
  parent_id: z.string().nullish(),
  permission_overwrites: z
    .array(z.object({ id: z.string(), allow: bitsSchema, deny: bitsSchema }))
    .optional(),
});
const rolesSchema = z.object({ roles: z.array(z.object({ id: z.string(), permissions: bitsSchema })) });
/** Each costs a few bytes; a forgotten one costs a request. */
const MOST_THREADS = 1_000;

interface ThreadFacts {
  /** The channel that it belongs to. */
  readonly parent: string | undefined;
  /** Who opened it. */
  readonly owner: string | undefined;
}

/** Facts about guilds that messages do not carry, from the cache of the gateway connection. */
export function createGuilds(rest: Pick<DiscordRest, 'channel' | 'guild'>, log: Log) {
  /** One, or one for each shard that this replica holds. */
  const clients = new Set<Client>();
  /** Guilds that are being asked for. */
  const asked = new Map<string, Promise<'gone' | undefined>>();
  /**
   * Guilds that Discord was asked for. Not marked as available, which is what discord.js calls those of the gateway alone: of them
   * it would not read the GUILD_CREATE that may still come.
   */
  const learned = new WeakSet<Guild>();
  /** Not what discord.js calls unavailable: it takes those that were asked for as such, too. */
  const outages = new WeakSet<Guild>();
  /** Archived threads, which the cache does not know. */
  const threads = new Map<string, ThreadFacts>();

  function guildOf(guild: string) {
    for (const { guilds } of clients) {
      const found = guilds.cache.get(guild);
      if (found) return found;
    }
    return undefined;
  }

  function threadOf(guild: string, channel: string) {
    const found = guildOf(guild)?.channels.cache.get(channel);
    return found?.isThread() ? found : undefined;
  }

  async function fetchGuild(id: string): Promise<'gone' | undefined> {
    try {
      for (const client of clients) {
        const { shards = [], shardCount = 1 } = client.options;
        if (!Array.isArray(shards) || !shards.includes(ShardClientUtil.shardIdForGuildId(id, shardCount)))
          continue;
        const guild = await client.guilds.fetch({ guild: id, force: true });
        await Promise.all([guild.channels.fetch(), guild.members.fetchMe()]);
        learned.add(guild);
      }
    } catch (error) {
      log.warn({ err: error, trouble: troubleOf(error) }, 'A server is not known');
      if (isNoMember(error)) return 'gone';
    }
    return undefined;
  }

  /** Permissions of the roles, before a channel changes them. The role of everyone has the guild's own id. */
  function basePermissions(guild: string, roles: readonly string[]): bigint {
    const known = guildOf(guild)?.roles.cache;
    return [guild, ...roles].reduce(
      (bits, role) => bits | (known?.get(role)?.permissions.bitfield ?? 0n),
      0n,
    );
  }

  /** Of a member in a channel, not a thread; undefined for an unknown channel. */
  function permissionsIn(
    guild: string,
    channel: string,
    { id, roles }: Pick<Person, 'id' | 'roles'>,
  ): bigint | undefined {
    const known = guildOf(guild);
    const found = known?.channels.cache.get(channel);
    if (!known || !found || !('permissionOverwrites' in found)) return undefined;
    const base = basePermissions(guild, roles);
    if (known.ownerId === id || (base & PermissionFlagsBits.Administrator) !== 0n)
      return PermissionsBitField.All;
    const levels = [[guild], roles, [id]].map((ids) =>
      ids
        .flatMap((each) => found.permissionOverwrites.cache.get(each) ?? [])
        .map(({ allow, deny }) => ({ allow: allow.bitfield, deny: deny.bitfield })),
    );
    return withOverwrites(base, levels);
  }

  return {
    /** The cache of this client is read from now on. Without a gateway connection no guild is known. */
    use(client: Client): void {
      clients.add(client);
      client.on(Events.GuildUnavailable, (guild) => outages.add(guild));
      client.on(Events.GuildAvailable, (guild) => outages.delete(guild));
    },

    leave(client: Client): void {
      clients.delete(client);
    },

    /**
     * Asks Discord for a guild that its client does not know, as after a resumed session, which names no guilds.
     * Resolves to `gone` where the bot is no member. Never rejects.
     */
    async learn(guild: string): Promise<'gone' | undefined> {
      const known = guildOf(guild);
      // What GUILD_CREATE told once stays known through an outage of the guild.
      if (known && (known.joinedTimestamp || learned.has(known))) return undefined;
      const question = asked.get(guild) ?? fetchGuild(guild).finally(() => asked.delete(guild));
      asked.set(guild, question);
      return await question;
    },

    /** The guild as the gateway connection knows it; undefined for one of another replica. */
    known: guildOf,

    /** Whether Discord told of an outage of the guild, and not yet of its end. What is known of it may be out of date. */
    hasOutage: (guild: Guild): boolean => outages.has(guild),

    /** 0 to 3; undefined for an unknown guild. */
    premiumTier(guild: string): number | undefined {
      return guildOf(guild)?.premiumTier;
    },

    /**
     * The facts of a thread, asked of Discord where the cache does not know it; undefined for another type of channel,
     * and when Discord does not tell. Never rejects.
     */
    async thread(guild: string, channel: string, type: number | undefined): Promise<ThreadFacts | undefined> {
      const cached = threadOf(guild, channel);
      if (cached) return { parent: cached.parentId ?? undefined, owner: cached.ownerId ?? undefined };
      const known = threads.get(channel);
      if (known || !isThread(type)) return known;
      try {
        const { parent_id: parent, owner_id: owner } = threadSchema.parse(await rest.channel(channel));
        const [oldest] = threads.keys();
        if (threads.size >= MOST_THREADS && oldest) threads.delete(oldest);
        const facts = { parent, owner: owner ?? undefined };
        threads.set(channel, facts);
        return facts;
      } catch (error) {
        log.warn({ err: error, trouble: troubleOf(error) }, 'A thread is not known');
        return undefined;
      }
    },

    /**
     * The permissions that the bot needs and does not have in a channel; undefined for an unknown channel.
     * @param parent the channel that a thread belongs to: its permissions hold there
     */
    missingPermissions(guild: string, channel: string, parent?: string): PermissionName[] | undefined {
      const cache = guildOf(guild)?.channels.cache;
      const found = cache?.get(channel) ?? cache?.get(parent ?? '');
      const self = guildOf(guild)?.members.me;
      if (!found || !self) return undefined;
      const inThread = found.isThread() || parent !== undefined;
      return missingToAnswer(found.permissionsFor(self).bitfield.toString(), inThread);
    },

    /** Whether everybody in the guild can read a channel or thread; undefined where it is not known. */
    isPublic({
      guild = '',
      channel,
      parent,
    }: Pick<Address, 'guild' | 'channel' | 'parent'>): boolean | undefined {
      const cache = guildOf(guild)?.channels.cache;
      const found = cache?.get(channel);
      const holder = parent === undefined ? found : cache?.get(parent);
      if (!found || !holder) return undefined;
      if (found.type === ChannelType.PrivateThread) return false;
      return holder.permissionsFor(guild)?.has(PermissionFlagsBits.ViewChannel);
    },

    /** The same, asked of Discord. Throws discord.js's errors, PlatformError and ZodError. */
    async askIsPublic({ guild, channel }: Pick<Address, 'guild' | 'channel'>): Promise<boolean | undefined> {
      const found = channelSchema.parse(await rest.channel(channel));
      if (guild === undefined || found.guild_id !== guild) return undefined;
      if (found.type === ChannelType.PrivateThread) return false;
      const { parent_id: parent } = found;
      const inThread = isThread(found.type) && parent;
      const holder = inThread ? channelSchema.parse(await rest.channel(parent)) : found;
      const { roles } = rolesSchema.parse(await rest.guild(guild));
      const everyone = roles.find(({ id }) => id === guild)?.permissions;
      const overwrites = holder.permission_overwrites?.filter(({ id }) => id === guild);
      if (everyone === undefined || overwrites === undefined) return undefined;
      if (everyone & PermissionFlagsBits.Administrator) return true;
      return (withOverwrites(everyone, [overwrites]) & PermissionFlagsBits.ViewChannel) !== 0n;
    },

    /** Whether a member may manage the guild. Messages carry a member's roles and not their permissions. */
    moderates(guild: string, person: string, roles: readonly string[]): boolean {
      if (guildOf(guild)?.ownerId === person) return true;
      return isModerator(basePermissions(guild, roles));
    },

    /** Whether a member may use application commands in a channel, not a thread; true for an unknown channel. */
    mayUseCommands(guild: string, channel: string, person: string, roles: readonly string[]): boolean {
      const bits = permissionsIn(guild, channel, { id: person, roles });
      return bits === undefined || (bits & PermissionFlagsBits.UseApplicationCommands) !== 0n;
    },

    /** Whether a member can read what was said at an address; false where that is not known, and in private threads. */
    mayRead({ guild = '', channel, parent, public: wasPublic }: Address, person: Person): boolean {
      const found = guildOf(guild)?.channels.cache.get(channel);
      if (found?.type === ChannelType.PrivateThread) return false;
      // An archived thread is in no cache.
      if (!found && !(parent !== undefined && wasPublic === true)) return false;
      const holder = parent ?? (found?.isThread() ? found.parentId : undefined) ?? channel;
      const bits = permissionsIn(guild, holder, person);
      return bits !== undefined && (bits & READING) === READING;
    },
  };
}

export type Guilds = ReturnType<typeof createGuilds>;

const THREADS: ReadonlySet<number | undefined> = new Set([
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
]);

export const isThread = (channelType: number | undefined): boolean => THREADS.has(channelType);

/** Whether a message in such a channel may have a thread of its own. */
export const takesThreads = (channelType: number | undefined): boolean =>
  channelType === ChannelType.GuildText || channelType === ChannelType.GuildAnnouncement;
