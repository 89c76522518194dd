/** Which jobs are to be handled and which are being handled, each step one script. */
import { z } from 'zod';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';

/** A job that is still marked as handled was left by a replica that died, or lost touch: it is handled again. */
const CLAIM = `
local wishes, handling, failures = KEYS[1], KEYS[2], KEYS[3]
local job, token, now = ARGV[1], ARGV[2], tonumber(ARGV[3])
local at = redis.call('ZSCORE', wishes, job)
local due = at and tonumber(at) <= now
if redis.call('HEXISTS', handling, job) == 0 then
  if not at then return {'nothing'} end
  if not due then return {'later', at} end
end
if due then redis.call('ZREM', wishes, job) end
redis.call('HSET', handling, job, token)
return {'handle', redis.call('HGET', failures, job) or '0'}
`;

/** Only the newest handling may end it; the wish of an older one is kept all the same. */
const SETTLE = `
local wishes, handling, failures = KEYS[1], KEYS[2], KEYS[3]
local job, token, at, failed = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('HGET', handling, job) == token then
  redis.call('HDEL', handling, job)
  if failed == '0' then redis.call('HDEL', failures, job) else redis.call('HSET', failures, job, failed) end
end
if at ~= '' then redis.call('ZADD', wishes, 'LT', at, job) end
return redis.call('ZSCORE', wishes, job)
`;

const claimReply = z.union([
  z.tuple([z.literal('nothing')]).transform(() => ({ type: 'nothing' as const })),
  z.tuple([z.literal('later'), z.coerce.number()]).transform(([, at]) => ({ type: 'later' as const, at })),
  z
    .tuple([z.literal('handle'), z.coerce.number()])
    .transform(([, failures]) => ({ type: 'handle' as const, failures })),
]);
export type Claim = z.infer<typeof claimReply>;

const settleReply = z.coerce.number().nullable();

export class RedisHandlings {
  readonly #connection: RedisConnection;
  readonly #wishes: string;
  readonly #handling: string;
  readonly #keys: string[];

  constructor(connection: RedisConnection, keys: RedisKeys) {
    this.#connection = connection;
    this.#wishes = keys.wishes;
    this.#handling = keys.handling;
    this.#keys = [keys.wishes, keys.handling, keys.handlerFailures];
  }

  /** The earliest wish wins. */
  async wish(job: string, at: number): Promise<void> {
    await this.#connection.run((redis) => redis.zadd(this.#wishes, 'LT', at, job));
  }

  /** Those of the jobs for which there is neither a wish nor a handling. */
  async forgotten(jobs: readonly string[]): Promise<string[]> {
    if (jobs.length === 0) return [];
    const [wishes, handlings] = await this.#connection.run((redis) =>
      Promise.all([redis.zmscore(this.#wishes, ...jobs), redis.hmget(this.#handling, ...jobs)]),
    );
    return jobs.filter((_, index) => wishes[index] === null && handlings[index] === null);
  }

  async claim(job: string, token: string, now: number): Promise<Claim> {
    const { length } = this.#keys;
    return claimReply.parse(
      await this.#connection.run((redis) => redis.eval(CLAIM, length, ...this.#keys, job, token, now)),
    );
  }

  /** Ends the handling, with a wish or without, and returns the earliest wish there is now. */
  async settle(
    job: string,
    token: string,
    { at, failures }: { at: number | undefined; failures: number },
  ): Promise<number | undefined> {
    const reply = await this.#connection.run((redis) =>
      redis.eval(SETTLE, this.#keys.length, ...this.#keys, job, token, at ?? '', failures),
    );
    return settleReply.parse(reply) ?? undefined;
  }
}
