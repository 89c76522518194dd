/** The port that every platform implements, and the port through which platforms reach the bot. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type {
  Address,
  AnyCommand,
  Choice,
  HomeRequest,
  HomeSection,
  Invocation,
  Outcome,
  SuggestRequest,
} from '../command.ts';
import type { KeptFile, Message } from '../message.ts';

/**
 * What a platform needs to find what it has shown again: message ids, files uploaded so far. Only the platform that
 * wrote it reads it. It is stored with the job after every step that must not happen twice.
 */
export const postedSchema = z.record(z.string(), z.json());
export type Posted = z.infer<typeof postedSchema>;

export interface ShowOptions {
  /**
   * Names this post for ever: the same key never leaves two messages (on Discord it becomes the nonce).
   * At most 25 characters.
   */
  readonly key: string;
  /** What an earlier call returned or remembered; the message that stands is edited instead of posting another. */
  readonly posted?: Posted | undefined;
  /** Called after each step that must not happen twice (a message posted, a file uploaded), and awaited. */
  readonly remember: (posted: Posted) => Promise<void>;
}

/** Text that is still being written. */
export interface MessageStream {
  /** Never waits and never throws: the newest message wins, one edit is in flight at a time. */
  update(message: Message): void;
  /** Writes the last state, whatever the rate limits, and resolves when it stands. Throws PlatformError. */
  close(message: Message): Promise<Posted>;
}

/** What a platform sent to the listener. Nothing about it is proven. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it came, since signatures are made over these bytes. */
  readonly body: Buffer;
}

export interface WebhookAnswer {
  readonly status: number;
  /** Without it the answer has no body. */
  readonly json?: object;
}

export interface Platform {
  /** The value of {@link Address.platform}. */
  readonly name: string;
  /** Connects and begins to pass invocations to the bot. Keeps trying by itself when the platform is away. */
  start(bot: Bot): Promise<void>;
  /** Takes no new invocations. What was taken is finished; `show` still works. */
  stop(): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
  status(): PlatformStatus;
  /** Makes `message` stand at `address`, by posting it or editing what stands. Safe to repeat. Throws PlatformError. */
  show(address: Address, message: Message, options: ShowOptions): Promise<Posted>;
  /** Like `show`, for a message that changes many times a second. */
  stream(address: Address, options: ShowOptions): MessageStream;
  /** Proves and takes what the platform sends to the listener; absent where nothing comes that way. */
  readonly receive?: (request: WebhookRequest) => Promise<WebhookAnswer>;
  /** Answers a browser at one of the platform's own pages; absent where it has none. */
  readonly visit?: (request: IncomingMessage, response: ServerResponse) => void;
  /** The address of a message that stands, for people; absent or undefined where the platform has none. */
  readonly linkTo?: (address: Address, posted: Posted) => Promise<string | undefined>;
  /** The headers with which an attachment may be read at `url`; none where the platform serves it to anybody. */
  attachmentHeaders(
    url: string,
    address: Address,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Where something else goes than what stands at this address: into the same place. The address itself if absent. */
  beside?(address: Address): Address;
  /** Says something to the person alone: in place where the platform can, else by direct message. Throws PlatformError. */
  whisper(address: Address, message: Message): Promise<void>;
}

export type PlatformStatus = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** What platforms may do with the bot. */
export interface Bot {
  readonly commands: readonly AnyCommand[];
  /**
   * Never rejects: whatever goes wrong is an outcome with a sentence. An accepted outcome is already stored, so the
   * platform acknowledges after it has the outcome; when that takes longer than the platform's deadline allows, it
   * acknowledges first, behind a promise. Then it calls `begin`.
   */
  run(invocation: Invocation): Promise<Outcome>;
  /**
   * Stores that the person was told to wait, before an acknowledgement that comes ahead of the outcome: should the
   * process die before there is one, the person is told. False when it cannot be stored; then nothing may be
   * acknowledged. `run` takes it back by itself. Never rejects.
   */
  promise?(invocation: Invocation): Promise<boolean>;
  /** What a person sees of the bot in a place of their own, such as Slack's Home tab. Never rejects. */
  home?(request: HomeRequest): Promise<readonly HomeSection[]>;
  /** Completions for an option, at most 25, never rejects. */
  suggest(request: SuggestRequest): Promise<readonly Choice[]>;
}

/** How platforms read kept files. */
export interface MediaReader {
  open(file: KeptFile): Promise<AsyncIterable<Uint8Array>>;
  /** A signed, expiring URL of the listener, for files over a platform's limit. */
  link(file: KeptFile, downloadName: string): string;
}

export type PlatformErrorCode =
  /** The place is gone or closed to the bot: channel deleted, bot removed, permission lost. */
  | 'gone'
  /** The bot was never let in; a sentence can say how to invite it. */
  | 'not-invited'
  /** The platform is away, slow or limits us: the same call may work later. */
  | 'unavailable'
  /** The platform refused what we sent, and will again. */
  | 'refused';

/** A platform did not take what was shown. `code` decides what happens next; nobody reads the text. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly code: PlatformErrorCode;
  /** Wait this long before the next try. */
  readonly retryAfterMs: number | undefined;
  /** A sentence for the person, where the platform knows a way out (such as how to invite the bot). */
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
