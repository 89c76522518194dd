/** The callbacks that came for jobs. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Callback, INBOX_KEPT, INBOX_LIMIT, type Inbox } from '../storage.ts';
import type { RedisTools } from './connection.ts';
import { EARLIEST } from './schedule.ts';

/** KEYS: entries, digests of them, the job. ARGV: digest, entry. Returns 0 when no more entries are kept. */
const PUT = `
local function put(KEYS, digest, entry)
  local inbox, seen, job = KEYS[1], KEYS[2], KEYS[3]
  if redis.call('SISMEMBER', seen, digest) == 1 then return 1 end
  if redis.call('LLEN', inbox) >= ${INBOX_LIMIT} then return 0 end
  redis.call('SADD', seen, digest)
  redis.call('RPUSH', inbox, entry)
  if redis.call('HGET', job, 'open') == '0' then
    redis.call('PEXPIRE', inbox, ${INBOX_KEPT})
    redis.call('PEXPIRE', seen, ${INBOX_KEPT})
  end
  return 1
end
`;

const PUT_ALONE = `${PUT}
return put(KEYS, ARGV[1], ARGV[2])
`;

/** KEYS: those of {@link PUT}, what all keys of the queue begin with. ARGV: digest, entry, job, time, delay. */
const RECEIVE = `${PUT}${EARLIEST}
if redis.call('EXISTS', KEYS[3]) == 0 then return 'unknown-job' end
if put(KEYS, ARGV[1], ARGV[2]) == 0 then return 'full' end
return earliest(KEYS[4], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), '') == 1 and 'stored' or 'not scheduled'
`;

const storedEntry = z.object({ receivedAt: z.number(), body: z.string() });
const receiveReply = z.enum(['stored', 'not scheduled', 'unknown-job', 'full']);

export interface RedisInbox extends Inbox {
  /** Puts the callback and moves the timer of its job; `not scheduled` where the job has none. */
  receive(callback: Callback, queue: string, delay: number): Promise<z.infer<typeof receiveReply>>;
}

export function redisInbox({ connection, keys }: RedisTools): RedisInbox {
  const keysOf = (job: string) => [keys.inbox(job), keys.inboxSeen(job), keys.job(job)];
  const valuesOf = (body: string, receivedAt: number) => [
    createHash('sha256').update(body).digest('base64'),
    JSON.stringify({ receivedAt, body } satisfies z.infer<typeof storedEntry>),
  ];
  return {
    async receive({ job, body, receivedAt }, queue, delay) {
      const values = [...valuesOf(body, receivedAt), job, Math.ceil(receivedAt), delay];
      return receiveReply.parse(await connection.evaluate(RECEIVE, [...keysOf(job), queue], values));
    },
    async put(job, body, receivedAt) {
      return (await connection.evaluate(PUT_ALONE, keysOf(job), valuesOf(body, receivedAt))) === 1;
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
