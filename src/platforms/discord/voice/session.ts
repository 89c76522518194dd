/** A voice connection: reconnects after failures, and ends with a reason if retrying does not help. */
import { Readable } from 'node:stream';
import {
  type AudioPlayer,
  AudioPlayerStatus,
  type AudioResource,
  createAudioPlayer,
  createAudioResource,
  type DiscordGatewayAdapterCreator,
  type DiscordGatewayAdapterLibraryMethods,
  joinVoiceChannel,
  NoSubscriberBehavior,
  StreamType,
  type VoiceConnection,
  VoiceConnectionDisconnectReason,
  VoiceConnectionStatus,
} from '@discordjs/voice';
import { z } from 'zod';
import { backoff } from '../../../core/util/backoff.ts';
import { type JoinOptions, type VoiceEnd, VoiceError, type VoiceSession } from '../../voice.ts';
import type { RetryTools } from '../connection/connection.ts';
import { isAlone, isSafeToSend, watchEncryption } from './encryption.ts';
import { createVoiceUpdates } from './voice-updates.ts';

/**
 * Close codes after which retrying does not help. Not 4022, which Discord also sends when the voice server changes; the
 * bot's voice state shows whether the channel was deleted. https://docs.discord.com/developers/topics/opcodes-and-status-codes#voice-voice-close-event-codes
 */
const PERMANENT_CODES: ReadonlySet<number> = new Set([4011, 4012, 4016, 4017, 4020, 4021]);
/** How long after 4014 a new server may be assigned if the bot was moved. If it was disconnected, nothing follows. */
const MOVING_MS = 5_000;
/** An outage empties voice channels, but Discord may report it only after this time. */
const OUTAGE_DELAY_MS = 2_000;
const RETRY = { firstMs: 500, longestMs: 15_000 } as const;
/** A handshake takes less than a second. Retries last for minutes, or ten seconds while a person waits. */
const ATTEMPTS = { eachMs: 15_000, most: 13 } as const;
const ATTEMPTS_WHILE_AWAITED = { eachMs: 5_000, most: 2 } as const;
/** Five seconds of missing packets, for slow files. The library's default ends a song after 0.1 s. */
const MAX_MISSED_FRAMES = 250;

const ownStateSchema = z.object({
  channel_id: z.string().nullable(),
  suppress: z.boolean().catch(false),
});

interface SessionOptions extends JoinOptions, RetryTools {
  /** The bot's user id, which separates several bots in one process. */
  readonly self: string;
  /** The guild's gateway adapter; undefined while Discord is disconnected. */
  readonly adapter: () => DiscordGatewayAdapterCreator | undefined;
  /** The state of the gateway session in which the bot joined; `replaced` by a later session. */
  readonly gatewaySession: () => 'connected' | 'away' | 'replaced';
  /** Called once, whatever the reason. */
  readonly onLeft: () => void;
  /** Whether the guild has an outage. It empties the channels, so nobody removed the bot. */
  readonly hasOutage: () => boolean;
}

/** Resolves when audio can be sent. Rejects with VoiceError. */
export async function joinVoice(options: SessionOptions): Promise<VoiceSession> {
  const session = new DiscordVoiceSession(options);
  await session.ready;
  return session;
}

class DiscordVoiceSession implements VoiceSession {
  readonly ready: Promise<void>;
  channel: string;
  isSpeakable = true;
  readonly #options: SessionOptions;
  readonly #connection: VoiceConnection;
  readonly #player: AudioPlayer;
  readonly #ended = new AbortController();
  readonly #joined = Promise.withResolvers<void>();
  #hasJoined = false;
  #isInChannel = false;
  #isPaused = false;
  #isSending = false;
  #failures = 0;
  #resource: AudioResource | undefined;
  #watch = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.channel = options.channel;
    this.ready = this.#joined.promise;
    this.ready.catch(() => {});
    this.#player = createAudioPlayer({
      behaviors: { noSubscriber: NoSubscriberBehavior.Pause, maxMissedFrames: MAX_MISSED_FRAMES },
    });
    this.#player.on('error', (error) => options.log.warn({ err: error }, 'Audio playback failed'));
    // The library cannot pause a song before it plays.
    this.#player.on(AudioPlayerStatus.Playing, () => {
      if (this.#isPaused) this.#player.pause();
    });
    this.#connection = joinVoiceChannel({
      guildId: options.guild,
      channelId: options.channel,
      group: options.self,
      selfDeaf: true,
      adapterCreator: (methods) => this.#adapter(methods),
    });
    this.#connection.on('error', (error) => options.log.info({ err: error }, 'Voice connection failed'));
    watchEncryption(this.#connection, {
      changed: () => this.#updateSubscription(),
      lost: () => this.#connection.configureNetworking(),
    });
    const watched = new WeakSet<object>();
    this.#connection.on('stateChange', (_, state) => {
      if ('networking' in state && !watched.has(state.networking)) {
        watched.add(state.networking);
        state.networking.on('close', (code) => this.#onClose(code));
      }
      this.#onStateChange();
    });
    this.#onStateChange();
  }

  get playedMs(): number {
    return this.#resource?.playbackDuration ?? 0;
  }

  play(packets: AsyncIterable<Uint8Array>): Promise<'ended' | 'failed' | 'replaced'> {
    if (this.#ended.signal.aborted) return Promise.resolve('replaced');
    const stream = Readable.from(packets);
    const resource = createAudioResource(stream, { inputType: StreamType.Opus });
    this.#resource = resource;
    this.#isPaused = false;
    return new Promise((resolve) => {
      const settle = (outcome: 'ended' | 'failed' | 'replaced'): void => {
        this.#player.off('stateChange', changed);
        resolve(outcome);
      };
      const changed = (_: unknown, state: AudioPlayer['state']): void => {
        const isCurrent = state.status !== AudioPlayerStatus.Idle && state.resource === resource;
        if (isCurrent) return;
        if (this.#resource !== resource || this.#ended.signal.aborted) return void settle('replaced');
        settle(stream.errored ? 'failed' : 'ended');
      };
      this.#player.play(resource);
      this.#player.on('stateChange', changed);
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#player.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#player.unpause();
  }

  stop(): void {
    this.#resource = undefined;
    this.#player.stop(true);
  }

  leave(): void {
    this.#watch.abort();
    this.#finish();
  }

  /** Delays the library's requests to rejoin, so that a failure does not cause a flood of them. */
  #adapter(methods: DiscordGatewayAdapterLibraryMethods): ReturnType<DiscordGatewayAdapterCreator> {
    const { adapter, log } = this.#options;
    const updates = createVoiceUpdates(methods, () => this.#isConnecting);
    const connected = adapter()?.({
      onVoiceServerUpdate: updates.onVoiceServerUpdate,
      onVoiceStateUpdate: (data) => {
        updates.onVoiceStateUpdate(data);
        this.#onVoiceState(data);
      },
      // If the gateway is connected, the bot was removed from the server.
      destroy: () => this.#finish(this.#options.gatewaySession() === 'connected' ? 'removed' : 'lost'),
    });
    let isFirst = true;
    return {
      sendPayload: (payload: unknown) => {
        if (!connected) return false;
        const isLeaving = z.object({ d: z.object({ channel_id: z.null() }) }).safeParse(payload).success;
        if (isFirst || isLeaving) {
          isFirst = false;
          return connected.sendPayload(payload);
        }
        const { random, sleep } = this.#options;
        const pause = backoff({ ...RETRY, attempt: Math.max(1, this.#failures), random });
        void sleep(pause, this.#ended.signal).then(() => {
          updates.request();
          if (this.#ended.signal.aborted || connected.sendPayload(payload)) return;
          log.info({}, 'Discord is disconnected; could not rejoin a voice channel');
        });
        return true;
      },
      destroy: () => connected?.destroy(),
    };
  }

  get #isConnecting(): boolean {
    const { status } = this.#connection.state;
    return status === VoiceConnectionStatus.Signalling || status === VoiceConnectionStatus.Connecting;
  }

  /** Only a subscribed connection receives sound. Without one, the player waits. */
  #updateSubscription(): void {
    const isSafe = isSafeToSend(this.#connection);
    if (isSafe === this.#isSending) return;
    this.#isSending = isSafe;
    const { state } = this.#connection;
    if (isSafe) this.#connection.subscribe(this.#player);
    else if (state.status !== VoiceConnectionStatus.Destroyed) state.subscription?.unsubscribe();
  }

  #onStateChange(): void {
    if (this.#ended.signal.aborted) return;
    const { state } = this.#connection;
    this.#watch.abort();
    switch (state.status) {
      case VoiceConnectionStatus.Ready:
        this.#hasJoined = true;
        this.#joined.resolve();
        if (this.#isSending) this.#failures = 0;
        else this.#after(this.#attempts.eachMs, () => this.#onUnencrypted());
        return;
      case VoiceConnectionStatus.Destroyed:
        return void this.#finish('lost');
      case VoiceConnectionStatus.Disconnected:
        return void this.#after(MOVING_MS, () =>
          state.reason === VoiceConnectionDisconnectReason.WebSocketClose
            ? this.#onDisconnect()
            : this.#retry(),
        );
      default:
        return void this.#after(this.#attempts.eachMs, () => this.#retry());
    }
  }

  /** Connects again if the group never gets its keys. */
  #onUnencrypted(): void {
    if (isAlone(this.#connection)) {
      this.#failures = 0;
      this.#after(this.#attempts.eachMs, () => this.#onUnencrypted());
    } else if (this.#countFailure()) {
      this.#options.log.warn({}, 'A voice connection was not encrypted in time; connecting again');
      this.#connection.configureNetworking();
    }
  }

  /** Voice ends with its gateway session, or when a moderator disconnects the bot. Waits for the gateway to tell them apart. */
  #onDisconnect(): void {
    if (this.#options.gatewaySession() === 'away') this.#after(MOVING_MS, () => this.#onDisconnect());
    else this.#finish(this.#disconnectReason());
  }

  #disconnectReason(): VoiceEnd {
    const isReplaced = this.#options.gatewaySession() === 'replaced';
    return isReplaced || this.#options.hasOutage() ? 'lost' : 'removed';
  }

  /** Disconnects immediately, and reports the reason once it is known. */
  #onRemoved(): void {
    this.#endConnection();
    this.#after(OUTAGE_DELAY_MS, () => this.#report(this.#disconnectReason()));
  }

  get #attempts(): { readonly eachMs: number; readonly most: number } {
    return this.#options.isAwaited && !this.#hasJoined ? ATTEMPTS_WHILE_AWAITED : ATTEMPTS;
  }

  #after(milliseconds: number, then: () => void): void {
    this.#watch = new AbortController();
    const { signal } = this.#watch;
    void this.#options.sleep(milliseconds, signal).then(() => {
      if (!signal.aborted) then();
    });
  }

  #retry(): void {
    if (this.#countFailure()) this.#connection.rejoin();
  }

  /** Returns false after too many failures. */
  #countFailure(): boolean {
    this.#failures += 1;
    if (this.#failures < this.#attempts.most) return true;
    this.#finish(this.#options.hasOutage() ? 'lost' : 'unreachable');
    return false;
  }

  #onClose(code: number): void {
    this.#options.log.info({ code }, 'Discord closed a voice connection');
    if (PERMANENT_CODES.has(code)) return void this.#finish('refused', code);
    if (code !== 4014) this.#countFailure();
  }

  /** Handles the bot's own voice state. */
  #onVoiceState(data: unknown): void {
    const { data: own } = ownStateSchema.safeParse(data);
    if (!own || this.#ended.signal.aborted) return;
    // Before the bot has joined, this belongs to an earlier session that left.
    if (own.channel_id === null) {
      if (this.#isInChannel) this.#onRemoved();
      return;
    }
    this.#isInChannel = true;
    if (own.channel_id !== this.channel) {
      this.channel = own.channel_id;
      this.#options.onMoved(own.channel_id);
    }
    if (own.suppress === !this.isSpeakable) return;
    this.isSpeakable = !own.suppress;
    this.#options.onSpeakable();
  }

  /** Without a reason, the bot left on its own. */
  #finish(reason?: VoiceEnd, code?: number): void {
    if (this.#ended.signal.aborted) return;
    this.#endConnection();
    this.#report(reason, code);
  }

  #endConnection(): void {
    this.#ended.abort();
    this.#options.onLeft();
    this.#watch.abort();
    this.#player.stop(true);
    if (this.#connection.state.status !== VoiceConnectionStatus.Destroyed) this.#connection.destroy();
  }

  #report(reason?: VoiceEnd, code?: number): void {
    if (!this.#hasJoined) this.#joined.reject(new VoiceError(reason ?? 'removed', code));
    else if (reason !== undefined) this.#options.onEnded(reason);
  }
}
