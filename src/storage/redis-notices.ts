/** Notices between replicas over Redis publish and subscribe. */
import { Redis } from 'ioredis';
import type { Log } from '../command.ts';
import { createHearers, type Hearers } from './hearers.ts';
import { type RedisConnection, reconnecting } from './redis-connection.ts';
import type { Notices } from './storage.ts';

export interface RedisNoticesOptions {
  readonly url: string;
  /** The channel that all replicas of a deployment share. */
  readonly channel: string;
  readonly connection: RedisConnection;
  readonly log: Log;
}

/** A connection that subscribes can do nothing else, so this one has its own; ioredis subscribes again by itself. */
export class RedisNotices implements Notices {
  readonly #subscriber: Redis;
  readonly #connection: RedisConnection;
  readonly #channel: string;
  readonly #hearers: Hearers = createHearers();

  constructor({ url, channel, connection, log }: RedisNoticesOptions) {
    this.#connection = connection;
    this.#channel = channel;
    this.#subscriber = new Redis(url, { ...reconnecting, maxRetriesPerRequest: null });
    this.#subscriber.on('error', (error) => log.debug({ err: error }, 'Notices are not heard for now'));
    this.#subscriber.on('message', (_channel, job) => this.#hearers.tell(job));
    this.#subscriber.subscribe(channel).catch((error: unknown) => {
      log.debug({ err: error }, 'Notices are not heard any more');
    });
  }

  async tell(job: string): Promise<void> {
    await this.#connection.run((redis) => redis.publish(this.#channel, job));
  }

  listen(job: string, heard: () => void): () => void {
    return this.#hearers.add(job, heard);
  }

  close(): void {
    this.#subscriber.disconnect();
  }
}
