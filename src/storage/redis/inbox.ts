/** The callbacks that came for jobs. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Callback, INBOX_KEPT, INBOX_OF_A_KIND, type Inbox, StorageError } from '../storage.ts';
import type { RedisTools } from './connection.ts';
import { EARLIEST } from './schedule.ts';

const storedEntry = z.object({ receivedAt: z.number(), body: z.string() });

/** Replaces a displaced entry, so that those after it keep their sequence. */
const DISPLACED = JSON.stringify({ receivedAt: 0, body: '' } satisfies z.infer<typeof storedEntry>);

/** Callbacks that one script stores: a bound on how long Redis does nothing else. */
const LARGEST_GROUP = 128;

/**
 * Kinds are counted from the first entry on that may displace another, so most jobs have no count of them. `open`: of the job.
 */
const PUT = `
local function ofKind(inbox, kind)
  local found = {}
  for place, entry in ipairs(redis.call('LRANGE', inbox, 0, ${INBOX_OF_A_KIND - 1})) do
    local known, digest = string.match(entry, '^{"kind":"([^"]*)","digest":"([^"]*)"')
    if known == kind then table.insert(found, {place - 1, digest}) end
  end
  return found
end

local function put(inbox, seen, kinds, digest, entry, kind, open)
  -- Seen only once it is in: what fails in between is tried again.
  local index = redis.call('RPUSH', inbox, entry) - 1
  if redis.call('SADD', seen, digest) == 0 then
    redis.call('RPOP', inbox)
  elseif index >= ${INBOX_OF_A_KIND} and kind ~= '' then
    local counted = redis.call('HGET', kinds, kind)
    local kept = counted and cjson.decode(counted) or ofKind(inbox, kind)
    table.insert(kept, {index, digest})
    if #kept > ${INBOX_OF_A_KIND} then
      local oldest = table.remove(kept, 1)
      redis.call('LSET', inbox, oldest[1], '${DISPLACED}')
      redis.call('SREM', seen, oldest[2])
    end
    redis.call('HSET', kinds, kind, cjson.encode(kept))
    redis.call('PEXPIRE', kinds, ${INBOX_KEPT})
  end
  if open ~= '1' then
    redis.call('PEXPIRE', inbox, ${INBOX_KEPT})
    redis.call('PEXPIRE', seen, ${INBOX_KEPT})
  end
end
`;

/** KEYS: entries, digests of them, their kinds, the job. ARGV: digest, entry, kind. */
const PUT_ALONE = `${PUT}
put(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], redis.call('HGET', KEYS[4], 'open'))
return 1
`;

/** KEYS: what those of {@link PUT_ALONE} begin with, and all keys of the queue. ARGV: now; job, time, digest, entry, kind of each. */
const RECEIVE = `${PUT}${EARLIEST}
local inboxes, digests, kinds, jobs, queue = unpack(KEYS)
local now = tonumber(ARGV[1])

local function receive(job, at, digest, entry, kind)
  local open = redis.call('HGET', jobs .. job, 'open')
  if not open and redis.call('EXISTS', jobs .. job) == 0 then return 'unknown-job' end
  put(inboxes .. job, digests .. job, kinds .. job, digest, entry, kind, open)
  return earliest(queue, job, at, math.max(0, at - now), '') == 1 and 'stored' or 'not scheduled'
end

local replies = {}
for index = 2, #ARGV, 5 do
  local job, at, digest, entry, kind = unpack(ARGV, index, index + 4)
  replies[#replies + 1] = receive(job, tonumber(at), digest, entry, kind)
end
return replies
`;

const receiveReply = z.enum(['stored', 'not scheduled', 'unknown-job']);
type ReceiveReply = z.infer<typeof receiveReply>;
const receiveReplies = z.array(receiveReply);

/** A callback on its way into the inbox. */
interface Arrival extends Callback {
  readonly resolve: (reply: ReceiveReply) => void;
  readonly reject: (error: unknown) => void;
}

export interface RedisInbox extends Inbox {
  /**
   * Puts the callback and moves the timer of its job; `not scheduled` where the job has none. Those of the same moment share
   * one script, and so one wait for the disk of Redis.
   */
  receive(callback: Callback): Promise<ReceiveReply>;
}

/** `queue`: what all keys of the schedule begin with. */
export function redisInbox({ connection, keys, clock }: RedisTools, queue: string): RedisInbox {
  const keysOf = (job: string) => [keys.inbox(job), keys.inboxSeen(job), keys.inboxKinds(job), keys.job(job)];
  const starts = [...keysOf(''), queue];
  const valuesOf = ({ body, receivedAt, kind = '' }: Omit<Callback, 'job'>) => {
    const digest = hash('sha256', body, 'base64');
    // `PUT` reads the first two where they are.
    return [digest, JSON.stringify({ kind, digest, receivedAt, body }), kind];
  };
  let arrivals: Arrival[] = [];

  async function store(group: readonly Arrival[]): Promise<void> {
    try {
      const values: (string | number)[] = [clock.now()];
      for (const callback of group)
        values.push(callback.job, Math.ceil(callback.receivedAt), ...valuesOf(callback));
      const replies = await connection.evaluate(RECEIVE, starts, values);
      for (const [index, reply] of receiveReplies.parse(replies).entries()) group[index]?.resolve(reply);
    } catch (error) {
      // One of them failed, and must not take the others with it.
      if (group.length > 1 && !(error instanceof StorageError)) for (const one of group) void store([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  function storeArrivals(): void {
    const group = arrivals;
    arrivals = [];
    if (group.length > 0) void store(group);
  }

  return {
    receive: (callback) =>
      new Promise((resolve, reject) => {
        const count = arrivals.push({ ...callback, resolve, reject });
        if (count === 1) setImmediate(storeArrivals);
        if (count === LARGEST_GROUP) storeArrivals();
      }),
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
