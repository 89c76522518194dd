/** Voice states, and the voice server assigned to the bot. */
import type { VoiceServer } from '../voice/server.ts';
import { type Gateway, VOICE_INTENT } from './gateway.ts';
import type { Channel, User, VoiceState } from './types.ts';
import type { World } from './world.ts';

const STAGE = 13;

/**
 * People and the bot join, leave and are moved; the bot uses opcode 4. With {@link server}, it gets VOICE_SERVER_UPDATE.
 */
export class VoiceStates {
  /** Receives the bot's sound. Without it, opcode 4 gets no response. */
  server: VoiceServer | undefined;
  /** Sends VOICE_SERVER_UPDATE before the voice state. Discord promises no order. */
  isServerFirst = false;
  /** The number of the bot's requests to join, move or leave. */
  requests = 0;
  readonly #world: World;
  readonly #gateway: Gateway;
  /** Each person's listener on the voice server. */
  readonly #ears = new Map<string, () => void>();

  constructor(world: World, gateway: Gateway) {
    this.#world = world;
    this.#gateway = gateway;
    gateway.onVoice = ({ guild_id: guild, channel_id: channel, self_deaf: selfDeaf }) => {
      this.requests += 1;
      if (!this.server) return;
      const target = channel === null ? undefined : world.channels.get(channel);
      const mayJoin = target && world.has(target, 'ViewChannel') && world.has(target, 'Connect');
      if (channel !== null && !mayJoin) return;
      this.#place(world.bot, guild, target, selfDeaf);
    };
  }

  of(user: User, guildId: string): VoiceState | undefined {
    return this.#world.voiceStates.get(`${guildId} ${user.id}`);
  }

  /** The bot's voice channel. */
  botIn(guildId: string): string | null {
    return this.of(this.#world.bot, guildId)?.channelId ?? null;
  }

  /** A person joins and hears everything sent from then on. */
  join(user: User, channel: Channel, { deaf = false } = {}): void {
    const { guildId } = channel;
    if (guildId === null) throw new Error('Calls in direct messages are not supported');
    this.#hangUp(user);
    if (this.server && !user.bot) {
      const call = this.server.call(channel.id);
      const ear = call.listen(user.id);
      this.#ears.set(user.id, () => call.hangUp(ear));
    }
    this.#place(user, guildId, channel, deaf);
  }

  leave(user: User, guildId: string): void {
    this.#hangUp(user);
    this.#place(user, guildId, undefined, false);
  }

  /** The voice server goes down without a replacement. */
  loseServer(guildId: string): void {
    this.#tellServer(guildId, null, this.#world.nextId());
  }

  /** A new voice server is assigned to the bot's channel. */
  findServer(guildId: string): void {
    const state = this.of(this.#world.bot, guildId);
    const channel = state?.channelId == null ? undefined : this.#world.channels.get(state.channelId);
    if (state && channel) this.#admit(state, channel);
  }

  /** A moderator moves the bot, or disconnects it without a channel. */
  moveBot(guildId: string, channel: Channel | undefined): void {
    this.server?.closeAll(4014);
    this.#place(this.#world.bot, guildId, channel, true);
  }

  /** A stage moderator lets the bot speak, or moves it to the audience. */
  suppressBot(guildId: string, suppress: boolean): void {
    const state = this.of(this.#world.bot, guildId);
    if (!state) throw new Error('The bot is not in a voice channel');
    state.suppress = suppress;
    this.#announce(this.#world.bot, state);
  }

  /** Invites the bot to speak. */
  inviteBot(guildId: string): void {
    const state = this.of(this.#world.bot, guildId);
    if (!state) throw new Error('The bot is not in a voice channel');
    state.requestedAt = new Date(this.#world.now()).toISOString();
    this.#announce(this.#world.bot, state);
  }

  /** Accepts an invitation as the bot. Returns false without one. */
  speak(guildId: string): boolean {
    const state = this.of(this.#world.bot, guildId);
    if (state?.requestedAt == null) return false;
    Object.assign(state, { suppress: false, requestedAt: null });
    this.#announce(this.#world.bot, state);
    return true;
  }

  #hangUp(user: User): void {
    this.#ears.get(user.id)?.();
    this.#ears.delete(user.id);
  }

  #place(user: User, guildId: string, channel: Channel | undefined, selfDeaf: boolean): void {
    const previous = this.of(user, guildId);
    const state: VoiceState = {
      userId: user.id,
      guildId,
      channelId: channel?.id ?? null,
      sessionId: previous?.channelId != null ? previous.sessionId : this.#world.nextId(),
      selfDeaf,
      suppress: channel?.type === STAGE && user.bot,
      requestedAt: null,
    };
    this.#world.voiceStates.set(`${guildId} ${user.id}`, state);
    const admit = () => {
      if (user.id === this.#world.bot.id && channel) this.#admit(state, channel);
    };
    if (this.isServerFirst) admit();
    this.#announce(user, state);
    if (!this.isServerFirst) admit();
  }

  #admit({ guildId, userId, sessionId }: VoiceState, channel: Channel): void {
    if (!this.server) return;
    const token = this.#world.nextId();
    this.server.admit({ guild: guildId, channel: channel.id, user: userId, session: sessionId, token });
    this.#tellServer(guildId, this.server.endpoint, token);
  }

  #tellServer(guildId: string, endpoint: string | null, token: string): void {
    this.#gateway.dispatch({
      event: 'VOICE_SERVER_UPDATE',
      guildId,
      intents: 0,
      data: () => ({ token, guild_id: guildId, endpoint }),
    });
  }

  #announce(user: User, state: VoiceState): void {
    const member = {
      user,
      roles: [],
      joined_at: new Date(0).toISOString(),
      deaf: false,
      mute: false,
      flags: 0,
    };
    this.#gateway.dispatch({
      event: 'VOICE_STATE_UPDATE',
      guildId: state.guildId,
      intents: VOICE_INTENT,
      data: () => ({ ...this.#world.voiceStateJson(state), member }),
    });
  }
}
