import type { Address, ConversationTurn } from '../../src/core/invocation.ts';
import type { Message } from '../../src/core/message.ts';
import type {
  MessageStream,
  Platform,
  PlatformError,
  PostState,
  ShowOptions,
} from '../../src/platforms/platform.ts';

/** A channel in memory. Like a real platform, it searches for an earlier message of a job only if one may not have been recorded. */
export class RecordingPlatform implements Platform {
  readonly name: string;
  /** Current messages by id. */
  readonly shown = new Map<string, Message>();
  /** Where each message is, by id. */
  readonly addresses = new Map<string, Address>();
  /** Everything ever shown, in order. */
  readonly history: Message[] = [];
  readonly privateMessages: Message[] = [];
  /** Errors for the next calls of `sendPrivately`. */
  readonly privateFailures: PlatformError[] = [];
  /** Errors for the next calls of `show`; without any, it succeeds. */
  readonly failures: Error[] = [];
  /** Messages before the question. */
  conversation: readonly ConversationTurn[] = [];
  /** A point at which a test can kill the process. */
  crash: (point: string) => void = () => undefined;
  /** Whether the channel is public; a test can override it. */
  isPublic?: NonNullable<Platform['isPublic']>;
  /** Shows progress outside the message; absent unless a test sets it. */
  showProgress?: NonNullable<Platform['showProgress']>;
  polls?: NonNullable<Platform['polls']>;
  sameChannel?: NonNullable<Platform['sameChannel']>;
  readonly #byKey = new Map<string, string>();

  constructor(name = 'discord') {
    this.name = name;
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async close(): Promise<void> {}

  status() {
    return { ready: true } as const;
  }

  async readHistory(): Promise<readonly ConversationTurn[]> {
    return this.conversation;
  }

  attachmentHeaders() {
    return {};
  }

  async show(
    address: Address,
    message: Message,
    { key: job, posted, mayHavePosted = false, remember }: ShowOptions,
  ): Promise<PostState> {
    this.crash('before show');
    const key = `${address.channel} ${job}`;
    const failure = this.failures.shift();
    if (failure) throw failure;
    const id =
      typeof posted?.id === 'string'
        ? posted.id
        : ((mayHavePosted ? this.#byKey.get(key) : undefined) ?? `message-${this.shown.size + 1}`);
    this.#byKey.set(key, id);
    this.shown.set(id, message);
    this.addresses.set(id, address);
    this.history.push(message);
    this.crash('after show');
    await remember({ id });
    return { id };
  }

  async offers(_address: Address, { id }: PostState, action: string): Promise<boolean | undefined> {
    const message = this.shown.get(String(id));
    return message && JSON.stringify(message).includes(JSON.stringify(action));
  }

  async retract(
    _address: Address,
    { stray, current }: { stray: PostState; current: PostState },
  ): Promise<void> {
    if (stray.id !== current.id) this.shown.delete(String(stray.id));
  }

  stream(address: Address, options: ShowOptions): MessageStream {
    return {
      update: (message) => void this.history.push(message()),
      close: (message) => this.show(address, message, options),
    };
  }

  async sendPrivately(_address: Address, message: Message): Promise<void> {
    const failure = this.privateFailures.shift();
    if (failure) throw failure;
    this.privateMessages.push(message);
  }
}
