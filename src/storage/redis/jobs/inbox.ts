/** The callbacks that came for jobs. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Callback, INBOX_KEPT, INBOX_OF_A_KIND, type Inbox } from '../../storage.ts';
import type { RedisTools } from '../connection/connection.ts';
import { EARLIEST } from '../schedule/schedule.ts';

const storedEntry = z.object({ receivedAt: z.number(), body: z.string() });

/** Replaces a displaced entry, so that those after it keep their sequence. */
const DISPLACED = JSON.stringify({ receivedAt: 0, body: '' } satisfies z.infer<typeof storedEntry>);

/** KEYS: entries, digests of them, their kinds, the job. `open`: of the job. */
const PUT = `
local function put(KEYS, digest, entry, kind, open)
  local inbox, seen, kinds = KEYS[1], KEYS[2], KEYS[3]
  if redis.call('SADD', seen, digest) == 1 then
    local index = redis.call('RPUSH', inbox, entry) - 1
    if kind ~= '' then
      local kept = cjson.decode(redis.call('HGET', kinds, kind) or '[]')
      table.insert(kept, {index, digest})
      if #kept > ${INBOX_OF_A_KIND} then
        local oldest = table.remove(kept, 1)
        redis.call('LSET', inbox, oldest[1], '${DISPLACED}')
        redis.call('SREM', seen, oldest[2])
      end
      redis.call('HSET', kinds, kind, cjson.encode(kept))
      redis.call('PEXPIRE', kinds, ${INBOX_KEPT})
    end
  end
  if open ~= '1' then
    redis.call('PEXPIRE', inbox, ${INBOX_KEPT})
    redis.call('PEXPIRE', seen, ${INBOX_KEPT})
  end
end
`;

const PUT_ALONE = `${PUT}
put(KEYS, ARGV[1], ARGV[2], ARGV[3], redis.call('HGET', KEYS[4], 'open'))
return 1
`;

/** KEYS: those of {@link PUT}, what all keys of the queue begin with. ARGV: digest, entry, kind, job, time, delay. */
const RECEIVE = `${PUT}${EARLIEST}
local open = redis.call('HGET', KEYS[4], 'open')
if not open and redis.call('EXISTS', KEYS[4]) == 0 then return 'unknown-job' end
put(KEYS, ARGV[1], ARGV[2], ARGV[3], open)
return earliest(KEYS[5], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), '') == 1 and 'stored' or 'not scheduled'
`;

const receiveReply = z.enum(['stored', 'not scheduled', 'unknown-job']);

export interface RedisInbox extends Inbox {
  /** Puts the callback and moves the timer of its job; `not scheduled` where the job has none. */
  receive(callback: Callback, queue: string, delay: number): Promise<z.infer<typeof receiveReply>>;
}

export function redisInbox({ connection, keys }: RedisTools): RedisInbox {
  const keysOf = (job: string) => [keys.inbox(job), keys.inboxSeen(job), keys.inboxKinds(job), keys.job(job)];
  const valuesOf = ({ body, receivedAt, kind = '' }: Omit<Callback, 'job'>) => [
    hash('sha256', body, 'base64'),
    JSON.stringify({ receivedAt, body } satisfies z.infer<typeof storedEntry>),
    kind,
  ];
  return {
    async receive(callback, queue, delay) {
      const { job, receivedAt } = callback;
      const values = [...valuesOf(callback), job, Math.ceil(receivedAt), delay];
      return receiveReply.parse(await connection.evaluate(RECEIVE, [...keysOf(job), queue], values));
    },
    async put(job, body, receivedAt) {
      await connection.evaluate(PUT_ALONE, keysOf(job), valuesOf({ body, receivedAt }));
    },
    async read(job, sequence) {
      const entries = await connection.run((redis) => redis.lRange(keys.inbox(job), sequence, -1));
      return entries.flatMap((text, index) =>
        text === DISPLACED
          ? []
          : [{ sequence: sequence + index + 1, ...storedEntry.parse(JSON.parse(text)) }],
      );
    },
  };
}
