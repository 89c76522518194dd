/** The port for platforms with voice channels. */

/** Voice channels in the servers that this process is connected to. */
export interface VoiceChannels {
  /**
   * `here`: this process receives the server's events and can play there. `elsewhere`: another process does. `gone`: the bot is not
   * a member of the server. `outage`: playback continues, but nothing can start until events return. Never rejects.
   */
  reach(guild: string): Promise<'here' | 'outage' | 'elsewhere' | 'gone'>;
  /** The voice channel a person is in; `gone` if the bot may not see it, `unknown` while the platform does not respond. Never rejects. */
  channelOf(guild: string, person: string): Promise<VoiceChannel | 'gone' | 'unknown' | undefined>;
  /** The people who can hear the channel, without bots and deafened members; undefined until the platform reports them. */
  listeners(guild: string, channel: string): Promise<readonly string[] | undefined>;
  /** Joins a channel and reconnects automatically. Rejects with {@link VoiceError} on failure. */
  join(options: JoinOptions): Promise<VoiceSession>;
}

export interface VoiceChannel {
  readonly id: string;
  readonly name: string;
  /** Names of the bot's missing permissions, for people; empty if it may join and speak, or if unknown. */
  readonly missing: readonly string[];
  /** True if the channel is full and the bot may not exceed its limit. */
  readonly isFull: boolean;
}

export interface JoinOptions {
  readonly guild: string;
  readonly channel: string;
  /** True if someone is waiting: the join rejects after about ten seconds instead of minutes. */
  readonly isAwaited: boolean;
  /** Called when someone moves the bot to another channel. */
  readonly onMoved: (channel: string) => void;
  /** Called when people join, leave, deafen or undeafen. */
  readonly onListeners: () => void;
  /** Called when the bot is allowed to speak or loses that right. On a stage, someone has to invite it. */
  readonly onSpeakable: () => void;
  /** Called when the connection ends permanently, except through {@link VoiceSession.leave}. */
  readonly onEnded: (reason: VoiceEnd) => void;
}

export interface VoiceSession {
  readonly channel: string;
  /** False while the bot is in a stage's audience. */
  readonly isSpeakable: boolean;
  /** Milliseconds of audio sent since the last {@link play}. */
  readonly playedMs: number;
  /**
   * Sends 20 ms Opus packets unchanged, replacing current playback. Resolves to `ended` after the last packet, `failed` if they
   * cannot be read, and `replaced` if other playback started or the session ended.
   */
  play(packets: AsyncIterable<Uint8Array>): Promise<'ended' | 'failed' | 'replaced'>;
  pause(): void;
  resume(): void;
  /** Stops playback. */
  stop(): void;
  leave(): void;
}

export type VoiceEnd =
  /** A moderator disconnected the bot, or the channel was deleted. */
  | 'removed'
  /** The platform rejects the connection and would reject it again. */
  | 'refused'
  /** The voice server does not respond after several attempts. */
  | 'unreachable'
  /** The platform connection was replaced, or the platform has an outage. Joining again works once it recovers. */
  | 'lost';

/** A voice channel could not be joined, or the connection ended. `code` is the platform's close code, for the log. */
export class VoiceError extends Error {
  override readonly name = 'VoiceError';
  readonly reason: VoiceEnd;

  constructor(reason: VoiceEnd, code?: number) {
    super(`The voice connection ended: ${reason}${code === undefined ? '' : ` (${code})`}`);
    this.reason = reason;
  }
}
