/** One connection to Redis whose operations fail soon while Redis is away, and work again once it is back. */
import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../command.ts';
import type { Clock } from './clock.ts';
import { refusalOfRedis } from './redis-errors.ts';
import { StorageError } from './storage.ts';

const RETRY_PAUSE = 20;
const LONGEST_RECONNECT_PAUSE = 1_000;

export interface RedisConnectionTools {
  /** Milliseconds an operation waits for the connection to come back. */
  readonly patienceMs: number;
  /** Milliseconds it waits for an answer. */
  readonly answerMs: number;
  /** Milliseconds that the first connection may take. */
  readonly firstConnectionMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Options of every connection: tries again for ever, a second apart at most. */
export const reconnecting = {
  lazyConnect: true,
  connectTimeout: 3_000,
  keepAlive: 10_000,
  retryStrategy: (times: number) => Math.min(LONGEST_RECONNECT_PAUSE, 10 * 2 ** Math.min(times, 10)),
  // A failover leaves us connected to what is now a replica.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/** The connection broke before the answer: it may have been done or not. */
class ConnectionLost extends Error {}
/** The connection stands, but nothing comes. */
class NoAnswer extends Error {}

export class RedisConnection {
  /** For libraries that bring their own commands; everything else goes through {@link run}. */
  readonly redis: Redis;
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #answerMs: number;
  readonly #firstConnectionMs: number;
  readonly #waiting = new Set<(error: Error) => void>();
  #closed = false;

  constructor(url: string, { patienceMs, answerMs, firstConnectionMs, clock, log }: RedisConnectionTools) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
    this.#answerMs = answerMs;
    this.#firstConnectionMs = firstConnectionMs;
    this.redis = new Redis(url, {
      ...reconnecting,
      // For what ioredis itself asks on connecting; operations give up before.
      commandTimeout: 2 * answerMs,
      // What was reported as failed must not be done later behind everyone's back.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
    });
    let away = false;
    let cause: Error | undefined;
    this.redis.on('error', (error) => {
      cause = error;
    });
    this.redis.on('close', () => {
      for (const tell of this.#waiting) tell(new ConnectionLost('The connection broke.', { cause }));
      if (!away && !this.#closed) log.warn({ err: cause }, 'Redis is away');
      away = true;
    });
    this.redis.on('ready', () => {
      if (away) log.info({}, 'Redis is back');
      away = false;
    });
  }

  /** Throws StorageError `unavailable` when Redis does not answer within a few seconds. */
  async connect(): Promise<void> {
    this.redis.connect().catch(() => {
      // Tried again by itself; `run` says if that was in vain.
    });
    await this.#ready(this.#firstConnectionMs);
    await this.run((redis) => redis.ping());
  }

  /**
   * Runs an operation that is harmless to repeat: it runs again when the connection breaks before the answer.
   * Throws StorageError `unavailable` after a few seconds of trying.
   */
  async run<Value>(operation: (redis: Redis) => Promise<Value>): Promise<Value> {
    const end = this.#clock.now() + this.#patienceMs;
    for (;;) {
      await this.#ready();
      try {
        return await this.#attempt(operation);
      } catch (error) {
        if (isReply(error) || error instanceof NoAnswer || this.#clock.now() >= end)
          throw asStorageError(error);
      }
      // ioredis knows that a connection broke a moment before it says so.
      await new Promise<void>((resolve) => this.#clock.after(RETRY_PAUSE, resolve));
    }
  }

  close(): void {
    this.#closed = true;
    this.redis.disconnect();
  }

  #attempt<Value>(operation: (redis: Redis) => Promise<Value>): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      const fail = (error: unknown) => {
        done();
        reject(error);
      };
      const cancel = this.#clock.after(this.#answerMs, () => {
        fail(new NoAnswer('Redis did not answer in time.'));
        // It would stay silent; a new connection may not.
        if (this.redis.status === 'ready') this.redis.disconnect(true);
      });
      const done = () => {
        cancel();
        this.#waiting.delete(fail);
      };
      this.#waiting.add(fail);
      operation(this.redis).then((value) => {
        done();
        resolve(value);
      }, fail);
    });
  }

  async #ready(milliseconds = this.#patienceMs): Promise<void> {
    if (this.#closed) throw new StorageError('unavailable', 'The storage is closed.');
    if (this.redis.status === 'ready') return;
    await new Promise<void>((resolve, reject) => {
      const settle = (result: () => void) => () => {
        cancel();
        this.redis.off('ready', ready);
        this.redis.off('end', ended);
        result();
      };
      const ready = settle(resolve);
      const ended = settle(() => reject(new StorageError('unavailable', 'The storage is closed.')));
      const cancel = this.#clock.after(
        milliseconds,
        settle(() => reject(new StorageError('unavailable', 'Redis cannot be reached.'))),
      );
      this.redis.on('ready', ready);
      this.redis.on('end', ended);
    });
  }
}

function asStorageError(error: unknown): unknown {
  if (!isReply(error)) return new StorageError('unavailable', 'Redis did not answer.', error);
  return refusalOfRedis(error) ?? error;
}

/** Whether Redis itself said so, rather than the way to it. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
