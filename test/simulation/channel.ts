/** The chat of a history. Channels show messages, and the chat does not know which ones belong together. */
import type { Address } from '../../src/core/invocation.ts';
import type { Message } from '../../src/core/message.ts';
import { MediaError } from '../../src/media/errors.ts';
import {
  type MessageStream,
  type Platform,
  PlatformError,
  type PostState,
  type ShowOptions,
} from '../../src/platforms/platform.ts';
import type { History } from './history.ts';
import type { Kernel, Process } from './kernel.ts';
import type { Watch } from './watch.ts';

export interface Standing {
  readonly key: string;
  readonly channel: string;
  message: Message;
}

const RETRY_AFTER_MS = 20_000;

interface CallOptions {
  /** The request leaves the process in the same step. */
  readonly leaves?: boolean;
  readonly deletes?: boolean;
  /** The calls that a Retry-After applies to; undefined if that is not watched. */
  readonly limited?: string | undefined;
}

export class SimulatedChat {
  /** All visible messages by id. */
  readonly standing = new Map<string, Standing>();
  /** Threads of requests that led to a direct message. */
  readonly privately = new Set<string>();
  readonly #kernel: Kernel;
  readonly #history: History;
  readonly #watch: Watch;
  #calls = 0;
  #ids = 0;

  constructor(kernel: Kernel, history: History, watch: Watch) {
    this.#kernel = kernel;
    this.#history = history;
    this.#watch = watch;
  }

  /** The adapter of one process. */
  platformOf(process: Process): Platform {
    // Streams have their own rate limits in the adapters.
    const show = (address: Address, message: Message, options: ShowOptions) =>
      this.#show(process, address, message, options, `${process.name} for ${options.key}`);
    return {
      name: 'slack',
      start: async () => undefined,
      stop: async () => undefined,
      close: async () => undefined,
      status: () => ({ ready: true }),
      attachmentHeaders: () => ({}),
      show,
      retract: (_address, { key, current }) =>
        this.#call(
          process,
          `deletes messages of ${key} besides ${current.id}`,
          () => {
            for (const [id, standing] of this.standing) {
              if (standing.key !== key || id === current.id) continue;
              this.standing.delete(id);
              this.#watch.note({ event: 'deleted', id });
            }
          },
          { deletes: true },
        ),
      stream: (address, options) => this.#stream(process, address, options),
      sendPrivately: ({ thread = '' }) =>
        this.#call(process, 'sends a direct message', () => {
          this.privately.add(thread);
          this.#watch.note({ event: 'sent privately', thread });
        }),
    };
  }

  /** Posts only once per key: searches for an existing message first. */
  async #show(
    process: Process,
    { channel }: Address,
    message: Message,
    options: ShowOptions,
    limited?: string,
  ): Promise<PostState> {
    const { key, posted, mayHavePosted, remember } = options;
    let id = typeof posted?.id === 'string' ? posted.id : undefined;
    if (id === undefined && (mayHavePosted || posted?.unanswered))
      id = await this.#kernel.effect(process, `searches for the message of ${key}`, () =>
        this.#find(key, channel),
      );
    if (id !== undefined && this.standing.has(id)) {
      const existing = id;
      this.#write(process, options, 'edits');
      const edit = () => {
        const standing = this.standing.get(existing);
        if (standing) standing.message = message;
        this.#watch.note({ event: 'edited', id: existing, message });
      };
      await this.#call(process, `edits ${existing} (${summary(message)})`, edit, { leaves: true, limited });
      return { id: existing };
    }
    this.#write(process, options, 'posts for');
    const post = () => {
      this.#ids += 1;
      const posted = `message-${this.#ids}`;
      this.standing.set(posted, { key, channel, message });
      this.#watch.note({ event: 'posted', id: posted, job: key, channel, message });
      return posted;
    };
    const what = `posts for ${key} (${summary(message)})`;
    const created = await this.#call(process, what, post, { leaves: true, limited }).catch(
      async (error: unknown) => {
        if (error instanceof PlatformError && error.code === 'unavailable')
          await remember({ unanswered: true });
        throw error;
      },
    );
    return { id: created };
  }

  /** The lease is checked in the same step in which the request leaves. */
  #write(process: Process, { key, beforeWriting }: ShowOptions, what: string): void {
    beforeWriting?.();
    this.#watch.writing(process, key, what);
  }

  #find(key: string, channel: string): string | undefined {
    return [...this.standing].find(([, one]) => one.key === key && one.channel === channel)?.[0];
  }

  #stream(process: Process, address: Address, options: ShowOptions): MessageStream {
    let posted = options.posted;
    let newest: (() => Message) | undefined;
    let writing: Promise<void> | undefined;
    const write = async () => {
      while (newest) {
        const message = newest();
        newest = undefined;
        try {
          posted = await this.#show(process, address, message, { ...options, posted });
        } catch {
          // The next message or the last one contains this text, too.
        }
      }
      writing = undefined;
    };
    return {
      update: (message) => {
        newest = message;
        writing ??= write();
      },
      close: async (message) => {
        newest = undefined;
        await writing;
        return this.#show(process, address, message, { ...options, posted });
      },
    };
  }

  /** Throws PlatformError as the history demands. */
  #call<Value>(
    process: Process,
    what: string,
    operate: () => Value,
    { deletes = false, limited, ...leaving }: CallOptions = {},
  ): Promise<Value> {
    if (limited !== undefined) this.#watch.asked(limited, 0);
    const answer = () => {
      const planned = this.#history.channel[this.#calls] ?? 'shown';
      this.#calls += 1;
      // If the chat refuses to delete, two messages remain, and the bot cannot help it.
      const reply =
        deletes && (planned === 'refused' || planned === 'gone' || planned === 'file missing')
          ? 'shown'
          : planned;
      if (reply !== 'shown') this.#kernel.tell('chat', reply);
      switch (reply) {
        case 'shown':
          return operate();
        case 'answer lost':
          operate();
          throw new PlatformError('unavailable', 'no answer');
        case 'away':
          throw new PlatformError('unavailable', 'away');
        case 'limited':
          if (limited !== undefined) this.#watch.refused(limited, RETRY_AFTER_MS);
          throw new PlatformError('unavailable', 'limited', { retryAfterMs: RETRY_AFTER_MS });
        case 'file missing':
          throw new MediaError('missing', reply);
        case 'refused':
        case 'gone':
          throw new PlatformError(reply, reply);
        default:
          return reply satisfies never;
      }
    };
    return this.#kernel.effect(process, what, answer, leaving);
  }
}

function summary({ progress, media = [], text = '' }: Message): string {
  if (progress) return progress.stage;
  return media.length > 0 ? `${media.length} files` : text.slice(0, 40);
}
