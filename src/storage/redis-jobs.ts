import { z } from 'zod';
import type { Address, Log } from '../command.ts';
import type { Job } from '../jobs/job.ts';
import { jobFacts, parseJob, parseJobs } from './job-record.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import { INBOX_KEPT, type JobStore } from './storage.ts';

/** Ids read at a time while walking all open jobs. */
const PAGE = 500;
/** Deliveries remembered for each route. */
const DELIVERIES = 500;

/**
 * Writes the record and moves the job in the indexes. Knows the indexes it is in from its own hash, so a job that
 * moves to another channel leaves nothing behind. A write carries a token: repeated after a lost answer, it finds its
 * own token and says again that it won.
 */
const WRITE = `
local function write()
  local job, open, running, songs, delivered = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
  local inbox, seen, unplaced = KEYS[6], KEYS[7], KEYS[8]
  local token, id, version, record, isOpen, hasSongs, duration, createdAt, finishedAt =
    ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
  local before = redis.call('HMGET', job, 'running', 'songs', 'delivered', 'unplaced')
  for field = 1, 4 do
    if before[field] then redis.call('ZREM', before[field], id) end
  end
  redis.call('HSET', job, 'record', record, 'version', version, 'written by', token, 'open', isOpen,
    'running', running, 'songs', songs, 'delivered', delivered, 'unplaced', unplaced, 'duration', duration)
  if isOpen == '1' then
    redis.call('ZADD', open, 0, id)
    redis.call('ZADD', running, createdAt, id)
    redis.call('PERSIST', inbox)
    redis.call('PERSIST', seen)
  else
    redis.call('ZREM', open, id)
    redis.call('EXPIRE', inbox, ARGV[10])
    redis.call('EXPIRE', seen, ARGV[10])
  end
  if hasSongs == '1' then redis.call('ZADD', songs, createdAt, id) end
  if ARGV[12] == '1' then redis.call('ZADD', unplaced, createdAt, id) end
  if duration ~= '' then
    redis.call('ZADD', delivered, finishedAt, id)
    redis.call('ZREMRANGEBYRANK', delivered, 0, -ARGV[11] - 1)
  end
end
`;
const WRITE_KEYS = 8;

const CREATE = `${WRITE}
local invocation = KEYS[9]
local existing = redis.call('HGET', KEYS[1], 'written by')
if existing then return existing == ARGV[1] and 1 or 0 end
if redis.call('EXISTS', invocation) == 1 then return 0 end
redis.call('SET', invocation, ARGV[2])
write()
return 1
`;

const REPLACE = `${WRITE}
local stored = redis.call('HMGET', KEYS[1], 'version', 'written by')
if not stored[1] then return 0 end
if stored[1] == ARGV[3] and stored[2] == ARGV[1] then return 1 end
if tonumber(stored[1]) + 1 ~= tonumber(ARGV[3]) then return 0 end
write()
return 1
`;

/** Records of the ids in a sorted set: `KEYS[1]` the set, `ARGV` the range command, first, last, and the job keys' start. */
const RECORDS = `
local found = {}
for _, id in ipairs(redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3])) do
  local value = redis.call('HGET', ARGV[4] .. id, ARGV[5])
  if value then
    found[#found + 1] = id
    found[#found + 1] = value
  end
end
return found
`;

/** `KEYS`: job, open, inbox, inbox seen, invocation. Leaves every index that the job's own hash names. */
const ERASE = `
local indexes = redis.call('HMGET', KEYS[1], 'running', 'songs', 'delivered', 'unplaced')
for field = 1, 4 do
  if indexes[field] then redis.call('ZREM', indexes[field], ARGV[1]) end
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4], KEYS[5])
return 1
`;

const won = z.number().transform((reply) => reply === 1);
const flatPairs = z.array(z.string());

export interface RedisJobsTools {
  readonly connection: RedisConnection;
  readonly keys: RedisKeys;
  readonly log: Log;
  /** Never the same twice, in any replica. */
  readonly newToken: () => string;
}

export class RedisJobs implements JobStore {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #log: Log;
  readonly #newToken: () => string;

  constructor({ connection, keys, log, newToken }: RedisJobsTools) {
    this.#connection = connection;
    this.#keys = keys;
    this.#log = log;
    this.#newToken = newToken;
  }

  async create(job: Job): Promise<boolean> {
    const keys = [...this.#writeKeys(job), this.#keys.invocation(job.invocation)];
    const values = this.#writeValues(job);
    return won.parse(
      await this.#connection.run((redis) => redis.eval(CREATE, WRITE_KEYS + 1, ...keys, ...values)),
    );
  }

  async read(id: string): Promise<Job | undefined> {
    const record = await this.#connection.run((redis) => redis.hget(this.#keys.job(id), 'record'));
    return record === null ? undefined : parseJob(id, record);
  }

  async replace(job: Job): Promise<Job | undefined> {
    const written: Job = { ...job, version: job.version + 1 };
    const keys = this.#writeKeys(written);
    const values = this.#writeValues(written);
    const reply = await this.#connection.run((redis) => redis.eval(REPLACE, WRITE_KEYS, ...keys, ...values));
    return won.parse(reply) ? written : undefined;
  }

  async running(where: Pick<Address, 'platform' | 'channel'>, person: string): Promise<Job[]> {
    const pairs = await this.#pairs(this.#keys.running(where, person), 'ZRANGE', -1, 'record');
    return parseJobs(
      pairs.map(([id, record]) => ({ id, record })),
      this.#log,
    );
  }

  async recentSongs(where: Pick<Address, 'platform' | 'channel'>, limit: number): Promise<Job[]> {
    const pairs = await this.#pairs(this.#keys.songs(where), 'ZREVRANGE', limit - 1, 'record');
    return parseJobs(
      pairs.map(([id, record]) => ({ id, record })),
      this.#log,
    );
  }

  async unplaced(platform: string, person: string, limit: number): Promise<Job[]> {
    const pairs = await this.#pairs(this.#keys.unplaced(platform, person), 'ZREVRANGE', limit - 1, 'record');
    return parseJobs(
      pairs.map(([id, record]) => ({ id, record })),
      this.#log,
    );
  }

  async *open(): AsyncIterable<string> {
    let last = '-';
    for (;;) {
      const page = await this.#connection.run((redis) =>
        redis.zrangebylex(this.#keys.open, last, '+', 'LIMIT', 0, PAGE),
      );
      yield* page;
      const end = page.at(-1);
      if (end === undefined || page.length < PAGE) return;
      last = `(${end}`;
    }
  }

  async *all(): AsyncIterable<Job> {
    const start = this.#keys.job('');
    const match = `${start.replace(/[\\*?[\]]/g, '\\$&')}*`;
    // A scan may tell of the same key twice.
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const [next, found] = await this.#connection.run((redis) =>
        redis.scan(cursor, 'MATCH', match, 'COUNT', PAGE),
      );
      for (const key of found) {
        if (seen.has(key)) continue;
        seen.add(key);
        const record = await this.#connection.run((redis) => redis.hget(key, 'record'));
        if (record !== null) yield* parseJobs([{ id: key.slice(start.length), record }], this.#log);
      }
      cursor = next;
    } while (cursor !== '0');
  }

  async erase(id: string): Promise<void> {
    const job = await this.read(id);
    if (!job) return;
    const keys = [
      this.#keys.job(id),
      this.#keys.open,
      this.#keys.inbox(id),
      this.#keys.inboxSeen(id),
      this.#keys.invocation(job.invocation),
    ];
    await this.#connection.run((redis) => redis.eval(ERASE, keys.length, ...keys, id));
  }

  async recentDurations(route: string, limit: number): Promise<number[]> {
    const pairs = await this.#pairs(this.#keys.delivered(route), 'ZREVRANGE', limit - 1, 'duration');
    return pairs.map(([, duration]) => Number(duration));
  }

  /** Pairs of id and a field of its hash, along an index from its start to `last`. */
  async #pairs(
    index: string,
    command: 'ZRANGE' | 'ZREVRANGE',
    last: number,
    field: 'record' | 'duration',
  ): Promise<[string, string][]> {
    // An end of -1 would mean all.
    if (command === 'ZREVRANGE' && last < 0) return [];
    const flat = flatPairs.parse(
      await this.#connection.run((redis) =>
        redis.eval(RECORDS, 1, index, command, 0, last, this.#keys.job(''), field),
      ),
    );
    const pairs: [string, string][] = [];
    for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
    return pairs;
  }

  #writeKeys(job: Job): string[] {
    return [
      this.#keys.job(job.id),
      this.#keys.open,
      this.#keys.running(job.address, job.person.id),
      this.#keys.songs(job.address),
      this.#keys.delivered(job.work.route),
      this.#keys.inbox(job.id),
      this.#keys.inboxSeen(job.id),
      this.#keys.unplaced(job.address.platform, job.person.id),
    ];
  }

  #writeValues(job: Job): (string | number)[] {
    const { open, hasSongs, unplaced, duration } = jobFacts(job);
    return [
      this.#newToken(),
      job.id,
      job.version,
      JSON.stringify(job),
      open ? 1 : 0,
      hasSongs ? 1 : 0,
      duration ?? '',
      job.createdAt,
      job.finishedAt ?? 0,
      INBOX_KEPT / 1_000,
      DELIVERIES,
      unplaced ? 1 : 0,
    ];
  }
}
