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
import { troubleOf } from '../errors.ts';
import { missingToAnswer, type PermissionName } from '../permissions.ts';

const READING = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

/** Facts about guilds that messages do not carry, from the cache of the gateway connection: without one, no guild is known. */
export function createGuilds(client: () => Client, log: Log) {
  const guildOf = (guild: string): Guild | undefined => client().guilds.cache.get(guild);

  function roleOf(id: string): Role | undefined {
    return client()
      .guilds.cache.find(({ roles }) => roles.cache.has(id))
      ?.roles.cache.get(id);
  }

  /** Of a member in a channel, not a thread; undefined for an unknown channel. */
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
    /** Undefined for a guild that this process is not connected to. */
    known: guildOf,

    /** Whether the guild's events come to this process; `gone` where they would, and the bot is no member. */
    reach(guild: string): 'here' | 'outage' | 'elsewhere' | 'gone' {
      const known = guildOf(guild);
      if (known) return known.available ? 'here' : 'outage';
      const { shards, shardCount = 1 } = client().options;
      const shard = ShardClientUtil.shardIdForGuildId(guild, shardCount);
      return client().isReady() && Array.isArray(shards) && shards.includes(shard) ? 'gone' : 'elsewhere';
    },

    /** 0 to 3; undefined for an unknown guild. */
    premiumTier(guild: string): number | undefined {
      return guildOf(guild)?.premiumTier;
    },

    channelName(id: string): string | undefined {
      const found = client().channels.cache.get(id);
      return found && 'name' in found ? (found.name ?? undefined) : undefined;
    },

    roleName: (id: string): string | undefined => roleOf(id)?.name,

    /** Whether this is the role that Discord manages for the bot: people pick it as readily as the bot itself. */
    botRole: (id: string): boolean => roleOf(id)?.tags?.botId === client().user?.id,

    /** A thread, asked of Discord where the cache does not know it; undefined for another channel, and when Discord does not tell. Never rejects. */
    async thread(channel: string, type: number | undefined): Promise<ThreadChannel | undefined> {
      if (!isThread(type)) return undefined;
      const { cache } = client().channels;
      const known = cache.get(channel);
      // One that discord.js made of a message knows neither its channel nor its owner.
      if (known?.isThread() && known.parentId === null) cache.delete(channel);
      try {
        const found = await client().channels.fetch(channel);
        return found?.isThread() ? found : undefined;
      } catch (error) {
        log.warn({ err: error, trouble: troubleOf(error) }, 'Could not look up a thread');
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
      const holder = found?.isThread() ? found.parent : found;
      const self = guildOf(guild)?.members.me;
      if (!found || !holder || !self) return undefined;
      return missingToAnswer(holder.permissionsFor(self), found.isThread() || parent !== undefined);
    },

    /** Whether everybody in the guild can read a channel or thread; undefined where it is not known. */
    isPublic({ guild = '', channel }: Pick<Address, 'guild' | 'channel'>): boolean | undefined {
      const found = guildOf(guild)?.channels.cache.get(channel);
      return found && isOpenToAll(found);
    },

    /** The same, asked of Discord. Throws discord.js's errors. */
    async askIsPublic({
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

    /** Whether a member may manage the guild. Messages carry a member's roles and not their permissions. */
    moderates(guild: string, person: Member): boolean {
      const known = guildOf(guild);
      return known !== undefined && basePermissions(person, known).has(PermissionFlagsBits.ManageGuild);
    },

    /** Whether a member may use application commands in a channel, not a thread; true for an unknown channel. */
    mayUseCommands: (guild: string, channel: string, person: Member): boolean =>
      permissionsIn(guild, channel, person)?.has(PermissionFlagsBits.UseApplicationCommands) ?? true,

    /** Whether a member can read what was said at an address; false where that is not known, and in private threads. */
    mayRead({ guild = '', channel, parent, public: wasPublic }: Address, person: Person): boolean {
      const found = guildOf(guild)?.channels.cache.get(channel);
      if (found?.type === ChannelType.PrivateThread) return false;
      // An archived thread is in no cache.
      if (!found && !(parent !== undefined && wasPublic === true)) return false;
      const holder = parent ?? (found?.isThread() ? found.parentId : undefined) ?? channel;
      return permissionsIn(guild, holder, person)?.has(READING) ?? false;
    },
  };
}

/** As discord.js counts for members: people are known by their roles here, and are not in its cache. */
type Member = Pick<Person, 'id' | 'roles'>;

function basePermissions({ id, roles }: Member, guild: Guild): PermissionsBitField {
  const ids = [guild.id, ...roles];
  const granted = new PermissionsBitField(
    ids.flatMap((role) => guild.roles.cache.get(role)?.permissions ?? []),
  );
  const isAll = guild.ownerId === id || granted.has(PermissionFlagsBits.Administrator);
  return isAll ? new PermissionsBitField(PermissionsBitField.All) : granted;
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

/** Whether a message in such a channel may have a thread of its own. */
export const takesThreads = (channelType: number | undefined): boolean =>
  channelType === ChannelType.GuildText || channelType === ChannelType.GuildAnnouncement;
