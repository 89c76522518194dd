/** Semaphores of all replicas: two sorted sets of jobs each, by ticket. */
import { z } from 'zod';
import { QUEUE_COUNTED, type Semaphores } from '../storage.ts';
import type { RedisTools } from './connection.ts';

// KEYS: holders and queue (sorted sets of jobs by ticket), the last ticket. ARGV: job, limit, highest position to return.
const ACQUIRE = `
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

const RELEASE = `
local holders, queue = KEYS[1], KEYS[2]
redis.call('ZREM', holders, ARGV[1])
redis.call('ZREM', queue, ARGV[1])
local free = tonumber(ARGV[2]) - redis.call('ZCARD', holders)
if free <= 0 then return {} end
return redis.call('ZRANGE', queue, 0, free - 1)
`;

const positionReply = z.number();
const jobsReply = z.array(z.string());

export function redisSemaphores({ connection, keys }: RedisTools): Semaphores {
  return {
    async acquire(queue, job, limit) {
      const names = [keys.semaphoreHolders(queue), keys.semaphoreQueue(queue), keys.semaphoreTickets(queue)];
      return positionReply.parse(await connection.evaluate(ACQUIRE, names, [job, limit, QUEUE_COUNTED]));
    },
    async release(queue, job, limit) {
      const names = [keys.semaphoreHolders(queue), keys.semaphoreQueue(queue)];
      return jobsReply.parse(await connection.evaluate(RELEASE, names, [job, limit]));
    },
    async holdersAndNext(queue, limit) {
      const lists = await connection.run((redis) =>
        Promise.all([
          redis.zRange(keys.semaphoreHolders(queue), 0, -1),
          redis.zRange(keys.semaphoreQueue(queue), 0, limit - 1),
        ]),
      );
      return lists.flat();
    },
  };
}
