/** The callbacks that came for jobs. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Callback, INBOX_KEPT, INBOX_MOST, type Inbox, type Received } from '../storage.ts';
import type { RedisTools } from './connection.ts';

const storedEntry = z.object({ receivedAt: z.number(), body: z.string() });

/**
 * KEYS: entries, their digests, the job, the woken jobs. ARGV: digest, entry, and to wake the job its id and the time. Returns 0 if
 * the job to wake is unknown.
 */
const PUT = `
local inbox, digests, job, woken = unpack(KEYS)
local digest, entry, id, at = unpack(ARGV)
local open = redis.call('HGET', job, 'open')
if id and not open then return 0 end
if redis.call('LLEN', inbox) < ${INBOX_MOST} and redis.call('SADD', digests, digest) == 1 then
  redis.call('RPUSH', inbox, entry)
end
if open ~= '1' then
  redis.call('PEXPIRE', inbox, ${INBOX_KEPT})
  redis.call('PEXPIRE', digests, ${INBOX_KEPT})
end
if id then redis.call('HSETNX', woken, id, at) end
return 1
`;

export interface RedisInbox extends Inbox {
  /** Puts a callback, and marks its job as woken. */
  receive(callback: Callback): Promise<Received>;
}

export function redisInbox({ connection, keys }: RedisTools): RedisInbox {
  async function put({ job, body, receivedAt }: Callback, ...woken: [] | [job: string, at: number]) {
    const names = [keys.inbox(job), keys.inboxDigests(job), keys.job(job), keys.woken];
    const values = [hash('sha256', body, 'base64'), JSON.stringify({ receivedAt, body }), ...woken];
    return (await connection.evaluate(PUT, names, values)) === 1;
  }
  return {
    receive: async (callback) =>
      (await put(callback, callback.job, callback.receivedAt)) ? 'stored' : 'unknown-job',
    async put(job, body, receivedAt) {
      await put({ job, body, receivedAt });
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
