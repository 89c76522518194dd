/** What replicas share: leases of numbered parts, gates that let one pass at a time, budgets for each second. */
import { z } from 'zod';
import type { Replicas } from '../../core/replicas.ts';
import type { RedisTools } from './connection.ts';

/** By the clock of Redis: those of the replicas differ. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** What no replica renews is forgotten, in milliseconds; a session of Discord can be resumed for a few minutes only. */
const KEPT_MS = 3_600_000;

// KEYS: replicas by the end of their lease, holders by part, notes by part, number of parts.
// ARGV: replica, lease, parts, leaving, number of released parts, released parts, then parts with their notes.
const RENEW = `${NOW}
local replicas, holders, notes, total = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local replica, lease, released = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[5])
local function isMine(part) return redis.call('HGET', holders, part) == replica end
for index = 6 + released, #ARGV, 2 do
  if isMine(ARGV[index]) then redis.call('HSET', notes, ARGV[index], ARGV[index + 1]) end
end
for index = 6, 5 + released do
  if isMine(ARGV[index]) then redis.call('HDEL', holders, ARGV[index]) end
end
local known = redis.call('ZSCORE', replicas, replica)
if known and redis.call('ZCOUNT', replicas, '(' .. now, '+inf') == 0 then
  -- All were silent, so Redis was away: each of them has the time of a lease to come back.
  for _, name in ipairs(redis.call('ZRANGE', replicas, 0, -1)) do redis.call('ZADD', replicas, now + lease, name) end
end
if ARGV[4] == '1' then redis.call('ZREM', replicas, replica)
else redis.call('ZADD', replicas, now + lease, replica) end
redis.call('ZREMRANGEBYSCORE', replicas, '-inf', now)
local living = redis.call('ZRANGE', replicas, 0, -1)
local count = {}
for _, name in ipairs(living) do count[name] = 0 end
local holderOf, heldAtAll, all = {}, 0, redis.call('HGETALL', holders)
for index = 1, #all, 2 do
  local part, holder = all[index], all[index + 1]
  if count[holder] then
    holderOf[part] = holder
    count[holder] = count[holder] + 1
    heldAtAll = heldAtAll + 1
  else redis.call('HDEL', holders, part) end
end
local parts = tonumber(redis.call('GET', total) or ARGV[3])
if heldAtAll == 0 and parts ~= tonumber(ARGV[3]) then
  parts = tonumber(ARGV[3])
  redis.call('DEL', notes)
end
redis.call('SET', total, parts)
local excess = {}
if count[replica] then
  -- Those that hold the most keep the parts that are left over: as few as possible change hands.
  table.sort(living, function(one, other)
    if count[one] ~= count[other] then return count[one] > count[other] end
    return one < other
  end)
  local rank = 0
  for index, name in ipairs(living) do if name == replica then rank = index end end
  local share = math.floor(parts / #living) + (rank <= parts % #living and 1 or 0)
  for part = 0, parts - 1 do
    local name = tostring(part)
    if not holderOf[name] and count[replica] < share then
      redis.call('HSET', holders, name, replica)
      holderOf[name] = replica
      count[replica] = count[replica] + 1
    end
  end
  for part = parts - 1, 0, -1 do
    if holderOf[tostring(part)] == replica and count[replica] - #excess > share then excess[#excess + 1] = part end
  end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${KEPT_MS}) end
local held = {}
for part, holder in pairs(holderOf) do
  if holder == replica then held[#held + 1] = { tonumber(part), redis.call('HGET', notes, part) or '' } end
end
return { parts, #living, held, excess }
`;

const renewReply = z.tuple([
  z.number(),
  z.number(),
  z.array(z.tuple([z.number(), z.string()])),
  z.array(z.number()),
]);

// KEYS: what is granted of the second. ARGV: most in a second, wanted.
const TAKE = `${NOW}
local second, left = math.floor(now / 1000), 1000 - now % 1000
local state = redis.call('HMGET', KEYS[1], 'second', 'granted', 'blocked')
local blocked = tonumber(state[3] or 0) - now
if blocked > 0 then return { 0, blocked } end
local before = state[1] == tostring(second) and tonumber(state[2]) or 0
local granted = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - before))
redis.call('HSET', KEYS[1], 'second', second, 'granted', before + granted)
redis.call('PEXPIRE', KEYS[1], 2000)
return { granted, left }
`;

const takeReply = z.tuple([z.number(), z.number()]);

const BLOCK = `${NOW}
redis.call('HSET', KEYS[1], 'blocked', now + tonumber(ARGV[1]))
redis.call('PEXPIRE', KEYS[1], 2000 + tonumber(ARGV[1]))
`;

// KEYS: the gate. ARGV: milliseconds.
const PASS = `
if redis.call('SET', KEYS[1], 1, 'NX', 'PX', ARGV[1]) then return 0 end
return math.max(1, redis.call('PTTL', KEYS[1]))
`;

export function redisReplicas({ connection, keys, newId }: RedisTools, leaseMs: number): Replicas {
  return {
    name: newId(),
    leaseMs,
    async renew(task, { replica, parts, leaving = false, released, notes }) {
      const names = ['replicas', 'holders', 'notes', 'parts'].map((part) => keys.leases(task, part));
      const values = [replica, leaseMs, parts, leaving ? 1 : 0, released.length, ...released];
      const reply = await connection.evaluate(RENEW, names, [...values, ...[...notes].flat()]);
      const [total, replicas, held, excess] = renewReply.parse(reply);
      return {
        parts: total,
        replicas,
        excess,
        held: new Map(held.map(([part, note]) => [part, note || undefined])),
      };
    },
    async pass(gate, everyMs) {
      return z.number().parse(await connection.evaluate(PASS, [keys.gate(gate)], [everyMs]));
    },
    async take(budget, { perSecond, wanted }) {
      const reply = await connection.evaluate(TAKE, [keys.budget(budget)], [perSecond, wanted]);
      const [granted, milliseconds] = takeReply.parse(reply);
      return { granted, milliseconds };
    },
    async block(budget, milliseconds) {
      await connection.evaluate(BLOCK, [keys.budget(budget)], [Math.ceil(milliseconds)]);
    },
  };
}
