/** Sound in voice channels: what a platform that has them offers. */

/** The voice channels of a platform, as far as this process is connected to their servers. */
export interface VoiceChannels {
  /**
   * Whether events of the server come to this process (`here`): only then it can play there. `gone` where they would, and the bot is
   * no member of the server; `outage` where they will again: what plays there goes on, and nothing can begin. Never rejects.
   */
  reach(guild: string): Promise<'here' | 'outage' | 'elsewhere' | 'gone'>;
  /**
   * The voice channel that a person is in; `gone` where the platform does not let the bot see that, `untold` while it does not
   * answer. Never rejects.
   */
  channelOf(guild: string, person: string): Promise<VoiceChannel | 'gone' | 'untold' | undefined>;
  /**
   * The people who can hear what is played in a channel: no bots, and no one who has switched sound off. Undefined where the
   * platform has not told who is there.
   */
  listeners(guild: string, channel: string): Promise<readonly string[] | undefined>;
  /** Joins a channel, and goes on by itself when connections break. Rejects with {@link VoiceError} where it cannot. */
  join(options: JoinOptions): Promise<VoiceSession>;
}

export interface VoiceChannel {
  readonly id: string;
  readonly name: string;
  /** What the bot lacks there, for people; empty where it may join and speak, and where that is not known. */
  readonly missing: readonly string[];
  /** It takes no more people, and the bot may not join in spite of that. */
  readonly isFull: boolean;
}

export interface JoinOptions {
  readonly guild: string;
  readonly channel: string;
  /** Somebody waits for it: it rejects after some ten seconds, and not after minutes. */
  readonly isAwaited: boolean;
  /** Somebody moved the bot into another channel. */
  readonly onMoved: (channel: string) => void;
  /** People came, left, or switched their sound on or off. */
  readonly onListeners: () => void;
  /** The bot may speak, or may not any more: on a stage somebody has to invite it. */
  readonly onSpeakable: () => void;
  /** The connection ended for good, and not by {@link VoiceSession.leave}. */
  readonly onEnded: (reason: VoiceEnd) => void;
}

export interface VoiceSession {
  readonly channel: string;
  /** False in the audience of a stage. */
  readonly isSpeakable: boolean;
  /** Milliseconds of sound that were sent since the last {@link play}. */
  readonly playedMs: number;
  /**
   * Sends packets of Opus, one for each 20 ms, untouched. Replaces what is played. Resolves when they have ended
   * (`ended`), when they could not be read (`failed`), and when something else replaced them or the session ended.
   */
  play(packets: AsyncIterable<Uint8Array>): Promise<'ended' | 'failed' | 'replaced'>;
  pause(): void;
  resume(): void;
  /** Ends what is played. */
  stop(): void;
  leave(): void;
}

export type VoiceEnd =
  /** A moderator disconnected the bot, or the channel is gone. */
  | 'removed'
  /** The platform refuses the connection, and will again. */
  | 'refused'
  /** The voice server does not answer, after several tries. */
  | 'unreachable'
  /** The connection to the platform itself began anew, or the platform has an outage: joining again helps, in time. */
  | 'lost';

/** A voice channel could not be joined, or was left; `code` is the platform's own, for the log. */
export class VoiceError extends Error {
  override readonly name = 'VoiceError';
  readonly reason: VoiceEnd;

  constructor(reason: VoiceEnd, code?: number) {
    super(`The voice connection ended: ${reason}${code === undefined ? '' : ` (${code})`}`);
    this.reason = reason;
  }
}
