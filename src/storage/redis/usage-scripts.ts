/** Atomic operations on usage, as Lua. */
import { LONGEST_WINDOW, USAGE_KNOWN } from '../usage.ts';

/**
 * `entry:<id>` is a hash: state (`open`, `settled` or `uncertain`), counters as JSON, and the member in them.
 * `count:<counter>` is a sorted set of members by time; a member is its units, a space and its id.
 * `day:<guild>:<day>` is a hash of person and family to sums, both as JSON.
 * KEYS[1] is the prefix of all usage keys. Scripts build names from ids, so Redis Cluster is not supported.
 */
const COMMON = `
local prefix = KEYS[1]
local function unitsOf(member) return tonumber(string.match(member, '^%S+')) end
local function count(given)
  local over = string.format('%.0f', given.at - ${LONGEST_WINDOW})
  for _, counter in ipairs(given.counters) do
    local key = prefix .. ':count:' .. counter
    redis.call('ZREMRANGEBYSCORE', key, '-inf', over)
    redis.call('ZADD', key, given.at, given.member)
    redis.call('PEXPIRE', key, ${LONGEST_WINDOW})
  end
end
local function refund(id)
  local entry = redis.call('HMGET', prefix .. ':entry:' .. id, 'state', 'counters', 'member')
  if entry[1] ~= 'open' then return end
  for _, counter in ipairs(cjson.decode(entry[2])) do
    redis.call('ZREM', prefix .. ':count:' .. counter, entry[3])
  end
  redis.call('DEL', prefix .. ':entry:' .. id)
end
`;

/** Counts a reservation once if no ceiling is exceeded; otherwise returns the refusal. */
export const RESERVE = `${COMMON}
local function reserve(given)
local id, now, units = given.id, given.now, given.units
if redis.call('EXISTS', prefix .. ':entry:' .. id) == 1 then return nil end
local last, lastFrees
for index, ceiling in ipairs(given.ceilings) do
  local key = prefix .. ':count:' .. ceiling.counter
  local since = '(' .. string.format('%.0f', now - ceiling.windowMs)
  local inUnits = ceiling.of == 'units'
  local wanted = inUnits and units or 1
  local used = 0
  local entries
  if inUnits then
    entries = redis.call('ZRANGEBYSCORE', key, since, '+inf', 'WITHSCORES')
    for at = 1, #entries, 2 do used = used + unitsOf(entries[at]) end
  else
    used = redis.call('ZCOUNT', key, since, '+inf')
  end
  -- Allows for rounding of decimal prices. Free requests always fit.
  if wanted > 0 and used + wanted > ceiling.most + 1e-9 then
    if wanted > ceiling.most then return {type = 'refused', ceiling = index - 1} end
    entries = entries or redis.call('ZRANGEBYSCORE', key, since, '+inf', 'WITHSCORES')
    for at = 1, #entries, 2 do
      used = used - (inUnits and unitsOf(entries[at]) or 1)
      if used + wanted <= ceiling.most + 1e-9 then
        local frees = tonumber(entries[at + 1]) + ceiling.windowMs
        if not lastFrees or frees > lastFrees then last, lastFrees = index - 1, frees end
        break
      end
    end
  end
end
if last then return {type = 'refused', ceiling = last, freesAt = lastFrees} end
redis.call('HSET', prefix .. ':entry:' .. id, 'state', 'open', 'counters', cjson.encode(given.counters),
  'member', given.member)
redis.call('PEXPIRE', prefix .. ':entry:' .. id, ${USAGE_KNOWN})
count(given)
end
`;

/** Returns the refusal, or an empty string. KEYS: prefix. ARGV: the reservation. */
export const RESERVE_ALONE = `${RESERVE}
local refusal = reserve(cjson.decode(ARGV[1]))
return refusal and cjson.encode(refusal) or ''
`;

/** KEYS: prefix, the hash of the day, the days of the guild. */
export const SETTLE = `${COMMON}
local given = cjson.decode(ARGV[1])
local entry = prefix .. ':entry:' .. given.id
local before = redis.call('HGET', entry, 'state')
if before == 'settled' or before == given.state then return 0 end
local text = redis.call('HGET', KEYS[2], given.field)
local sums = text and cjson.decode(text) or {requests = 0, units = 0, uncertain = 0}
if before == 'uncertain' then
  redis.call('HSET', entry, 'state', given.state)
  sums.uncertain = sums.uncertain - 1
  if text then redis.call('HSET', KEYS[2], given.field, cjson.encode(sums)) end
  return 0
end
-- The reservation may have had another price or other counters.
refund(given.id)
redis.call('HSET', entry, 'state', given.state)
redis.call('PEXPIRE', entry, ${USAGE_KNOWN})
count(given)
sums.displayName = given.displayName
sums.requests = sums.requests + 1
sums.units = sums.units + given.units
if given.state == 'uncertain' then sums.uncertain = sums.uncertain + 1 end
redis.call('HSET', KEYS[2], given.field, cjson.encode(sums))
redis.call('SADD', KEYS[3], given.day)
return 1
`;

export const GIVE_BACK = `${COMMON}
refund(ARGV[1])
return 1
`;

export const USED = `${COMMON}
local key = prefix .. ':count:' .. ARGV[1]
local requests, units = 0, 0
for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[2], '+inf')) do
  requests = requests + 1
  units = units + unitsOf(member)
end
return {tostring(requests), tostring(units)}
`;
