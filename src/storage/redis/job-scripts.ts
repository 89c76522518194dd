/** Atomic operations on job records, as Lua. */
import { INBOX_KEPT } from '../storage.ts';
import { RESERVE } from './usage-scripts.ts';

/** Deliveries remembered for each route. */
const DELIVERIES = 500;

/**
 * Writes the record and updates the indexes. The job's hash names its indexes, so a job that moves to another channel leaves no
 * stale entries. Each write has a token: repeated after a lost answer, it finds its token and succeeds again.
 */
const WRITE_JOB = `
local function write(KEYS, given, record)
  local job, open, running, songs, serverSongs, delivered, undelivered, inbox, digests = unpack(KEYS)
  local before = redis.call('HMGET', job, 'running', 'songs', 'server songs', 'delivered', 'undelivered', 'open')
  local stays = {given.open and running, given.hasSongs and songs, given.hasServerSongs and serverSongs,
    given.duration and delivered, given.undelivered and undelivered}
  for field = 1, 5 do
    if before[field] and before[field] ~= stays[field] then redis.call('ZREM', before[field], given.id) end
  end
  redis.call('HSET', job, 'record', record, 'version', given.version, 'written by', given.token,
    'open', given.open and 1 or 0, 'running', running, 'songs', songs, 'server songs', serverSongs,
    'delivered', delivered, 'undelivered', undelivered, 'duration', given.duration or '')
  if not given.open then
    redis.call('ZREM', open, given.id)
    redis.call('PEXPIRE', inbox, ${INBOX_KEPT})
    redis.call('PEXPIRE', digests, ${INBOX_KEPT})
  elseif before[6] ~= '1' or before[1] ~= running then
    redis.call('ZADD', open, 0, given.id)
    redis.call('ZADD', running, given.createdAt, given.id)
    redis.call('PERSIST', inbox)
    redis.call('PERSIST', digests)
  end
  if given.hasSongs then redis.call('ZADD', songs, given.createdAt, given.id) end
  if given.hasServerSongs then redis.call('ZADD', serverSongs, given.createdAt, given.id) end
  if given.undelivered then redis.call('ZADD', undelivered, given.createdAt, given.id) end
  if given.duration then
    redis.call('ZADD', delivered, given.finishedAt, given.id)
    redis.call('ZREMRANGEBYRANK', delivered, 0, -${DELIVERIES} - 1)
  end
end
`;

/** KEYS: usage prefix, keys of the job. ARGV: the job, its record, optionally the reservation. Safe to repeat, thanks to the token. */
export const INSERT = `${RESERVE}${WRITE_JOB}
local keys, job = {unpack(KEYS, 2)}, cjson.decode(ARGV[1])
local invocation = keys[#keys]
local stored = redis.call('HGET', keys[1], 'written by')
if stored == job.token then return cjson.encode({type = 'accepted'}) end
local known = redis.call('GET', invocation) or (stored and job.id)
if known then return cjson.encode({type = 'known', job = known}) end
local refusal = ARGV[3] and reserve(cjson.decode(ARGV[3]))
if refusal then return cjson.encode(refusal) end
redis.call('SET', invocation, job.id)
write(keys, job, ARGV[2])
return cjson.encode({type = 'accepted'})
`;

export const REPLACE = `${WRITE_JOB}
local given = cjson.decode(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'version', 'written by')
if not stored[1] then return 0 end
local version = tonumber(stored[1])
if version == given.version and stored[2] == given.token then return 1 end
if version + 1 ~= given.version then return 0 end
write(KEYS, given, ARGV[2])
return 1
`;

/** Returns pairs of id and field from a sorted set. KEYS: the set. ARGV: range command, first, last, prefix of job keys, field. */
export const PAIRS = `
local found = {}
for _, id in ipairs(redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3])) do
  local value = redis.call('HGET', ARGV[4] .. id, ARGV[5])
  if value then found[#found + 1] = {id, value} end
end
return found
`;

/** Returns for each job: route, state, 1 if queued, time of acceptance. ARGV: prefix of job keys, ids. */
export const OPEN_FACTS = `
local found = {}
for index = 2, #ARGV do
  local record = redis.call('HGET', ARGV[1] .. ARGV[index], 'record')
  local job = record and cjson.decode(record)
  if job then
    local queued = type(job.queuePosition) == 'number' and 1 or 0
    found[#found + 1] = {job.work.route, job.state, queued, tostring(job.createdAt)}
  end
end
return found
`;

/** Removes the job from every index that its hash names. KEYS: keys of the job. ARGV: the job, optionally its version. */
export const ERASE = `
local job, open, _, _, _, _, _, inbox, digests, invocation = unpack(KEYS)
if ARGV[2] ~= '' and redis.call('HGET', job, 'version') ~= ARGV[2] then return 0 end
local indexes = redis.call('HMGET', job, 'running', 'songs', 'server songs', 'delivered', 'undelivered')
for field = 1, 5 do
  if indexes[field] then redis.call('ZREM', indexes[field], ARGV[1]) end
end
redis.call('ZREM', open, ARGV[1])
redis.call('DEL', job, inbox, digests, invocation)
return 1
`;
