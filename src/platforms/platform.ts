/** The port that every platform implements. */

import { z } from 'zod';
import type { Bot } from '../core/bot/create-bot.ts';
import { OperatorError } from '../core/errors.ts';
import type { Address, ConversationTurn, HistoryReference, Person } from '../core/invocation.ts';
import type { KeptFile, Message, Progress } from '../core/message.ts';
import type { BrowserChat, PlatformRoutes, Readiness } from '../core/web/platform-routes.ts';
import type { VoiceChannels } from './voice.ts';

/**
 * What a platform needs to find a message again that it has shown: message ids, files uploaded so far. Only the platform
 * that wrote it reads it. It is stored with the job.
 */
export const postedSchema = z.record(z.string(), z.json());
export type Posted = z.infer<typeof postedSchema>;

export interface ShowOptions {
  /**
   * Names this post for ever: the same key never leaves two messages. On Discord it becomes the nonce. At most 25
   * characters.
   */
  readonly key: string;
  /** What an earlier call returned or remembered: then the earlier message is edited and no other is posted. */
  readonly posted?: Posted | undefined;
  /**
   * An interrupted try may have posted more than `posted` tells. A platform that would not recognise the same post again
   * searches for it before it posts.
   */
  readonly mayHavePosted?: boolean;
  /**
   * Stores the state ahead of the result, or what a failed call did. Called, and awaited, ahead only of a step that must
   * not happen twice and that could not be found afterwards either. Each call is a write of the job.
   */
  readonly remember: (posted: Posted) => Promise<void>;
  /**
   * Called right before each request that posts or edits. It throws where another replica may have taken over, and then
   * nothing is written.
   */
  readonly beforeWriting?: () => void;
}

/** Text that is still being written. */
export interface MessageStream {
  /**
   * Never blocks and never throws: the newest message wins, one edit is in flight at a time. The message is made when its edit begins,
   * so that it costs as much as there are edits, and shows all that came until then.
   */
  update(message: () => Message): void;
  /** Writes the last state, whatever the rate limits, and resolves when it is shown. Throws PlatformError. */
  close(message: Message): Promise<Posted>;
}

export interface Platform {
  /** The value of {@link Address.platform}. */
  readonly name: string;
  /** Connects and begins to pass invocations to the bot. Reconnects by itself when the platform is away. */
  start(bot: Bot): Promise<void>;
  /** Takes no new invocations. Those already taken are finished; `show` still works. */
  stop(): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
  status(): Readiness;
  /** Shows `message` at `address`: posts it, or edits the earlier post of this key. Safe to repeat. Throws PlatformError. */
  show(address: Address, message: Message, options: ShowOptions): Promise<Posted>;
  /** Takes back what was posted for the key except `kept`: `stray` is what another run knew of, empty if nothing. Throws PlatformError. */
  retract(address: Address, posts: { key: string; stray: Posted; kept: Posted }): Promise<void>;
  /** Like `show`, for a message that changes many times a second. */
  stream(address: Address, options: ShowOptions): MessageStream;
  /** The headers that are needed to read a file of the platform at `url`; empty for a public file. */
  attachmentHeaders(
    url: string,
    address: Address,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Tells the person alone: in the channel where the platform can, else by direct message. Throws PlatformError. */
  sendPrivately(address: Address, message: Message): Promise<void>;

  // Optional: a platform leaves out what it does not have.

  /** Why it hears no messages without the bot's name: a plain sentence for moderators; absent where it hears them. */
  readonly hearsOnlyItsName?: string;
  /** How many connections bring events; absent where events come without a connection. */
  connections?(): number;
  /**
   * Says how far work is, where the platform says so apart from its message. Resolves to the milliseconds after which it is to
   * be called again; to undefined, and absent, where a platform has none. Throws PlatformError.
   */
  showProgress?(address: Address, progress: Progress): Promise<number | undefined>;
  /** What it answers itself at the listener; absent where that is nothing. */
  readonly listener?: PlatformRoutes;
  /**
   * What was said before, oldest first, as an invocation of this platform names it; what cannot be read is left out. Absent where
   * invocations bring it along. Never rejects.
   */
  readHistory?(address: Address, history: HistoryReference): Promise<readonly ConversationTurn[]>;
  /** The chat that the listener shows in a browser; absent where people bring a client of their own. */
  readonly browserChat?: BrowserChat;
  /** A link for people to a message that was shown; absent or undefined where the platform has none. */
  readonly linkTo?: (address: Address, posted: Posted) => Promise<string | undefined>;
  /**
   * Whether a message that was shown now has a button with this action's id; undefined where the platform cannot tell. Absent
   * where messages end with the process. Throws PlatformError.
   */
  offers?(address: Address, posted: Posted, action: string): Promise<boolean | undefined>;
  /**
   * Whether everybody in its server can read at an address that does not say so; undefined where the platform does not tell.
   * Absent where every address says it. Throws the platform's errors.
   */
  isPublic?(address: Address): Promise<boolean | undefined>;
  /**
   * Whether a person can read what was said at another address of their server; false where the platform does not know, as
   * everywhere if absent.
   */
  mayRead?(address: Address, person: Person): boolean;
  /** The address for another message in the same channel or thread. The address itself if absent. */
  sameChannel?(address: Address): Address;
  /** Loads what plays sound in voice channels, once; absent where the platform has none or no connection for it. */
  readonly voice?: () => Promise<VoiceChannels>;
}

/** Reads kept files. */
export interface MediaReader {
  open(file: KeptFile): Promise<AsyncIterable<Uint8Array>>;
  /** A signed, expiring URL of the listener, for files over a platform's limit. */
  link(file: KeptFile, downloadName: string): string;
}

export type PlatformErrorCode =
  /** The channel is gone or closed to the bot: channel deleted, bot removed, permission lost. */
  | 'gone'
  /** The bot was never let in; a sentence can say how to invite it. */
  | 'not-invited'
  /** The platform is away, slow or limits us: the same call may work later. */
  | 'unavailable'
  /** The platform refused what we sent, and will again. */
  | 'refused';

/** A platform did not take a message. `code` decides what happens next; the text is for the log. */
export class PlatformError extends OperatorError {
  override readonly name = 'PlatformError';
  readonly code: PlatformErrorCode;
  /** Wait this long before the next try. */
  readonly retryAfterMs: number | undefined;
  /** A sentence for the person, where the platform knows a remedy (such as how to invite the bot). */
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
