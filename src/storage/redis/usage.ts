import { z } from 'zod';
import { LIMITED } from '../../core/family.ts';
import type { FamilyUsage } from '../../core/moderation.ts';
import { dayOf } from '../schedule.ts';
import {
  type Reservation,
  type UsageGuild,
  type UsageOfDay,
  type UsageStore,
  usageSummary,
} from '../usage.ts';
import type { RedisTools } from './connection.ts';
import { GIVE_BACK, PRUNE_NAMES, RESERVE_ALONE, SETTLE, SUMS_OF_DAY, USED } from './usage-scripts.ts';

/** What the scripts are given of a reservation, as JSON. */
export function reservationArgument(
  { id, at, units, counters }: Reservation,
  more: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({ id, at, units, counters, member: `${units} ${id}`, ...more });
}

const KINDS = ['requests', 'units', 'uncertain'] as const;

/** Of a person in the hash of a day: what is kept of each family, in the order of {@link KINDS}. */
function fieldsOf(person: string): string[] {
  return LIMITED.flatMap((family) => KINDS.map((kind) => `${kind} ${JSON.stringify([person, family])}`));
}

const sumsSchema = z.array(z.tuple([z.string(), z.number(), z.number(), z.number()]));
const sumsReply = z.object({ families: sumsSchema, people: sumsSchema });
const refusalReply = z.object({
  type: z.literal('refused'),
  ceiling: z.number(),
  freesAt: z.number().exactOptional(),
});
const usedReply = z.tuple([z.coerce.number(), z.coerce.number()]);
/** Person and family, or platform and guild. */
const pairSchema = z.tuple([z.string(), z.string()]);

export function redisUsage({ connection, keys: { usage: prefix } }: RedisTools): UsageStore {
  const guildKey = (kind: 'names' | 'used' | 'days' | 'day', { platform, guild }: UsageGuild) =>
    `${prefix}:${kind}:${encodeURIComponent(platform)}:${encodeURIComponent(guild)}`;
  const dayKey = (where: UsageGuild, day: string) => `${guildKey('day', where)}:${day}`;
  const guildsKey = `${prefix}:guilds`;

  /** The days of a guild that have usage, in order. */
  async function knownDays(where: UsageGuild): Promise<string[]> {
    return (await connection.run((redis) => redis.sMembers(guildKey('days', where)))).sort();
  }

  const daysFrom = async (where: UsageGuild, firstDay: string) =>
    (await knownDays(where)).filter((day) => day >= firstDay);

  async function* daysOf(where: UsageGuild, firstDay: string): AsyncGenerator<UsageOfDay> {
    for (const day of await daysFrom(where, firstDay)) {
      const reply = await connection.evaluate(SUMS_OF_DAY, [dayKey(where, day)], []);
      const { families, people } = sumsReply.parse(JSON.parse(z.string().parse(reply)));
      yield {
        day,
        families: families.map(([family, requests, units, uncertain]) => ({
          family,
          requests,
          units,
          uncertain,
        })),
        people: people.map(([person, requests, units, uncertain]) => ({
          person,
          displayName: person,
          requests,
          units,
          uncertain,
        })),
      };
    }
  }

  const namesOf = async (where: UsageGuild, people: string[]) =>
    people.length === 0 ? [] : connection.run((redis) => redis.hmGet(guildKey('names', where), people));

  async function guilds(): Promise<UsageGuild[]> {
    const found = await connection.run((redis) => redis.sMembers(guildsKey));
    return found.map((text) => {
      const [platform, guild] = pairSchema.parse(JSON.parse(text));
      return { platform, guild };
    });
  }

  return {
    async settle(reservation, charged) {
      const { at, facts } = reservation;
      const { platform, guild, person, family, displayName } = facts;
      const day = dayOf(at);
      const [names, days, used] = [
        guildKey('names', facts),
        guildKey('days', facts),
        guildKey('used', facts),
      ];
      const keys = [prefix, dayKey(facts, day), names, guildsKey, days, used];
      const more = {
        day,
        state: charged === 'yes' ? 'settled' : charged,
        person,
        // Redis cannot read half of a surrogate pair.
        name: displayName.toWellFormed(),
        field: JSON.stringify([person, family]),
        where: JSON.stringify([platform, guild]),
      };
      return (await connection.evaluate(SETTLE, keys, [reservationArgument(reservation, more)])) === 1;
    },

    async reserve(reservation, ceilings, now) {
      const argument = reservationArgument(reservation, { ceilings, now });
      const reply = z.string().parse(await connection.evaluate(RESERVE_ALONE, [prefix], [argument]));
      return reply === '' ? undefined : refusalReply.parse(JSON.parse(reply));
    },

    async giveBack(id) {
      await connection.evaluate(GIVE_BACK, [prefix], [id]);
    },

    used: (counters, since) =>
      Promise.all(
        counters.map(async (counter) => {
          const [requests, units] = usedReply.parse(
            await connection.evaluate(USED, [prefix], [counter, since]),
          );
          return { requests, units };
        }),
      ),

    summary: async (where, firstDay, mostPeople) => {
      const { people, ...summary } = await usageSummary(daysOf(where, firstDay), mostPeople);
      const ids = people.map(({ person }) => person);
      const names = await namesOf(where, ids);
      const named = people.map((one, index) => ({ ...one, displayName: names[index] ?? one.person }));
      return { ...summary, people: named };
    },

    async byFamily(where, person, firstDay) {
      const sums = new Map<string, FamilyUsage>();
      for (const day of await daysFrom(where, firstDay)) {
        const found = await connection.run((redis) => redis.hmGet(dayKey(where, day), fieldsOf(person)));
        LIMITED.forEach((family, index) => {
          const [requests = 0, units = 0, uncertain = 0] = found
            .slice(KINDS.length * index, KINDS.length * (index + 1))
            .map(Number);
          const before = sums.get(family) ?? { requests: 0, units: 0, uncertain: 0 };
          if (requests === 0) return;
          sums.set(family, {
            family,
            requests: before.requests + requests,
            units: before.units + units,
            uncertain: before.uncertain + uncertain,
          });
        });
      }
      return [...sums.values()];
    },

    async *history() {
      for (const where of await guilds()) {
        const names = await connection.run((redis) => redis.hGetAll(guildKey('names', where)));
        for (const day of await knownDays(where)) {
          const fields = await connection.run((redis) => redis.hGetAll(dayKey(where, day)));
          for (const [name, value] of Object.entries(fields)) {
            const [, key] = /^requests (.*)$/s.exec(name) ?? [];
            if (key === undefined) continue;
            const [person, family] = pairSchema.parse(JSON.parse(key));
            const amount = (of: 'units' | 'uncertain') => Number(fields[`${of} ${key}`] ?? 0);
            const [units, uncertain] = [amount('units'), amount('uncertain')];
            const displayName = names[person] ?? person;
            yield { ...where, day, person, displayName, family, requests: Number(value), units, uncertain };
          }
        }
      }
    },

    async restore({ day, person, displayName, family, requests, units, uncertain, ...where }) {
      const field = JSON.stringify([person, family]);
      const key = dayKey(where, day);
      const isNew = await connection.run((redis) => redis.hSetNX(key, `requests ${field}`, String(requests)));
      if (isNew === 0) return false;
      await connection.run((redis) => redis.hSetNX(key, `units ${field}`, String(units)));
      await connection.run((redis) => redis.hSetNX(key, `uncertain ${field}`, String(uncertain)));
      await connection.run((redis) =>
        redis.hSetNX(guildKey('names', where), person, displayName.toWellFormed()),
      );
      const used = { score: Date.parse(day), value: person };
      await connection.run((redis) => redis.zAdd(guildKey('used', where), used, { comparison: 'GT' }));
      await connection.run((redis) => redis.sAdd(guildsKey, JSON.stringify([where.platform, where.guild])));
      await connection.run((redis) => redis.sAdd(guildKey('days', where), day));
      return true;
    },

    async forget(platform, person) {
      for (const where of await guilds()) {
        if (where.platform !== platform) continue;
        await connection.run((redis) => redis.hDel(guildKey('names', where), person));
        await connection.run((redis) => redis.zRem(guildKey('used', where), person));
        for (const day of await knownDays(where)) {
          await connection.run((redis) => redis.hDel(dayKey(where, day), fieldsOf(person)));
        }
      }
    },

    async prune(firstDay) {
      for (const where of await guilds()) {
        for (const day of await knownDays(where)) {
          if (day >= firstDay) continue;
          await connection.run((redis) => redis.del(dayKey(where, day)));
          await connection.run((redis) => redis.sRem(guildKey('days', where), day));
        }
        const keys = [guildKey('names', where), guildKey('used', where), guildKey('days', where), guildsKey];
        const guild = JSON.stringify([where.platform, where.guild]);
        await connection.evaluate(PRUNE_NAMES, keys, [Date.parse(firstDay), guild]);
      }
    },
  };
}
