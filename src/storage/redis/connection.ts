/** Connections to Redis that fail fast during an outage, and recover automatically. */
import { createClient } from '@keyv/redis';
import { backoff } from '../../core/util/backoff.ts';
import { connectionFault } from '../../core/util/connection-fault.ts';
import type { RunTools } from '../schedule.ts';
import { StorageError } from '../storage.ts';
import { refusalOfRedis, replyOf } from './errors.ts';
import type { RedisKeys } from './keys.ts';

const RETRY_PAUSE = 20;
const RECONNECT_PAUSES = { firstMs: 10, longestMs: 1_000 } as const;
/** Keys per scan, read within a fraction of a millisecond. */
const KEYS_SCANNED = 1_000;

export type RedisClient = ReturnType<typeof createClient>;

export interface RedisPatience {
  /** Milliseconds an operation waits for a broken connection. */
  readonly patienceMs: number;
  /** Milliseconds an operation waits for an answer. */
  readonly answerMs: number;
  /** Milliseconds that the first connection may take. */
  readonly firstConnectionMs: number;
}

type RedisConnectionTools = RedisPatience & Pick<RunTools, 'clock' | 'random' | 'log'>;

/** Redis is connected but does not answer. */
class NoAnswer extends Error {}

export class RedisConnection {
  /** For libraries that send their own commands. Everything else uses {@link run}. */
  readonly client: RedisClient;
  readonly #tools: RedisConnectionTools;
  readonly #host: string;
  readonly #clients = new Set<RedisClient>();
  #cause: unknown;
  #wasReady = false;
  #away = false;
  #closed = false;

  constructor(url: string, tools: RedisConnectionTools) {
    this.#tools = tools;
    this.#host = new URL(url).host;
    this.client = createClient({
      url,
      // A command reported as failed must not run later.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: 3_000,
        reconnectStrategy: (retries) =>
          backoff({ attempt: retries + 1, ...RECONNECT_PAUSES, random: tools.random }),
      },
    });
    this.#clients.add(this.client);
    this.client.on('error', (error) => this.#lost(error));
    this.client.on('ready', () => {
      if (this.#away) tools.log.info({}, 'Reconnected to Redis');
      this.#away = false;
      this.#wasReady = true;
    });
  }

  /** Throws StorageError `unavailable` if Redis cannot be reached within `firstConnectionMs`. */
  async connect(): Promise<void> {
    try {
      await this.within(this.#tools.firstConnectionMs, this.client.connect());
    } catch (error) {
      this.close();
      throw refusalOfRedis(this.#cause) ?? this.#unreachable(error);
    }
  }

  /**
   * Runs an operation that is safe to repeat, again if the connection breaks before the answer. Throws StorageError `unavailable`
   * after a few seconds.
   */
  async run<Value>(operation: (redis: RedisClient) => Promise<Value>): Promise<Value> {
    const { clock, patienceMs, answerMs } = this.#tools;
    const end = clock.elapsed() + patienceMs;
    for (;;) {
      if (this.#closed) throw new StorageError('unavailable', 'The storage is closed.');
      try {
        return await this.within(answerMs, operation(this.client));
      } catch (error) {
        const reply = replyOf(error);
        // After a failover, the connection may lead to a replica.
        if (error instanceof NoAnswer || reply === 'READONLY') this.#renew(error);
        const isLate = clock.elapsed() >= end;
        // Redis may still be loading its data after a start.
        if (reply !== undefined && (reply !== 'LOADING' || isLate)) throw refusalOfRedis(error) ?? error;
        if (error instanceof NoAnswer || isLate)
          throw new StorageError('unavailable', 'Redis cannot be reached.', error);
      }
      await new Promise<void>((resolve) => clock.after(RETRY_PAUSE, resolve));
    }
  }

  /** Runs a Lua script that is safe to repeat. Throws like {@link run}. */
  evaluate(script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    const options = { keys: [...keys], arguments: values.map(String) };
    return this.run((redis) => redis.eval(script, options));
  }

  /** Yields the keys that begin with `start`, each once, unordered. Throws like {@link run}. */
  async *keys(start: string): AsyncGenerator<string> {
    const MATCH = `${start.replace(/[\\*?[\]]/g, '\\$&')}*`;
    // A scan may return the same key twice.
    const yielded = new Set<string>();
    let cursor = '0';
    do {
      const page = await this.run((redis) => redis.scan(cursor, { MATCH, COUNT: KEYS_SCANNED }));
      for (const key of page.keys) {
        if (!yielded.has(key)) yield key;
        yielded.add(key);
      }
      cursor = page.cursor;
    } while (cursor !== '0');
  }

  /** Opens a separate connection for blocking commands, which are sent when Redis is back. Close it with {@link release}. */
  duplicate(): RedisClient {
    const client = this.client.duplicate({ disableOfflineQueue: false });
    // The first connection logs errors.
    client.on('error', () => {});
    this.#clients.add(client);
    return client;
  }

  release(client: RedisClient): void {
    this.#clients.delete(client);
    if (client.isOpen) client.destroy();
  }

  close(): void {
    this.#closed = true;
    for (const client of this.#clients) this.release(client);
  }

  #unreachable(error: unknown): StorageError {
    const reason = connectionFault(this.#cause)?.reason ?? 'it does not answer';
    const sentence = `Redis at ${this.#host} cannot be reached: ${reason}. Start Redis, or correct REDIS_URL.`;
    return new StorageError('unavailable', sentence, error);
  }

  #lost(error: unknown): void {
    this.#cause = error;
    // The first connection rejects with the cause.
    const level = this.#wasReady ? 'warn' : 'debug';
    if (!this.#away && !this.#closed) this.#tools.log[level]({ err: error }, 'Lost the connection to Redis');
    this.#away = true;
  }

  /** Reconnects, because a connection that stopped answering does not recover. */
  #renew(cause: unknown): void {
    if (this.#closed || !this.client.isReady) return;
    this.#lost(cause);
    for (const client of this.#clients) {
      if (!client.isReady) continue;
      client.destroy();
      client.connect().catch(() => {
        // The client reconnects automatically.
      });
    }
  }

  /** Rejects if the operation does not end in time. */
  within<Value>(milliseconds: number, operation: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new NoAnswer('Redis did not respond in time.'));
      const cancel = this.#tools.clock.after(milliseconds, late);
      operation.then(resolve, reject).finally(cancel);
    });
  }
}

/** Shared by the parts of the storage. */
export interface RedisTools extends RunTools {
  readonly connection: RedisConnection;
  readonly keys: RedisKeys;
  /** The prefix of all keys. */
  readonly prefix: string;
  /** Returns an id that is unique across replicas. */
  readonly newId: () => string;
}
