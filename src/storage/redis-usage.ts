import { z } from 'zod';
import type { RedisConnection } from './redis-connection.ts';
import {
  type Ceiling,
  dayOf,
  LONGEST_WINDOW,
  type Reservation,
  type Reserved,
  USAGE_KNOWN,
  type UsageDay,
  type UsageFacts,
  type UsageStore,
  type Used,
} from './usage.ts';

/**
 * `entry:<id>` is a hash: state (`open` or `settled`), its counters as JSON, its member in them. `count:<counter>` is a
 * sorted set of members by time; a member is its units, a space and its id. `open` is a sorted set of ids by expiry.
 * KEYS[1] is what all keys of usage begin with. Scripts build names from ids, so Redis Cluster is not for this.
 */
const COMMON = `
local prefix = KEYS[1]
local function unitsOf(member) return tonumber(string.match(member, '^%S+')) end
local function count(id, member, at, counters, lifetime)
  for _, counter in ipairs(cjson.decode(counters)) do
    local key = prefix .. ':count:' .. counter
    redis.call('ZADD', key, at, member)
    redis.call('PEXPIRE', key, lifetime)
  end
end
local function giveBack(id)
  local entry = redis.call('HMGET', prefix .. ':entry:' .. id, 'state', 'counters', 'member')
  redis.call('ZREM', prefix .. ':open', id)
  if entry[1] ~= 'open' then return end
  for _, counter in ipairs(cjson.decode(entry[2])) do
    redis.call('ZREM', prefix .. ':count:' .. counter, entry[3])
  end
  redis.call('DEL', prefix .. ':entry:' .. id)
end
`;

// ARGV: id, member, counters, at, expiresAt, now, units, longest window, lifetime of an entry, ceilings
const RESERVE = `${COMMON}
local id, member, counters = ARGV[1], ARGV[2], ARGV[3]
local now, units, longest = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', prefix .. ':open', '-inf', now)) do giveBack(expired) end
if redis.call('EXISTS', prefix .. ':entry:' .. id) == 1 then return {'known'} end
local last, lastFrees
for index, ceiling in ipairs(cjson.decode(ARGV[10])) do
  local key = prefix .. ':count:' .. ceiling.counter
  local since = '(' .. string.format('%.0f', now - ceiling.windowMs)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - longest))
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
  if used + wanted > ceiling.most then
    if wanted > ceiling.most then return {'refused', tostring(index - 1)} end
    entries = entries or redis.call('ZRANGEBYSCORE', key, since, '+inf', 'WITHSCORES')
    for at = 1, #entries, 2 do
      used = used - (inUnits and unitsOf(entries[at]) or 1)
      if used + wanted <= ceiling.most then
        local frees = tonumber(entries[at + 1]) + ceiling.windowMs
        if not lastFrees or frees > lastFrees then last, lastFrees = index - 1, frees end
        break
      end
    end
  end
end
if last then return {'refused', tostring(last), string.format('%.0f', lastFrees)} end
redis.call('HSET', prefix .. ':entry:' .. id, 'state', 'open', 'counters', counters, 'member', member)
redis.call('PEXPIRE', prefix .. ':entry:' .. id, ARGV[9])
redis.call('ZADD', prefix .. ':open', ARGV[5], id)
count(id, member, ARGV[4], counters, longest)
return {'reserved'}
`;

// KEYS: prefix, the day's hash, names, places, days. ARGV: id, member, counters, at, units, longest window, lifetime of
// an entry, field, person, display name, place, day
const SETTLE = `${COMMON}
local id, member, counters = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HGET', prefix .. ':entry:' .. id, 'state') == 'settled' then return 0 end
giveBack(id)
redis.call('HSET', prefix .. ':entry:' .. id, 'state', 'settled')
redis.call('PEXPIRE', prefix .. ':entry:' .. id, ARGV[7])
count(id, member, ARGV[4], counters, ARGV[6])
redis.call('HINCRBY', KEYS[2], 'requests ' .. ARGV[8], 1)
redis.call('HINCRBYFLOAT', KEYS[2], 'units ' .. ARGV[8], ARGV[5])
redis.call('HSET', KEYS[3], ARGV[9], ARGV[10])
redis.call('SADD', KEYS[4], ARGV[11])
redis.call('SADD', KEYS[5], ARGV[12])
return 1
`;

const GIVE_BACK = `${COMMON}
giveBack(ARGV[1])
return 1
`;

const USED = `${COMMON}
local key = prefix .. ':count:' .. ARGV[1]
local requests, units = 0, 0
for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[2], '+inf')) do
  requests = requests + 1
  units = units + unitsOf(member)
end
return {tostring(requests), tostring(units)}
`;

const reservedReply = z.tuple([z.enum(['reserved', 'known', 'refused'])]).rest(z.string());
const usedReply = z.tuple([z.coerce.number(), z.coerce.number()]);
const fieldSchema = z.tuple([z.string(), z.string()]);
const placeSchema = z.tuple([z.string(), z.string()]);

export class RedisUsage implements UsageStore {
  readonly #connection: RedisConnection;
  readonly #prefix: string;

  /** @param prefix what all keys of usage begin with */
  constructor(connection: RedisConnection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  async reserve(reservation: Reservation, ceilings: readonly Ceiling[], now: number): Promise<Reserved> {
    const { id, at, expiresAt, units, counters } = reservation;
    const [type, ceiling, freesAt] = reservedReply.parse(
      await this.#connection.run((redis) =>
        redis.eval(
          RESERVE,
          1,
          this.#prefix,
          id,
          memberOf(reservation),
          JSON.stringify(counters),
          at,
          expiresAt,
          now,
          units,
          LONGEST_WINDOW,
          USAGE_KNOWN,
          JSON.stringify(ceilings),
        ),
      ),
    );
    if (type !== 'refused') return { type: 'reserved', known: type === 'known' };
    return {
      type,
      ceiling: Number(ceiling),
      ...(freesAt === undefined ? {} : { freesAt: Number(freesAt) }),
    };
  }

  async settle(reservation: Reservation): Promise<boolean> {
    const { id, at, units, counters, facts } = reservation;
    const day = dayOf(at);
    const field = JSON.stringify([facts.person, facts.family]);
    const place = JSON.stringify([facts.platform, facts.guild]);
    const reply = await this.#connection.run((redis) =>
      redis.eval(
        SETTLE,
        5,
        this.#prefix,
        this.#dayKey(facts, day),
        this.#placeKey('names', facts),
        `${this.#prefix}:places`,
        this.#placeKey('days', facts),
        id,
        memberOf(reservation),
        JSON.stringify(counters),
        at,
        units,
        LONGEST_WINDOW,
        USAGE_KNOWN,
        field,
        facts.person,
        facts.displayName,
        place,
        day,
      ),
    );
    return reply === 1;
  }

  async giveBack(id: string): Promise<void> {
    await this.#connection.run((redis) => redis.eval(GIVE_BACK, 1, this.#prefix, id));
  }

  async used(counters: readonly string[], since: number): Promise<Used[]> {
    return Promise.all(
      counters.map(async (counter) => {
        const [requests, units] = usedReply.parse(
          await this.#connection.run((redis) => redis.eval(USED, 1, this.#prefix, counter, since)),
        );
        return { requests, units };
      }),
    );
  }

  async days(where: Pick<UsageFacts, 'platform' | 'guild'>, firstDay: string): Promise<UsageDay[]> {
    const names = await this.#connection.run((redis) => redis.hgetall(this.#placeKey('names', where)));
    const days = (await this.#knownDays(where)).filter((day) => day >= firstDay);
    const found = await Promise.all(
      days.map(async (day) => {
        const fields = await this.#connection.run((redis) => redis.hgetall(this.#dayKey(where, day)));
        return Object.entries(fields).flatMap(([name, value]): UsageDay[] => {
          const [, key] = /^requests (.*)$/s.exec(name) ?? [];
          if (key === undefined) return [];
          const [person, family] = fieldSchema.parse(JSON.parse(key));
          const units = Number(fields[`units ${key}`] ?? 0);
          const displayName = names[person] ?? person;
          return [{ day, person, displayName, family, requests: Number(value), units }];
        });
      }),
    );
    return found.flat();
  }

  async forget(platform: string, person: string): Promise<void> {
    for (const where of await this.#places()) {
      if (where.platform !== platform) continue;
      await this.#connection.run((redis) => redis.hdel(this.#placeKey('names', where), person));
      for (const day of await this.#knownDays(where)) {
        const key = this.#dayKey(where, day);
        const fields = await this.#connection.run((redis) => redis.hkeys(key));
        const theirs = fields.filter(
          (field) => fieldSchema.parse(JSON.parse(field.slice(field.indexOf(' ') + 1)))[0] === person,
        );
        if (theirs.length > 0) await this.#connection.run((redis) => redis.hdel(key, ...theirs));
      }
    }
  }

  async prune(firstDay: string): Promise<void> {
    for (const where of await this.#places()) {
      const old = (await this.#knownDays(where)).filter((day) => day < firstDay);
      if (old.length === 0) continue;
      const keys = old.map((day) => this.#dayKey(where, day));
      await this.#connection.run((redis) => redis.del(...keys));
      await this.#connection.run((redis) => redis.srem(this.#placeKey('days', where), ...old));
    }
  }

  async #places(): Promise<Pick<UsageFacts, 'platform' | 'guild'>[]> {
    const places = await this.#connection.run((redis) => redis.smembers(`${this.#prefix}:places`));
    return places.map((place) => {
      const [platform, guild] = placeSchema.parse(JSON.parse(place));
      return { platform, guild };
    });
  }

  /** Days of a place that hold something, in order. */
  async #knownDays(where: Pick<UsageFacts, 'platform' | 'guild'>): Promise<string[]> {
    return (await this.#connection.run((redis) => redis.smembers(this.#placeKey('days', where)))).sort();
  }

  #dayKey(where: Pick<UsageFacts, 'platform' | 'guild'>, day: string): string {
    return `${this.#placeKey('day', where)}:${day}`;
  }

  #placeKey(
    kind: 'names' | 'days' | 'day',
    { platform, guild }: Pick<UsageFacts, 'platform' | 'guild'>,
  ): string {
    return `${this.#prefix}:${kind}:${encodeURIComponent(platform)}:${encodeURIComponent(guild)}`;
  }
}

const memberOf = ({ units, id }: Reservation): string => `${units} ${id}`;
