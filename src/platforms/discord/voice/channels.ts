/** Finds people in voice channels, and joins the channels. Loaded when it is first needed. */

import {
  ChannelType,
  type Client,
  GatewayDispatchEvents,
  type Guild,
  PermissionFlagsBits,
  RESTJSONErrorCodes,
  Routes,
  Status,
  type WebSocketShard,
} from 'discord.js';
import { z } from 'zod';
import { BoundedMap } from '../../../core/util/bounded-map.ts';
import { type VoiceChannels, VoiceError } from '../../voice.ts';
import type { RetryTools } from '../connection/connection.ts';
import type { Guilds } from '../connection/guilds.ts';
import type { DiscordRest } from '../connection/rest.ts';
import { isDiscordError, isNotMember } from '../errors.ts';
import { missingToPlay } from '../permissions.ts';
import { joinVoice } from './session.ts';

export interface DiscordVoiceOptions extends RetryTools {
  readonly guilds: Pick<Guilds, 'known' | 'reach'>;
  readonly rest: Pick<DiscordRest, 'read' | 'speakOnStage'>;
}

const userSchema = z.object({ bot: z.boolean().catch(false) });
const stateSchema = z.object({ channel_id: z.string().nullable() });
const voiceStateSchema = z.object({
  guild_id: z.string(),
  user_id: z.string(),
  channel_id: z.string().nullable(),
  suppress: z.boolean().catch(false),
  request_to_speak_timestamp: z.string().nullish(),
  member: z.object({ user: userSchema }).optional(),
});
/** For bots and people in voice channels. A missing entry costs a request. */
const MAX_CACHED = 10_000;

export function createDiscordVoice({ guilds, rest, log, random, sleep }: DiscordVoiceOptions): VoiceChannels {
  /** Voice states do not contain this, and members are not cached. */
  const isBot = new BoundedMap<string, boolean>(MAX_CACHED);

  function cacheBot(user: string, bot: boolean): boolean {
    isBot.set(user, bot);
    return bot;
  }

  /** True if the look-up fails: playing to a bot does less harm than silence for a person. */
  async function isPerson(user: string): Promise<boolean> {
    const known = isBot.get(user);
    if (known !== undefined) return !known;
    try {
      return !cacheBot(user, userSchema.parse(await rest.read(Routes.user(user))).bot);
    } catch (error) {
      log.info({ err: error }, 'Could not check whether a listener is a bot');
      return true;
    }
  }

  async function fetchChannel(
    guild: string,
    person: string,
  ): Promise<{ readonly channel: string | null } | 'gone' | 'unknown'> {
    const known = guilds.known(guild);
    if (known?.available) return { channel: null };
    try {
      const state = stateSchema.parse(await rest.read(Routes.guildVoiceState(guild, person)));
      return { channel: state.channel_id };
    } catch (error) {
      if (isDiscordError(error, RESTJSONErrorCodes.UnknownVoiceState)) return { channel: null };
      if (isNotMember(error)) return 'gone';
      log.warn({ err: error }, "Could not look up a person's voice channel");
      return 'unknown';
    }
  }

  /** Callbacks for voice states, by guild. One listener per client serves them all. */
  const watchers = new Map<string, (state: z.infer<typeof voiceStateSchema>) => void>();
  const listening = new WeakSet<Client>();

  function receive(data: unknown): void {
    const { data: state } = voiceStateSchema.safeParse(data);
    if (!state) return;
    if (state.member) cacheBot(state.user_id, state.member.user.bot);
    watchers.get(state.guild_id)?.(state);
  }

  /** The number of sessions that each shard started since the first call. Resumed sessions do not count. */
  const sessionCounts = new WeakMap<WebSocketShard, number>();

  function sessionsOf(shard: WebSocketShard): number {
    const known = sessionCounts.get(shard);
    if (known !== undefined) return known;
    sessionCounts.set(shard, 0);
    shard.on('ready', () => sessionCounts.set(shard, (sessionCounts.get(shard) ?? 0) + 1));
    return 0;
  }

  /** Calls `onState` with each voice state of the guild. Returns a function that stops it. */
  function watch(
    { id, client }: Guild,
    onState: (state: z.infer<typeof voiceStateSchema>) => void,
  ): () => void {
    if (!listening.has(client)) client.ws.on(GatewayDispatchEvents.VoiceStateUpdate, receive);
    listening.add(client);
    watchers.set(id, onState);
    return () => {
      if (watchers.get(id) === onState) watchers.delete(id);
    };
  }

  return {
    async reach(guild) {
      return guilds.reach(guild);
    },

    async channelOf(guild, person) {
      const known = guilds.known(guild);
      const cached = known?.voiceStates.cache.get(person)?.channelId;
      const found = cached == null ? await fetchChannel(guild, person) : { channel: cached };
      if (found === 'gone' || found === 'unknown') return found;
      const { channel: id } = found;
      if (id === null) return undefined;
      if (!known) return { id, name: 'your voice channel', missing: [], isFull: false };
      const channel = known.channels.cache.get(id);
      const self = known.members.me;
      if (!channel?.isVoiceBased() || !self) return undefined;
      const has = channel.permissionsFor(self);
      const missing = missingToPlay(has, channel.type === ChannelType.GuildStageVoice);
      const present = known.voiceStates.cache.filter(({ channelId }) => channelId === channel.id);
      const isFull =
        channel.userLimit > 0 &&
        present.size >= channel.userLimit &&
        !present.has(self.id) &&
        !has.has(PermissionFlagsBits.MoveMembers);
      return { id: channel.id, name: channel.name, missing, isFull };
    },

    async listeners(guild, channel) {
      const known = guilds.known(guild);
      // During an outage, the guild's channels appear empty.
      if (!known?.available) return undefined;
      const self = known.client.user.id;
      const listeners = known.voiceStates.cache.filter(
        ({ id, channelId, deaf }) => channelId === channel && id !== self && deaf !== true,
      );
      const people = await Promise.all(listeners.map(async ({ id }) => ((await isPerson(id)) ? [id] : [])));
      return people.flat();
    },

    async join(options) {
      const guild = guilds.known(options.guild);
      if (!guild) throw new VoiceError('lost');
      const self = guild.client.user.id;
      const unwatch = watch(
        guild,
        ({ user_id, channel_id, suppress, request_to_speak_timestamp: invited }) => {
          if (user_id !== self) return options.onListeners();
          if (!suppress || invited == null || channel_id === null) return;
          // A moderator invited the bot. It never asks to speak.
          rest.speakOnStage(guild.id, channel_id).catch((error: unknown) => {
            log.warn({ err: error }, 'Could not accept an invitation to speak');
          });
        },
      );
      const { shard } = guild;
      const initialSession = sessionsOf(shard);
      const gatewaySession = () =>
        sessionsOf(shard) !== initialSession
          ? 'replaced'
          : shard.status === Status.Ready
            ? 'connected'
            : 'away';
      return joinVoice({
        ...options,
        onLeft: unwatch,
        self,
        adapter: () => guilds.known(options.guild)?.voiceAdapterCreator,
        gatewaySession,
        hasOutage: () => !guild.available,
        log,
        random,
        sleep,
      });
    },
  };
}
