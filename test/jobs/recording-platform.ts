import type { Address } from '../../src/command.ts';
import type { Message } from '../../src/message.ts';
import type {
  MessageStream,
  Platform,
  PlatformError,
  Posted,
  ShowOptions,
} from '../../src/platforms/platform.ts';

/** A channel in memory: one message a key, as the contract of platforms asks. */
export class RecordingPlatform implements Platform {
  readonly name = 'discord';
  /** What stands in the channel, by message id. */
  readonly standing = new Map<string, Message>();
  /** Everything that ever stood, in order. */
  readonly history: Message[] = [];
  readonly whispers: Message[] = [];
  /** What the next calls of `whisper` throw. */
  readonly whisperFailures: PlatformError[] = [];
  /** What the next calls of `show` throw; they work when there is none. */
  readonly failures: PlatformError[] = [];
  /** A test may let the process die here. */
  crash: (point: string) => void = () => undefined;
  readonly #byKey = new Map<string, string>();

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async close(): Promise<void> {}

  status() {
    return { ready: true } as const;
  }

  attachmentHeaders() {
    return {};
  }

  async show(
    address: Address,
    message: Message,
    { key: job, posted, remember }: ShowOptions,
  ): Promise<Posted> {
    this.crash('before show');
    const key = `${address.channel} ${job}`;
    const failure = this.failures.shift();
    if (failure) throw failure;
    const id =
      typeof posted?.id === 'string'
        ? posted.id
        : (this.#byKey.get(key) ?? `message-${this.standing.size + 1}`);
    this.#byKey.set(key, id);
    this.standing.set(id, message);
    this.history.push(message);
    this.crash('after show');
    await remember({ id });
    return { id };
  }

  stream(address: Address, options: ShowOptions): MessageStream {
    return {
      update: (message) => void this.history.push(message),
      close: (message) => this.show(address, message, options),
    };
  }

  async whisper(_address: Address, message: Message): Promise<void> {
    const failure = this.whisperFailures.shift();
    if (failure) throw failure;
    this.whispers.push(message);
  }
}
