/** One voice connection: joined, kept through broken connections, and ended with a reason where trying again does not help. */
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

/**
 * Codes after which the same happens again; not 4022, which is sent when the voice server changes, too. Where the channel is gone,
 * the bot's voice state tells it. https://docs.discord.com/developers/topics/opcodes-and-status-codes#voice-voice-close-event-codes
 */
const REFUSED: ReadonlySet<number> = new Set([4011, 4012, 4016, 4017, 4020, 4021]);
/** After 4014 comes another server within this time where the bot was moved, and nothing where it was thrown out. */
const MOVING_MS = 5_000;
/** A server whose channels were emptied by an outage may be told of only after that. */
const OUTAGE_TOLD_MS = 2_000;
const RETRY = { firstMs: 500, longestMs: 15_000 } as const;
/** A handshake takes less than a second. Tries go on for minutes, or for ten seconds while a person waits. */
const TRIES = { eachMs: 15_000, most: 13 } as const;
const TRIES_AWAITED = { eachMs: 5_000, most: 2 } as const;
/** Five seconds in which a file may be late, in packets; the library ends a song after 0.1 s. */
const MOST_MISSED_FRAMES = 250;

const ownStateSchema = z.object({
  channel_id: z.string().nullable(),
  suppress: z.boolean().catch(false),
});

interface SessionOptions extends JoinOptions, RetryTools {
  /** The bot's own id, which keeps two bots of one process apart. */
  readonly self: string;
  /** The channel gateway of the guild; undefined while the connection to Discord is away. */
  readonly adapter: () => DiscordGatewayAdapterCreator | undefined;
  /** Of the gateway session in which it joined: whether it is connected, or another one came after it. */
  readonly gatewaySession: () => 'connected' | 'away' | 'replaced';
  /** However it ends. */
  readonly onLeft: () => void;
  /** Whether the guild has an outage, which empties its channels: then nobody has removed the bot. */
  readonly hasOutage: () => boolean;
}

/** Resolves when sound can be sent. Rejects with VoiceError. */
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
  readonly #begun = Promise.withResolvers<void>();
  #isBegun = false;
  #isThere = false;
  #isPaused = false;
  #failures = 0;
  #resource: AudioResource | undefined;
  #watch = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.channel = options.channel;
    this.ready = this.#begun.promise;
    this.ready.catch(() => {});
    this.#player = createAudioPlayer({
      behaviors: { noSubscriber: NoSubscriberBehavior.Pause, maxMissedFrames: MOST_MISSED_FRAMES },
    });
    this.#player.on('error', (error) => options.log.warn({ err: error }, 'Audio playback failed'));
    // The library pauses nothing that is not heard yet.
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
    const watched = new WeakSet<object>();
    this.#connection.on('stateChange', (_, state) => {
      if ('networking' in state && !watched.has(state.networking)) {
        watched.add(state.networking);
        state.networking.on('close', (code) => this.#closed(code));
      }
      this.#changed();
    });
    this.#connection.subscribe(this.#player);
    this.#changed();
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
        const isPlayed = state.status !== AudioPlayerStatus.Idle && state.resource === resource;
        if (isPlayed) return;
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

  /** What the library sends goes through here, so that no trouble makes it ask again and again. */
  #adapter(methods: DiscordGatewayAdapterLibraryMethods): ReturnType<DiscordGatewayAdapterCreator> {
    const { adapter, log } = this.#options;
    const connected = adapter()?.({
      ...methods,
      onVoiceStateUpdate: (data) => {
        methods.onVoiceStateUpdate(data);
        this.#moved(data);
      },
      // With a connected gateway because the bot was taken out of the server.
      destroy: () => this.#finish(this.#options.gatewaySession() === 'connected' ? 'removed' : 'lost'),
    });
    let isFirst = true;
    return {
      sendPayload: (payload: unknown) => {
        if (!connected) return false;
        const leaves = z.object({ d: z.object({ channel_id: z.null() }) }).safeParse(payload).success;
        if (isFirst || leaves) {
          isFirst = false;
          return connected.sendPayload(payload);
        }
        const { random, sleep } = this.#options;
        const pause = backoff({ ...RETRY, attempt: Math.max(1, this.#failures), random });
        void sleep(pause, this.#ended.signal).then(() => {
          if (this.#ended.signal.aborted || connected.sendPayload(payload)) return;
          log.info({}, 'Discord is disconnected; could not rejoin a voice channel');
        });
        return true;
      },
      destroy: () => connected?.destroy(),
    };
  }

  #changed(): void {
    if (this.#ended.signal.aborted) return;
    const { state } = this.#connection;
    this.#watch.abort();
    switch (state.status) {
      case VoiceConnectionStatus.Ready:
        this.#failures = 0;
        this.#isBegun = true;
        return void this.#begun.resolve();
      case VoiceConnectionStatus.Destroyed:
        return void this.#finish('lost');
      case VoiceConnectionStatus.Disconnected:
        return void this.#after(MOVING_MS, () =>
          state.reason === VoiceConnectionDisconnectReason.WebSocketClose
            ? this.#takenOut()
            : this.#tryAgain(),
        );
      default:
        return void this.#after(this.#tries.eachMs, () => this.#tryAgain());
    }
  }

  /** The voice of a gateway session ends with it, as when a moderator ends it. A session that is resumed tells which it was. */
  #takenOut(): void {
    if (this.#options.gatewaySession() === 'away') this.#after(MOVING_MS, () => this.#takenOut());
    else this.#finish(this.#whyTakenOut());
  }

  #whyTakenOut(): VoiceEnd {
    const isReplaced = this.#options.gatewaySession() === 'replaced';
    return isReplaced || this.#options.hasOutage() ? 'lost' : 'removed';
  }

  /** It is over at once, and a moment later it is known why. */
  #emptied(): void {
    this.#endConnection();
    this.#after(OUTAGE_TOLD_MS, () => this.#tell(this.#whyTakenOut()));
  }

  get #tries(): { readonly eachMs: number; readonly most: number } {
    return this.#options.isAwaited && !this.#isBegun ? TRIES_AWAITED : TRIES;
  }

  #after(milliseconds: number, then: () => void): void {
    this.#watch = new AbortController();
    const { signal } = this.#watch;
    void this.#options.sleep(milliseconds, signal).then(() => {
      if (!signal.aborted) then();
    });
  }

  #tryAgain(): void {
    if (this.#failed()) this.#connection.rejoin();
  }

  /** False where it was the last failure that is borne. */
  #failed(): boolean {
    this.#failures += 1;
    if (this.#failures < this.#tries.most) return true;
    this.#finish(this.#options.hasOutage() ? 'lost' : 'unreachable');
    return false;
  }

  #closed(code: number): void {
    this.#options.log.info({ code }, 'Discord closed a voice connection');
    if (REFUSED.has(code)) return void this.#finish('refused', code);
    if (code !== 4014) this.#failed();
  }

  /** What Discord says of the bot's own voice state. */
  #moved(data: unknown): void {
    const { data: own } = ownStateSchema.safeParse(data);
    if (!own || this.#ended.signal.aborted) return;
    // Before it has come, this tells of an earlier session that has left.
    if (own.channel_id === null) {
      if (this.#isThere) this.#emptied();
      return;
    }
    this.#isThere = true;
    if (own.channel_id !== this.channel) {
      this.channel = own.channel_id;
      this.#options.onMoved(own.channel_id);
    }
    if (own.suppress === !this.isSpeakable) return;
    this.isSpeakable = !own.suppress;
    this.#options.onSpeakable();
  }

  /** Without a reason the bot leaves by itself. */
  #finish(reason?: VoiceEnd, code?: number): void {
    if (this.#ended.signal.aborted) return;
    this.#endConnection();
    this.#tell(reason, code);
  }

  #endConnection(): void {
    this.#ended.abort();
    this.#options.onLeft();
    this.#watch.abort();
    this.#player.stop(true);
    if (this.#connection.state.status !== VoiceConnectionStatus.Destroyed) this.#connection.destroy();
  }

  #tell(reason?: VoiceEnd, code?: number): void {
    if (!this.#isBegun) this.#begun.reject(new VoiceError(reason ?? 'removed', code));
    else if (reason !== undefined) this.#options.onEnded(reason);
  }
}
