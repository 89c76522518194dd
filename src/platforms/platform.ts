/** The port that every platform implements. */

import { z } from 'zod';
import type { Bot } from '../core/bot/create-bot.ts';
import { OperatorError } from '../core/errors.ts';
import type { Address, ConversationTurn, HistoryReference, Person } from '../core/invocation.ts';
import type { MediaFile, Message, Progress } from '../core/message.ts';
import type { BrowserChat, PlatformRoutes, Readiness } from '../core/web/platform-routes.ts';
import type { VoiceChannels } from './voice.ts';

/** State a platform needs to find its own message again: message ids, uploaded files. Opaque to others; stored with the job. */
export const postedSchema = z.record(z.string(), z.json());
export type PostState = z.infer<typeof postedSchema>;

export interface ShowOptions {
  /**
   * Idempotency key: the same key never produces two messages. Discord uses it as the nonce. At most 25 characters.
   */
  readonly key: string;
  /** State from an earlier call. If set, that message is edited instead of posting another. */
  readonly posted?: PostState | undefined;
  /**
   * True if an interrupted attempt may have posted more than `posted` records. Platforms without idempotent posts then search
   * for the message before they post.
   */
  readonly mayHavePosted?: boolean;
  /**
   * Stores the state before the result is known, or after a partial failure. Awaited before each step that must not happen
   * twice and cannot be detected afterwards. Each call writes the job.
   */
  readonly remember: (posted: PostState) => Promise<void>;
  /** Called right before each request that posts or edits. Throws if another replica may have taken over the job. */
  readonly beforeWriting?: () => void;
}

/** A message whose text is still growing. */
export interface MessageStream {
  /**
   * Never blocks and never throws. The newest message wins, with one edit in flight at a time. The message is built when its edit
   * starts, so it is complete and skipped updates cost nothing.
   */
  update(message: () => Message): void;
  /** Writes the final state regardless of pacing, and resolves once it is shown. Throws PlatformError. */
  close(message: Message): Promise<PostState>;
}

/** Texts are plain. */
export interface ChatPoll {
  readonly question: string;
  /** At most {@link Platform.polls}`.mostAnswers`. */
  readonly answers: readonly string[];
  /** When the platform ends the poll, unless it is closed earlier. */
  readonly hours: number;
}

export interface PollCount {
  /** The votes for each answer, in order. */
  readonly votes: readonly number[];
  /** False while the platform is still counting. */
  readonly isFinal: boolean;
}

export interface Platform {
  /** The value of {@link Address.platform}. */
  readonly name: string;
  /** Connects and starts passing invocations to the bot. Reconnects automatically after an outage. */
  start(bot: Bot): Promise<void>;
  /** Stops accepting invocations and finishes those in progress. `show` still works. */
  stop(): Promise<void>;
  /** Closes every connection. */
  close(): Promise<void>;
  status(): Readiness;
  /** Posts `message` at `address`, or edits the earlier post with the same key. Safe to repeat. Throws PlatformError. */
  show(address: Address, message: Message, options: ShowOptions): Promise<PostState>;
  /** Deletes everything posted for the key except `current`. `stray` is the state from another run, or empty. Throws PlatformError. */
  retract(address: Address, posts: { key: string; stray: PostState; current: PostState }): Promise<void>;
  /** Like `show`, for a message that changes many times a second. */
  stream(address: Address, options: ShowOptions): MessageStream;
  /** Headers required to download a file of the platform; empty for a public file. */
  attachmentHeaders(
    url: string,
    address: Address,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Sends a message only the person can see, in the channel if the platform can, otherwise as a direct message. Throws PlatformError. */
  sendPrivately(address: Address, message: Message): Promise<void>;

  // Optional features.

  /** A sentence for moderators: the reason the bot only receives messages that mention it. Absent if it receives all messages. */
  readonly mentionsOnlyNotice?: string;
  /** Number of event connections; absent for platforms without one. */
  connections?(): number;
  /**
   * Shows progress outside the message, such as a status line. Resolves to the milliseconds until the next call, or undefined if
   * no further call is needed. Throws PlatformError.
   */
  showProgress?(address: Address, progress: Progress): Promise<number | undefined>;
  /** HTTP routes that the platform handles itself. */
  readonly listener?: PlatformRoutes;
  /**
   * Loads the messages before an invocation, oldest first. Skips unreadable ones. Absent if invocations already include them.
   * Throws PlatformError with advice if the bot may not read there, and nothing else.
   */
  readHistory?(address: Address, history: HistoryReference): Promise<readonly ConversationTurn[]>;
  /** The chat that the listener serves to browsers; absent for platforms with their own client. */
  readonly browserChat?: BrowserChat;
  /** A permalink to a posted message; undefined if the platform has none. */
  readonly linkTo?: (address: Address, posted: PostState) => Promise<string | undefined>;
  /**
   * Whether a posted message currently has a button with this action id; undefined if unknown. Absent if messages do not outlive
   * the process. Throws PlatformError.
   */
  offers?(address: Address, posted: PostState, action: string): Promise<boolean | undefined>;
  /**
   * Whether everyone in the server can read the channel, for addresses without `public`; undefined if unknown. Absent if every
   * address has `public`. Throws the platform's errors.
   */
  isPublic?(address: Address): Promise<boolean | undefined>;
  /** Whether a person can read messages at another address of their server; false if unknown or absent. */
  canRead?(address: Address, person: Person): boolean;
  /** The address for another message in the same channel or thread; if absent, the same address. */
  sameChannel?(address: Address): Address;
  /** Polls that people vote in, one answer each; absent if the platform has none. */
  readonly polls?: {
    readonly mostAnswers: number;
    /** Posts a poll. The same key never produces two. Throws PlatformError. */
    open(address: Address, poll: ChatPoll, key: string): Promise<PostState>;
    /** Ends a poll and counts its votes; undefined if it was deleted. Safe to repeat. Throws PlatformError. */
    close(address: Address, posted: PostState): Promise<PollCount | undefined>;
  };
  /** Loads voice support once; absent if the platform or this connection has no voice channels. */
  readonly voice?: () => Promise<VoiceChannels>;
}

/** Reads stored files. */
export interface MediaReader {
  open(file: MediaFile): Promise<AsyncIterable<Uint8Array>>;
  /** A signed, expiring URL of the listener, for files over a platform's limit. */
  link(file: MediaFile, downloadName: string): string;
}

export type PlatformErrorCode =
  /** The channel no longer exists or the bot has lost access: channel deleted, bot removed, permission revoked. */
  | 'gone'
  /** The bot was never invited; `advice` can explain how to invite it. */
  | 'not-invited'
  /** The platform is down, slow or rate limiting: the same call may work later. */
  | 'unavailable'
  /** The platform rejected the request and would reject it again. */
  | 'refused';

/** A platform rejected a request. `code` decides what happens next; the message is for the log. */
export class PlatformError extends OperatorError {
  override readonly name = 'PlatformError';
  readonly code: PlatformErrorCode;
  /** Minimum delay before the next attempt. */
  readonly retryAfterMs: number | undefined;
  /** A sentence for the person that explains the fix, such as how to invite the bot. */
  readonly advice: string | undefined;

  constructor(
    code: PlatformErrorCode,
    detail: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined; advice?: string | undefined } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.advice = options.advice;
  }
}
