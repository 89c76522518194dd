import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import { INBOX_KEPT, INBOX_LIMIT, type Inbox, type InboxEntry } from './storage.ts';

const PUT = `
local inbox, seen, job = KEYS[1], KEYS[2], KEYS[3]
local digest, entry, limit, seconds = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
if redis.call('SISMEMBER', seen, digest) == 1 then return 1 end
if redis.call('LLEN', inbox) >= limit then return 0 end
redis.call('SADD', seen, digest)
redis.call('RPUSH', inbox, entry)
if redis.call('HGET', job, 'open') == '0' then
  redis.call('EXPIRE', inbox, seconds)
  redis.call('EXPIRE', seen, seconds)
end
return 1
`;

const kept = z.number().transform((reply) => reply === 1);
const storedEntry = z.object({ receivedAt: z.number(), body: z.string() });

export class RedisInbox implements Inbox {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;

  constructor(connection: RedisConnection, keys: RedisKeys) {
    this.#connection = connection;
    this.#keys = keys;
  }

  async put(job: string, body: string, receivedAt: number): Promise<boolean> {
    const digest = createHash('sha256').update(body).digest('base64');
    const entry = JSON.stringify({ receivedAt, body } satisfies z.infer<typeof storedEntry>);
    const keys = [this.#keys.inbox(job), this.#keys.inboxSeen(job), this.#keys.job(job)];
    const reply = await this.#connection.run((redis) =>
      redis.eval(PUT, keys.length, ...keys, digest, entry, INBOX_LIMIT, INBOX_KEPT / 1_000),
    );
    return kept.parse(reply);
  }

  async read(job: string, sequence: number): Promise<InboxEntry[]> {
    const entries = await this.#connection.run((redis) => redis.lrange(this.#keys.inbox(job), sequence, -1));
    return entries.map((text, index) => ({
      sequence: sequence + index + 1,
      ...storedEntry.parse(JSON.parse(text)),
    }));
  }
}
