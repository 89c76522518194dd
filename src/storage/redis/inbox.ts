/** Received callbacks of jobs. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Callback, INBOX_KEPT, INBOX_LIMIT, type Inbox, type Received } from '../storage.ts';
import type { RedisTools } from './connection.ts';

const storedEntry = z.object({ receivedAt: z.number(), body: z.string() });

/** KEYS: entries, their digests, the job, the woken jobs. ARGV: digest, entry, the job's id, the time. Returns 0 for an unknown job. */
const RECEIVE = `
local inbox, digests, job, woken = unpack(KEYS)
local digest, entry, id, at = unpack(ARGV)
local open = redis.call('HGET', job, 'open')
if not open then return 0 end
if redis.call('LLEN', inbox) < ${INBOX_LIMIT} and redis.call('SADD', digests, digest) == 1 then
  redis.call('RPUSH', inbox, entry)
end
if open ~= '1' then
  redis.call('PEXPIRE', inbox, ${INBOX_KEPT})
  redis.call('PEXPIRE', digests, ${INBOX_KEPT})
end
redis.call('HSETNX', woken, id, at)
return 1
`;

export interface RedisInbox extends Inbox {
  /** Stores a callback, and marks its job as woken. */
  receive(callback: Callback): Promise<Received>;
}

export function redisInbox({ connection, keys }: RedisTools): RedisInbox {
  return {
    async receive({ job, body, receivedAt }) {
      const names = [keys.inbox(job), keys.inboxDigests(job), keys.job(job), keys.woken];
      const values = [hash('sha256', body, 'base64'), JSON.stringify({ receivedAt, body }), job, receivedAt];
      return (await connection.evaluate(RECEIVE, names, values)) === 1 ? 'stored' : 'unknown-job';
    },
    async read(job, sequence) {
      const entries = await connection.run((redis) => redis.lRange(keys.inbox(job), sequence, -1));
      return entries.map((text, index) => ({
        sequence: sequence + index + 1,
        ...storedEntry.parse(JSON.parse(text)),
      }));
    },
  };
}
