import { z } from 'zod';
import { LIMITED } from '../../core/models/family.ts';
import { dayOf } from '../../core/util/clock.ts';
import {
  type DayRecord,
  type Reservation,
  sumsByFamily,
  type UsageGuild,
  type UsageStore,
  usageSummary,
} from '../usage.ts';
import type { RedisTools } from './connection.ts';
import { GIVE_BACK, RESERVE_ALONE, SETTLE, USED } from './usage-scripts.ts';

/** A reservation as JSON, for the scripts. */
export function reservationArgument(
  { id, at, units, counters }: Reservation,
  more: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({ id, at, units, counters, member: `${units} ${id}`, ...more });
}

/** A field in the hash of a day. */
const fieldOf = (person: string, family: string) => JSON.stringify([person, family]);
const fieldsOf = (person: string) => LIMITED.map((family) => fieldOf(person, family));
const fieldSchema = z.tuple([z.string(), z.string()]);
const sumsSchema = z.object({
  displayName: z.string(),
  requests: z.number(),
  units: z.number(),
  uncertain: z.number(),
});

const refusalReply = z.object({
  type: z.literal('refused'),
  ceiling: z.number(),
  freesAt: z.number().exactOptional(),
});
const usedReply = z.tuple([z.coerce.number(), z.coerce.number()]);

export function redisUsage({ connection, keys: { usage: prefix } }: RedisTools): UsageStore {
  const guildsStart = `${prefix}:days:`;
  const nameOf = ({ platform, guild }: UsageGuild) =>
    `${encodeURIComponent(platform)}:${encodeURIComponent(guild)}`;
  const daysKey = (where: UsageGuild) => `${guildsStart}${nameOf(where)}`;
  const dayKey = (where: UsageGuild, day: string) => `${prefix}:day:${nameOf(where)}:${day}`;

  /** Returns the days on which a guild has usage, in order. */
  async function daysFrom(where: UsageGuild, firstDay = ''): Promise<string[]> {
    const days = await connection.run((redis) => redis.sMembers(daysKey(where)));
    return days.filter((day) => day >= firstDay).sort();
  }

  async function recordsOf(where: UsageGuild, day: string): Promise<DayRecord[]> {
    const fields = await connection.run((redis) => redis.hGetAll(dayKey(where, day)));
    return Object.entries(fields).map(([field, sums]) => {
      const [person, family] = fieldSchema.parse(JSON.parse(field));
      return { day, person, family, ...sumsSchema.parse(JSON.parse(sums)) };
    });
  }

  async function* recordsFrom(where: UsageGuild, firstDay?: string): AsyncGenerator<DayRecord> {
    for (const day of await daysFrom(where, firstDay)) yield* await recordsOf(where, day);
  }

  /** Yields every guild that has usage, unordered. */
  async function* guilds(): AsyncGenerator<UsageGuild> {
    for await (const key of connection.keys(guildsStart)) {
      const [platform = '', guild = ''] = key.slice(guildsStart.length).split(':').map(decodeURIComponent);
      yield { platform, guild };
    }
  }

  return {
    async settle(reservation, charged) {
      const { at, facts } = reservation;
      const day = dayOf(at);
      const more = {
        day,
        state: charged === 'yes' ? 'settled' : charged,
        // Lua's cjson cannot decode half of a surrogate pair.
        displayName: facts.displayName.toWellFormed(),
        field: fieldOf(facts.person, facts.family),
      };
      const keys = [prefix, dayKey(facts, day), daysKey(facts)];
      return (await connection.evaluate(SETTLE, keys, [reservationArgument(reservation, more)])) === 1;
    },

    async reserve(reservation, ceilings, now) {
      const argument = reservationArgument(reservation, { ceilings, now });
      const reply = z.string().parse(await connection.evaluate(RESERVE_ALONE, [prefix], [argument]));
      return reply === '' ? undefined : refusalReply.parse(JSON.parse(reply));
    },

    async refund(id) {
      await connection.evaluate(GIVE_BACK, [prefix], [id]);
    },

    async used(counter, since) {
      const reply = await connection.evaluate(USED, [prefix], [counter, since]);
      const [requests, units] = usedReply.parse(reply);
      return { requests, units };
    },

    summary: (where, firstDay, mostPeople) => usageSummary(recordsFrom(where, firstDay), mostPeople),

    async byFamily(where, person, firstDay) {
      const days = await daysFrom(where, firstDay);
      const found = await connection.run((redis) =>
        Promise.all(days.map((day) => redis.hmGet(dayKey(where, day), fieldsOf(person)))),
      );
      return sumsByFamily(
        found.flatMap((sums) =>
          LIMITED.flatMap((family, index) => {
            const text = sums[index];
            return text ? [{ family, ...sumsSchema.parse(JSON.parse(text)) }] : [];
          }),
        ),
      );
    },

    async *history() {
      for await (const where of guilds())
        for await (const record of recordsFrom(where)) yield { ...where, ...record };
    },

    async restore({ day, person, displayName, family, requests, units, uncertain, ...where }) {
      const sums = { displayName: displayName.toWellFormed(), requests, units, uncertain };
      await connection.run((redis) => redis.sAdd(daysKey(where), day));
      const isNew = await connection.run((redis) =>
        redis.hSetNX(dayKey(where, day), fieldOf(person, family), JSON.stringify(sums)),
      );
      return isNew === 1;
    },

    async forget(platform, person) {
      for await (const where of guilds()) {
        if (where.platform !== platform) continue;
        for (const day of await daysFrom(where))
          await connection.run((redis) => redis.hDel(dayKey(where, day), fieldsOf(person)));
      }
    },

    async prune(firstDay) {
      for await (const where of guilds()) {
        for (const day of await daysFrom(where)) {
          if (day >= firstDay) continue;
          await connection.run((redis) => redis.del(dayKey(where, day)));
          await connection.run((redis) => redis.sRem(daysKey(where), day));
        }
      }
    },
  };
}
