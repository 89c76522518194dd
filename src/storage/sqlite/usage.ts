import { z } from 'zod';
import { dayOf } from '../../core/util/clock.ts';
import {
  type Ceiling,
  type DayRecord,
  type LimitRefusal,
  LONGEST_WINDOW,
  type Reservation,
  USAGE_KNOWN,
  type UsageGuild,
  type UsageRecord,
  type UsageStore,
  usageSummary,
} from '../usage.ts';
import { paged, type SqliteDatabase } from './database.ts';

const sumRow = z.object({ requests: z.number(), units: z.number() });
const entryRow = z.object({ at: z.number(), units: z.number() });
const stateRow = z.object({ state: z.enum(['open', 'settled', 'uncertain']) });
const settledRow = sumRow.extend({ uncertain: z.number() });
const familyRow = settledRow.extend({ family: z.string() });
const recordRow = familyRow.extend({
  platform: z.string(),
  guild: z.string(),
  day: z.string(),
  person: z.string(),
  displayName: z.string(),
});
const SUMS = 'sum(requests) AS requests, total(units) AS units, sum(uncertain) AS uncertain';
/** Rows of the history per page. */
const PAGE = 500;

type UsageKey = Pick<UsageRecord, 'platform' | 'guild' | 'day' | 'person' | 'family'>;

export interface SqliteUsage extends UsageStore {
  /** Within a transaction: counts the reservation once if no ceiling is exceeded. Otherwise returns the refusal. */
  reserveNow(reservation: Reservation, ceilings: readonly Ceiling[], now: number): LimitRefusal | undefined;
}

export function sqliteUsage(database: SqliteDatabase): SqliteUsage {
  const statements = database.prepareAll({
    find: 'SELECT state FROM usage_entries WHERE id = ?',
    write: `INSERT INTO usage_entries (id, at, state) VALUES (:id, :at, :state)
       ON CONFLICT DO UPDATE SET state = excluded.state`,
    remove: "DELETE FROM usage_entries WHERE id = ? AND state = 'open'",
    count: 'INSERT INTO usage_counts (counter, at, id, units) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    uncount: 'DELETE FROM usage_counts WHERE id = ?',
    pruneCounts: 'DELETE FROM usage_counts WHERE at <= ?',
    pruneEntries: 'DELETE FROM usage_entries WHERE at <= ?',
    sum: 'SELECT count(*) AS requests, total(units) AS units FROM usage_counts WHERE counter = ? AND at > ?',
    entries: 'SELECT at, units FROM usage_counts WHERE counter = ? AND at > ? ORDER BY at, id',
    addToDay: `INSERT INTO usage_days (platform, guild, day, person, family, display_name, requests, units, uncertain)
       VALUES (:platform, :guild, :day, :person, :family, :display_name, 1, :units, :uncertain)
       ON CONFLICT DO UPDATE SET display_name = excluded.display_name, requests = requests + 1,
         units = units + excluded.units, uncertain = uncertain + excluded.uncertain`,
    makeCertain: `UPDATE usage_days SET uncertain = uncertain - 1
       WHERE platform = ? AND guild = ? AND day = ? AND person = ? AND family = ?`,
    byFamily: `SELECT family, ${SUMS} FROM usage_days
       WHERE platform = ? AND person = ? AND guild = ? AND day >= ? GROUP BY family`,
    history: `SELECT platform, guild, day, person, family, display_name AS displayName, requests, units, uncertain
       FROM usage_days WHERE (platform, guild, day, person, family) > (?, ?, ?, ?, ?)
       ORDER BY platform, guild, day, person, family LIMIT ?`,
    restore: `INSERT INTO usage_days (platform, guild, day, person, family, display_name, requests, units, uncertain)
       VALUES (:platform, :guild, :day, :person, :family, :displayName, :requests, :units, :uncertain) ON CONFLICT DO NOTHING`,
    forget: 'DELETE FROM usage_days WHERE platform = ? AND person = ?',
    pruneDays: 'DELETE FROM usage_days WHERE day < ?',
  });

  function count({ id, at, units, counters }: Reservation): void {
    for (const counter of counters) statements.count.run(counter, at, id, units);
  }

  function refund(id: string): void {
    if (statements.remove.run(id).changes > 0) statements.uncount.run(id);
  }

  function refusalOf(
    { units }: Reservation,
    ceilings: readonly Ceiling[],
    now: number,
  ): LimitRefusal | undefined {
    let last: { ceiling: number; freesAt: number } | undefined;
    for (const [index, ceiling] of ceilings.entries()) {
      const { counter, windowMs, of, most } = ceiling;
      const requested = of === 'requests' ? 1 : units;
      const used = sumRow.parse(statements.sum.get(counter, now - windowMs));
      if (fitsLimit(used[of], requested, most)) continue;
      const entries = database
        .all(statements.entries, entryRow, counter, now - windowMs)
        .map((entry) => ({ at: entry.at, amount: of === 'requests' ? 1 : entry.units }));
      const frees = freesAt(entries, requested, ceiling);
      if (frees === undefined) return { type: 'refused', ceiling: index };
      if (last === undefined || frees > last.freesAt) last = { ceiling: index, freesAt: frees };
    }
    return last && { type: 'refused', ...last };
  }

  /** Yields settled usage after a key, in the order of keys. */
  const recordsAfter = (key: UsageKey) =>
    paged<UsageRecord>((last) => {
      const { platform, guild, day, person, family } = last ?? key;
      return database.all(statements.history, recordRow, platform, guild, day, person, family, PAGE);
    });

  async function* recordsFrom({ platform, guild }: UsageGuild, firstDay: string): AsyncGenerator<DayRecord> {
    for await (const record of recordsAfter({ platform, guild, day: firstDay, person: '', family: '' })) {
      if (record.platform !== platform || record.guild !== guild) return;
      yield record;
    }
  }

  const reserveNow: SqliteUsage['reserveNow'] = (reservation, ceilings, now) => {
    const { id, at } = reservation;
    statements.pruneCounts.run(now - LONGEST_WINDOW);
    if (statements.find.get(id)) return undefined;
    const refusal = refusalOf(reservation, ceilings, now);
    if (refusal) return refusal;
    statements.write.run({ id, at, state: 'open' });
    count(reservation);
    return undefined;
  };

  return {
    reserveNow,
    reserve: (...request) => database.write(() => reserveNow(...request)),
    settle: (reservation, charged) =>
      database.write(() => {
        const { id, at, units, facts } = reservation;
        const { displayName, ...settled } = facts;
        const day = dayOf(at);
        const state = charged === 'yes' ? 'settled' : charged;
        const before = database.get(statements.find, stateRow, id)?.state;
        if (before === 'settled' || before === state) return false;
        statements.write.run({ id, at, state });
        if (before === 'uncertain') {
          const { platform, guild, person, family } = facts;
          statements.makeCertain.run(platform, guild, day, person, family);
          return false;
        }
        // The reservation may have had another price or other counters.
        statements.uncount.run(id);
        count(reservation);
        const uncertain = state === 'uncertain' ? 1 : 0;
        statements.addToDay.run({ ...settled, display_name: displayName, day, units, uncertain });
        return true;
      }),
    refund: (id) => database.write(() => refund(id)),
    used: async (counter, since) => sumRow.parse(database.read(() => statements.sum.get(counter, since))),
    summary: (where, firstDay, mostPeople) => usageSummary(recordsFrom(where, firstDay), mostPeople),
    byFamily: async ({ platform, guild }, person, firstDay) =>
      database.all(statements.byFamily, familyRow, platform, person, guild, firstDay),
    history: () => recordsAfter({ platform: '', guild: '', day: '', person: '', family: '' }),
    restore: (record) => database.write(() => statements.restore.run({ ...record }).changes > 0),
    async forget(platform, person) {
      await database.write(() => statements.forget.run(platform, person));
    },
    async prune(firstDay, now) {
      await database.write(() => {
        statements.pruneDays.run(firstDay);
        statements.pruneEntries.run(now - USAGE_KNOWN);
      });
    },
  };
}

/** Allows for rounding of decimal prices. Free requests always fit, even past a limit. */
function fitsLimit(used: number, requested: number, most: number): boolean {
  return requested === 0 || used + requested <= most + 1e-9;
}

/** Returns when enough `entries` (oldest first) have left the window for `requested` more; undefined if they never will. */
function freesAt(
  entries: readonly { readonly at: number; readonly amount: number }[],
  requested: number,
  { most, windowMs }: Pick<Ceiling, 'most' | 'windowMs'>,
): number | undefined {
  if (requested > most) return undefined;
  let left = entries.reduce((sum, { amount }) => sum + amount, 0);
  for (const { at, amount } of entries) {
    left -= amount;
    if (fitsLimit(left, requested, most)) return at + windowMs;
  }
  return undefined;
}
