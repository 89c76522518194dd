import { z } from 'zod';
import { type Places, QUEUE_COUNTED } from './places.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';

// KEYS: holders and queue (sorted sets of jobs by ticket), the last ticket. ARGV: job, limit, most that is counted.
const TAKE = `
local holders, queue, tickets = KEYS[1], KEYS[2], KEYS[3]
local job, limit, counted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if redis.call('ZSCORE', holders, job) then return 0 end
if not redis.call('ZSCORE', queue, job) then redis.call('ZADD', queue, redis.call('INCR', tickets), job) end
local free = math.max(limit - redis.call('ZCARD', holders), 0)
local before = redis.call('ZRANK', queue, job)
if before >= free then return math.min(before - free + 1, counted) end
redis.call('ZADD', holders, redis.call('ZSCORE', queue, job), job)
redis.call('ZREM', queue, job)
return 0
`;

const LEAVE = `
local holders, queue = KEYS[1], KEYS[2]
redis.call('ZREM', holders, ARGV[1])
redis.call('ZREM', queue, ARGV[1])
local free = tonumber(ARGV[2]) - redis.call('ZCARD', holders)
if free <= 0 then return {} end
return redis.call('ZRANGE', queue, 0, free - 1)
`;

const placeReply = z.number();
const jobsReply = z.array(z.string());

export class RedisPlaces implements Places {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;

  constructor(connection: RedisConnection, keys: RedisKeys) {
    this.#connection = connection;
    this.#keys = keys;
  }

  async take(queue: string, job: string, limit: number): Promise<number> {
    const keys = [
      this.#keys.placeHolders(queue),
      this.#keys.placeQueue(queue),
      this.#keys.placeTickets(queue),
    ];
    return placeReply.parse(
      await this.#connection.run((redis) =>
        redis.eval(TAKE, keys.length, ...keys, job, limit, QUEUE_COUNTED),
      ),
    );
  }

  async leave(queue: string, job: string, limit: number): Promise<string[]> {
    const keys = [this.#keys.placeHolders(queue), this.#keys.placeQueue(queue)];
    return jobsReply.parse(
      await this.#connection.run((redis) => redis.eval(LEAVE, keys.length, ...keys, job, limit)),
    );
  }

  async occupants(queue: string, limit: number): Promise<string[]> {
    const [holders, first] = await this.#connection.run((redis) =>
      Promise.all([
        redis.zrange(this.#keys.placeHolders(queue), 0, -1),
        redis.zrange(this.#keys.placeQueue(queue), 0, limit - 1),
      ]),
    );
    return [...holders, ...first];
  }
}
