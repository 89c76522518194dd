import {
  ChannelType,
  type Client,
  type Guild,
  type GuildBasedChannel,
  PermissionFlagsBits,
  PermissionsBitField,
  type Role,
  ShardClientUtil,
  type ThreadChannel,
} from 'discord.js';
import type { Address, Person } from '../../../core/invocation.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { errorKindOf } from '../errors.ts';
import { missingToAnswer, type PermissionName } from '../permissions.ts';

const READ_PERMISSIONS = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

/** Guild data that messages do not contain, from the gateway connection's cache. Without a connection, no guild is known. */
export function createGuilds(client: () => Client, log: Log) {
  const guildOf = (guild: string): Guild | undefined => client().guilds.cache.get(guild);

  function roleOf(id: string): Role | undefined {
    return client()
      .guilds.cache.find(({ roles }) => roles.cache.has(id))
      ?.roles.cache.get(id);
  }

  /** Returns a member's permissions in a channel (not a thread), or undefined for an unknown channel. */
  function permissionsIn(guild: string, channel: string, person: Member): PermissionsBitField | undefined {
    const known = guildOf(guild);
    const found = known?.channels.cache.get(channel);
    if (!known || !found || !('permissionOverwrites' in found)) return undefined;
    const granted = basePermissions(person, known);
    if (granted.has(PermissionFlagsBits.Administrator)) return granted;
    for (const level of [[guild], person.roles, [person.id]]) {
      const overwrites = level.flatMap((each) => found.permissionOverwrites.cache.get(each) ?? []);
      granted.remove(overwrites.map(({ deny }) => deny)).add(overwrites.map(({ allow }) => allow));
    }
    return granted;
  }

  return {
    /** Returns undefined for a guild that this process is not connected to. */
    known: guildOf,

    /** Whether this process receives the guild's events. `gone`: it would, but the bot is not a member. */
    reach(guild: string): 'here' | 'outage' | 'elsewhere' | 'gone' {
      const known = guildOf(guild);
      if (known) return known.available ? 'here' : 'outage';
      const { shards, shardCount = 1 } = client().options;
      const shard = ShardClientUtil.shardIdForGuildId(guild, shardCount);
      return client().isReady() && Array.isArray(shards) && shards.includes(shard) ? 'gone' : 'elsewhere';
    },

    /** Returns 0 to 3, or undefined for an unknown guild. */
    premiumTier(guild: string): number | undefined {
      return guildOf(guild)?.premiumTier;
    },

    /** True if the bot may read earlier messages of a channel or thread; undefined for an unknown one. */
    canReadHistory(id: string): boolean | undefined {
      const found = client().channels.cache.get(id);
      const self = found && 'guild' in found ? found.guild.members.me : undefined;
      return found && self && 'permissionsFor' in found
        ? found.permissionsFor(self)?.has(READ_PERMISSIONS)
        : undefined;
    },

    channelName(id: string): string | undefined {
      const found = client().channels.cache.get(id);
      return found && 'name' in found ? (found.name ?? undefined) : undefined;
    },

    roleName: (id: string): string | undefined => roleOf(id)?.name,

    /** Whether this is the bot's managed role, which people often mention instead of the bot. */
    botRole: (id: string): boolean => roleOf(id)?.tags?.botId === client().user?.id,

    /** Returns a thread, fetched if it is not cached. Undefined for other channels, and if Discord fails. Never rejects. */
    async thread(channel: string, type: number | undefined): Promise<ThreadChannel | undefined> {
      if (!isThread(type)) return undefined;
      const { cache } = client().channels;
      const known = cache.get(channel);
      // A thread that discord.js created from a message has no parent and no owner.
      if (known?.isThread() && known.parentId === null) cache.delete(channel);
      try {
        const found = await client().channels.fetch(channel);
        return found?.isThread() ? found : undefined;
      } catch (error) {
        log.warn({ err: error, kind: errorKindOf(error) }, 'Could not look up a thread');
        return undefined;
      }
    },

    /**
     * Returns the permissions that the bot is missing in a channel, or undefined for an unknown channel.
     * @param parent the channel of a thread: its permissions apply in the thread
     */
    missingPermissions(guild: string, channel: string, parent?: string): PermissionName[] | undefined {
      const cache = guildOf(guild)?.channels.cache;
      const found = cache?.get(channel) ?? cache?.get(parent ?? '');
      const permissionSource = found?.isThread() ? found.parent : found;
      const self = guildOf(guild)?.members.me;
      if (!found || !permissionSource || !self) return undefined;
      return missingToAnswer(permissionSource.permissionsFor(self), found.isThread() || parent !== undefined);
    },

    /** Whether everyone in the guild can read a channel or thread; undefined if unknown. */
    isPublic({ guild = '', channel }: Pick<Address, 'guild' | 'channel'>): boolean | undefined {
      const found = guildOf(guild)?.channels.cache.get(channel);
      return found && isOpenToAll(found);
    },

    /** Like `isPublic`, but asks Discord. Throws discord.js's errors. */
    async fetchIsPublic({
      guild: id,
      channel,
    }: Pick<Address, 'guild' | 'channel'>): Promise<boolean | undefined> {
      if (id === undefined) return undefined;
      const guild = await client().guilds.fetch({ guild: id, cache: false, force: true });
      const found = await guild.channels.fetch(channel, { cache: false, force: true });
      if (!found?.isThread()) return found ? isOpenToAll(found) : undefined;
      if (found.type === ChannelType.PrivateThread || found.parentId === null) return false;
      const parent = await guild.channels.fetch(found.parentId, { cache: false, force: true });
      return parent ? isOpenToAll(parent) : undefined;
    },

    /** Whether a member may manage the guild. Messages contain a member's roles, but not their permissions. */
    moderates(guild: string, person: Member): boolean {
      const known = guildOf(guild);
      return known !== undefined && basePermissions(person, known).has(PermissionFlagsBits.ManageGuild);
    },

    /** Whether a member may use application commands in a channel (not a thread); true for an unknown channel. */
    mayUseCommands: (guild: string, channel: string, person: Member): boolean =>
      permissionsIn(guild, channel, person)?.has(PermissionFlagsBits.UseApplicationCommands) ?? true,

    /** Whether a member can read the messages at an address; false if unknown, and in private threads. */
    canRead({ guild = '', channel, parent, public: wasPublic }: Address, person: Person): boolean {
      const found = guildOf(guild)?.channels.cache.get(channel);
      if (found?.type === ChannelType.PrivateThread) return false;
      // Archived threads are not cached.
      if (!found && !(parent !== undefined && wasPublic === true)) return false;
      const permissionSource = parent ?? (found?.isThread() ? found.parentId : undefined) ?? channel;
      return permissionsIn(guild, permissionSource, person)?.has(READ_PERMISSIONS) ?? false;
    },
  };
}

/** Members are not cached, so their permissions are computed here from their roles. */
type Member = Pick<Person, 'id' | 'roles'>;

function basePermissions({ id, roles }: Member, guild: Guild): PermissionsBitField {
  const ids = [guild.id, ...roles];
  const granted = new PermissionsBitField(
    ids.flatMap((role) => guild.roles.cache.get(role)?.permissions ?? []),
  );
  const isUnrestricted = guild.ownerId === id || granted.has(PermissionFlagsBits.Administrator);
  return isUnrestricted ? new PermissionsBitField(PermissionsBitField.All) : granted;
}

function isOpenToAll(channel: GuildBasedChannel): boolean | undefined {
  if (channel.type === ChannelType.PrivateThread) return false;
  return channel.permissionsFor(channel.guild.id)?.has(PermissionFlagsBits.ViewChannel);
}

export type Guilds = ReturnType<typeof createGuilds>;

const THREADS: ReadonlySet<number | undefined> = new Set([
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
]);

export const isThread = (channelType: number | undefined): boolean => THREADS.has(channelType);

/** Whether threads can be opened on messages in such a channel. */
export const supportsThreads = (channelType: number | undefined): boolean =>
  channelType === ChannelType.GuildText || channelType === ChannelType.GuildAnnouncement;
