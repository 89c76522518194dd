/** Records of jobs. */
import { z } from 'zod';
import { isOpen, type Job } from '../../core/job.ts';
import { alikeOf, jobFacts, parseJob, parseJobs } from '../job-record.ts';
import { type Accepted, INBOX_KEPT, type JobStore, type JobText, type OpenCount } from '../storage.ts';
import type { RedisTools } from './connection.ts';
import type { RedisKeys } from './keys.ts';
import { RESERVE } from './usage-scripts.ts';

/** Ids read at a time while walking all open jobs. */
const PAGE = 500;
/** Records asked for at a time: they are read within milliseconds. */
const PAGE_OF_RECORDS = 50;
/** Deliveries remembered for each route. */
const DELIVERIES = 500;

/**
 * Writes the record and moves the job in the indexes. Its hash names the indexes it is in, so a job that moves to another
 * channel leaves nothing behind. A write carries a token: repeated after a lost answer, it finds its own token and answers
 * again that it won.
 */
const WRITE_JOB = `
local function write(KEYS, given, record)
  local job, open, running, songs, delivered = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
  local inbox, seen, undelivered = KEYS[6], KEYS[7], KEYS[8]
  local before = redis.call('HMGET', job, 'running', 'songs', 'delivered', 'unplaced')
  for field = 1, 4 do
    if before[field] then redis.call('ZREM', before[field], given.id) end
  end
  redis.call('HSET', job, 'record', record, 'version', given.version, 'written by', given.token,
    'open', given.open and 1 or 0, 'running', running, 'songs', songs, 'delivered', delivered,
    'unplaced', undelivered, 'duration', given.duration or '')
  if given.open then
    redis.call('ZADD', open, 0, given.id)
    redis.call('ZADD', running, given.createdAt, given.id)
    redis.call('PERSIST', inbox)
    redis.call('PERSIST', seen)
  else
    redis.call('ZREM', open, given.id)
    redis.call('PEXPIRE', inbox, ${INBOX_KEPT})
    redis.call('PEXPIRE', seen, ${INBOX_KEPT})
  end
  if given.hasSongs then redis.call('ZADD', songs, given.createdAt, given.id) end
  if given.undelivered then redis.call('ZADD', undelivered, given.createdAt, given.id) end
  if given.duration then
    redis.call('ZADD', delivered, given.finishedAt, given.id)
    redis.call('ZREMRANGEBYRANK', delivered, 0, -${DELIVERIES} - 1)
  end
end
`;

/** KEYS: usage prefix, keys of the job. ARGV: the job, its record, the reservation if there is one. Safe to repeat, by the token. */
const INSERT = `${RESERVE}${WRITE_JOB}
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

const REPLACE = `${WRITE_JOB}
local given = cjson.decode(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'version', 'written by')
if not stored[1] then return 0 end
local version = tonumber(stored[1])
if version == given.version and stored[2] == given.token then return 1 end
if version + 1 ~= given.version then return 0 end
write(KEYS, given, ARGV[2])
return 1
`;

/** Pairs of id and field along a sorted set. KEYS: the set. ARGV: range command, first, last, start of job keys, field. */
const PAIRS = `
local found = {}
for _, id in ipairs(redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3])) do
  local value = redis.call('HGET', ARGV[4] .. id, ARGV[5])
  if value then found[#found + 1] = {id, value} end
end
return found
`;

/**
 * Pairs of id and record of the open jobs of one person. KEYS: the open jobs. ARGV: start of job keys, and start and end
 * of the names of the person's indexes, one for each channel.
 */
const RUNNING = `
local found = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local job = redis.call('HMGET', ARGV[1] .. id, 'running', 'record')
  local running = job[1]
  if running and string.sub(running, 1, #ARGV[2]) == ARGV[2] and string.sub(running, -#ARGV[3]) == ARGV[3] then
    found[#found + 1] = {id, job[2]}
  end
end
return found
`;

/** For each of the jobs: route, state, 1 if it waits in line, when it was accepted. ARGV: start of job keys, ids. */
const OPEN_FACTS = `
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

/** KEYS: keys of the job, and the kinds in its inbox. Removes the job from every index that its hash names. ARGV: the job, its version or nothing. */
const ERASE = `
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], 'version') ~= ARGV[2] then return 0 end
local indexes = redis.call('HMGET', KEYS[1], 'running', 'songs', 'delivered', 'unplaced')
for field = 1, 4 do
  if indexes[field] then redis.call('ZREM', indexes[field], ARGV[1]) end
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[6], KEYS[7], KEYS[9], KEYS[10])
return 1
`;

const insertReply = z.union([
  z.object({ type: z.literal('accepted') }),
  z.object({ type: z.literal('known'), job: z.string() }),
  z.object({ type: z.literal('refused'), ceiling: z.number(), freesAt: z.number().exactOptional() }),
]);
const openFactsReply = z.array(z.tuple([z.string(), z.string(), z.number(), z.coerce.number()]));
const pairsReply = z.array(z.tuple([z.string(), z.string()]));

export interface RedisJobs extends JobStore {
  /** Reserves the usage, if there is some, and stores the job: both or nothing. */
  insert(job: Job, ...reservation: [] | [string]): Promise<Accepted>;
}

export function redisJobs({ connection, keys, log, newId }: RedisTools): RedisJobs {
  async function insert(job: Job, ...reservation: [] | [string]): Promise<Accepted> {
    const values = [...jobArguments(job, newId()), ...reservation];
    const reply = await connection.evaluate(INSERT, [keys.usage, ...jobKeys(job, keys)], values);
    return insertReply.parse(JSON.parse(z.string().parse(reply)));
  }

  async function pairs(index: string, command: 'ZRANGE' | 'ZREVRANGE', last: number, field: string) {
    const values = [command, 0, last, keys.job(''), field];
    return pairsReply.parse(await connection.evaluate(PAIRS, [index], values));
  }

  async function jobs(index: string, command: 'ZRANGE' | 'ZREVRANGE', last: number): Promise<Job[]> {
    const found = await pairs(index, command, last, 'record');
    const records = found.map(([id, record]) => ({ id, record }));
    return parseJobs(records, log);
  }

  async function newest(index: string, limit: number): Promise<Job[]> {
    // A last index of -1 would mean all.
    return limit > 0 ? jobs(index, 'ZREVRANGE', limit - 1) : [];
  }

  async function read(id: string): Promise<Job | undefined> {
    const record = await connection.run((redis) => redis.hGet(keys.job(id), 'record'));
    return record === null ? undefined : parseJob(id, record);
  }

  async function* records(): AsyncGenerator<JobText> {
    const start = keys.job('');
    const read = async (key: string) => ({
      id: key.slice(start.length),
      record: await connection.run((redis) => redis.hGet(key, 'record')),
    });
    const page: string[] = [];
    const readPage = async () => {
      const found = await Promise.all(page.splice(0).map(read));
      return found.flatMap(({ id, record }) => (record === null ? [] : [{ id, record }]));
    };
    for await (const key of connection.keys(start)) {
      page.push(key);
      if (page.length === PAGE_OF_RECORDS) yield* await readPage();
    }
    yield* await readPage();
  }

  /** The jobs that are meant. A record whose text cannot be of one is not read as a job, which takes far longer. */
  async function* parsed(
    isMeant: (job: Job) => boolean,
    mayBeMeant: (record: string) => boolean,
  ): AsyncGenerator<Job> {
    for await (const text of records()) {
      if (mayBeMeant(text.record)) yield* parseJobs([text], log).filter(isMeant);
    }
  }

  /** Pages of the ids of open jobs. */
  async function* openPages(): AsyncGenerator<string[]> {
    let last = '-';
    for (;;) {
      const page = await connection.run((redis) =>
        redis.zRangeByLex(keys.open, last, '+', { LIMIT: { offset: 0, count: PAGE } }),
      );
      yield page;
      const end = page.at(-1);
      if (end === undefined || page.length < PAGE) return;
      last = `(${end}`;
    }
  }

  return {
    insert,
    create: async (job) => (await insert(job)).type === 'accepted',
    read,
    async replace(job) {
      const written: Job = { ...job, version: job.version + 1 };
      const values = jobArguments(written, newId());
      return (await connection.evaluate(REPLACE, jobKeys(written, keys), values)) === 1 ? written : undefined;
    },
    async running({ platform, channel }, person) {
      if (channel !== undefined) return jobs(keys.running({ platform, channel }, person), 'ZRANGE', -1);
      const values = [keys.job(''), ...keys.runningAnywhere(platform, person)];
      const found = pairsReply.parse(await connection.evaluate(RUNNING, [keys.open], values));
      const records = found.map(([id, record]) => ({ id, record }));
      return parseJobs(records, log).toSorted((left, right) => left.createdAt - right.createdAt);
    },
    recentSongs: (where, limit) => newest(keys.songs(where), limit),
    undelivered: (platform, person, limit) => newest(keys.undelivered(platform, person), limit),
    async *open() {
      for await (const page of openPages()) yield* page;
    },
    async openCounts() {
      const counts = new Map<string, OpenCount>();
      for await (const page of openPages()) {
        const facts = await connection.evaluate(OPEN_FACTS, [keys.open], [keys.job(''), ...page]);
        for (const [route, state, queued, oldestAt] of openFactsReply.parse(facts)) {
          const key = `${route} ${state}`;
          const before = counts.get(key) ?? { route, state, count: 0, queued: 0, oldestAt };
          counts.set(key, {
            ...before,
            count: before.count + 1,
            queued: before.queued + queued,
            oldestAt: Math.min(before.oldestAt, oldestAt),
          });
        }
      }
      return [...counts.values()];
    },
    all: () =>
      parsed(
        () => true,
        () => true,
      ),
    ofPerson: (platform, person) =>
      parsed(
        (job) => job.address.platform === platform && job.person.id === person,
        (record) => record.includes(JSON.stringify(person)),
      ),
    endedBefore: (at) =>
      parsed(
        (job) => !isOpen(job) && (job.finishedAt ?? job.createdAt) < at,
        (record) => Number(/"finishedAt":([\d.]+)/.exec(record)?.[1] ?? 0) < at,
      ),
    records,
    async erase(id, version) {
      const job = await read(id);
      if (!job) return version === undefined;
      const names = [...jobKeys(job, keys), keys.inboxKinds(id)];
      return (await connection.evaluate(ERASE, names, [id, version ?? ''])) === 1;
    },
    async recentDurations(alike, limit) {
      if (limit <= 0) return [];
      const found = await pairs(keys.delivered(alike), 'ZREVRANGE', limit - 1, 'duration');
      return found.map(([, duration]) => Number(duration));
    },
  };
}

/** The KEYS of {@link WRITE_JOB}, and behind them the key of the invocation. */
function jobKeys({ id, address, person, work, invocation }: Job, keys: RedisKeys): string[] {
  return [
    keys.job(id),
    keys.open,
    keys.running(address, person.id),
    keys.songs(address),
    keys.delivered(alikeOf(work)),
    keys.inbox(id),
    keys.inboxSeen(id),
    keys.undelivered(address.platform, person.id),
    keys.invocation(invocation),
  ];
}

/** What {@link WRITE_JOB} is given, as JSON, and the record. */
function jobArguments(job: Job, token: string): [string, string] {
  const { id, version, createdAt, finishedAt = 0 } = job;
  return [
    JSON.stringify({ token, id, version, createdAt, finishedAt, ...jobFacts(job) }),
    JSON.stringify(job),
  ];
}
