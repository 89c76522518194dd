import { z } from 'zod';
import type { SqliteDatabase } from './sqlite-database.ts';
import {
  type Ceiling,
  dayOf,
  freesAt,
  LONGEST_WINDOW,
  type Reservation,
  type Reserved,
  USAGE_KNOWN,
  type UsageDay,
  type UsageFacts,
  type UsageStore,
  type Used,
} from './usage.ts';

const sumRow = z.object({ requests: z.number(), units: z.number() });
const entryRows = z.array(z.object({ at: z.number(), units: z.number() }));
const idRows = z.array(z.object({ id: z.string() }));
const dayRows = z.array(
  z.object({
    day: z.string(),
    person: z.string(),
    displayName: z.string(),
    family: z.string(),
    requests: z.number(),
    units: z.number(),
  }),
);

export class SqliteUsage implements UsageStore {
  readonly #database: SqliteDatabase;
  readonly #statements;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#statements = {
      find: database.prepare('SELECT id FROM usage_entries WHERE id = ?'),
      add: database.prepare(
        `INSERT INTO usage_entries (id, at, expires_at) VALUES (:id, :at, :expires_at)
         ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at IS NOT NULL`,
      ),
      expired: database.prepare('SELECT id FROM usage_entries WHERE expires_at <= ?'),
      remove: database.prepare('DELETE FROM usage_entries WHERE id = ? AND expires_at IS NOT NULL'),
      count: database.prepare(
        'INSERT INTO usage_counts (counter, at, id, units) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      ),
      uncount: database.prepare('DELETE FROM usage_counts WHERE id = ?'),
      pruneCounts: database.prepare('DELETE FROM usage_counts WHERE at <= ?'),
      pruneEntries: database.prepare('DELETE FROM usage_entries WHERE at <= ?'),
      sum: database.prepare(
        'SELECT count(*) AS requests, total(units) AS units FROM usage_counts WHERE counter = ? AND at > ?',
      ),
      entries: database.prepare(
        'SELECT at, units FROM usage_counts WHERE counter = ? AND at > ? ORDER BY at, id',
      ),
      addToDay: database.prepare(
        `INSERT INTO usage_days (platform, guild, day, person, family, display_name, requests, units)
         VALUES (:platform, :guild, :day, :person, :family, :display_name, 1, :units)
         ON CONFLICT DO UPDATE SET display_name = excluded.display_name, requests = requests + 1,
           units = units + excluded.units`,
      ),
      days: database.prepare(
        `SELECT day, person, display_name AS displayName, family, requests, units FROM usage_days
         WHERE platform = ? AND guild = ? AND day >= ? ORDER BY day`,
      ),
      forget: database.prepare('DELETE FROM usage_days WHERE platform = ? AND person = ?'),
      pruneDays: database.prepare('DELETE FROM usage_days WHERE day < ?'),
    };
  }

  reserve(reservation: Reservation, ceilings: readonly Ceiling[], now: number): Promise<Reserved> {
    return this.#database.write((): Reserved => {
      this.#giveBackExpired(now);
      this.#statements.pruneCounts.run(now - LONGEST_WINDOW);
      if (this.#statements.find.get(reservation.id)) return { type: 'reserved', known: true };
      const refused = this.#refusal(reservation, ceilings, now);
      if (refused) return refused;
      const { id, at, expiresAt } = reservation;
      this.#statements.add.run({ id, at, expires_at: expiresAt });
      this.#count(reservation);
      return { type: 'reserved', known: false };
    });
  }

  settle(reservation: Reservation): Promise<boolean> {
    const { id, at, units, facts } = reservation;
    return this.#database.write(() => {
      const { changes } = this.#statements.add.run({ id, at, expires_at: null });
      if (changes === 0) return false;
      this.#count(reservation);
      this.#statements.addToDay.run({
        platform: facts.platform,
        guild: facts.guild,
        day: dayOf(at),
        person: facts.person,
        family: facts.family,
        display_name: facts.displayName,
        units,
      });
      return true;
    });
  }

  giveBack(id: string): Promise<void> {
    return this.#database.write(() => this.#giveBack(id));
  }

  async used(counters: readonly string[], since: number): Promise<Used[]> {
    return counters.map((counter) =>
      sumRow.parse(this.#database.read(() => this.#statements.sum.get(counter, since))),
    );
  }

  async days(where: Pick<UsageFacts, 'platform' | 'guild'>, firstDay: string): Promise<UsageDay[]> {
    return dayRows.parse(
      this.#database.read(() => this.#statements.days.all(where.platform, where.guild, firstDay)),
    );
  }

  async forget(platform: string, person: string): Promise<void> {
    await this.#database.write(() => this.#statements.forget.run(platform, person));
  }

  async prune(firstDay: string, now: number): Promise<void> {
    await this.#database.write(() => {
      this.#statements.pruneDays.run(firstDay);
      this.#statements.pruneEntries.run(now - USAGE_KNOWN);
    });
  }

  #count({ id, at, units, counters }: Reservation): void {
    for (const counter of counters) this.#statements.count.run(counter, at, id, units);
  }

  #giveBack(id: string): void {
    if (this.#statements.remove.run(id).changes > 0) this.#statements.uncount.run(id);
  }

  #giveBackExpired(now: number): void {
    for (const { id } of idRows.parse(this.#statements.expired.all(now))) this.#giveBack(id);
  }

  #refusal(
    { units }: Reservation,
    ceilings: readonly Ceiling[],
    now: number,
  ): Extract<Reserved, { type: 'refused' }> | undefined {
    let last: { ceiling: number; freesAt: number } | undefined;
    for (const [index, ceiling] of ceilings.entries()) {
      const { counter, windowMs, of, most } = ceiling;
      const wanted = of === 'requests' ? 1 : units;
      const used = sumRow.parse(this.#statements.sum.get(counter, now - windowMs));
      if (used[of] + wanted <= most) continue;
      const entries = entryRows
        .parse(this.#statements.entries.all(counter, now - windowMs))
        .map((entry) => ({ at: entry.at, amount: of === 'requests' ? 1 : entry.units }));
      const frees = freesAt(entries, wanted, ceiling);
      if (frees === undefined) return { type: 'refused', ceiling: index };
      if (last === undefined || frees > last.freesAt) last = { ceiling: index, freesAt: frees };
    }
    return last && { type: 'refused', ...last };
  }
}
