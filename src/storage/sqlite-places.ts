import { z } from 'zod';
import { type Places, QUEUE_COUNTED } from './places.ts';
import type { SqliteDatabase } from './sqlite-database.ts';

const placeRow = z.object({ ticket: z.number(), held: z.number() }).optional();
const ticketRow = z.object({ ticket: z.number() });
const countRow = z.object({ count: z.number() });
const jobRows = z.array(z.object({ job: z.string() }));

export class SqlitePlaces implements Places {
  readonly #database: SqliteDatabase;
  readonly #statements;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#statements = {
      find: database.prepare('SELECT ticket, held FROM places WHERE queue = ? AND job = ?'),
      enter: database.prepare(
        `INSERT INTO places (queue, job, ticket, held)
         VALUES (?1, ?2, (SELECT coalesce(max(ticket), 0) + 1 FROM places WHERE queue = ?1), 0) RETURNING ticket`,
      ),
      held: database.prepare('SELECT count(*) AS count FROM places WHERE queue = ? AND held = 1'),
      ahead: database.prepare(
        `SELECT count(*) AS count FROM
           (SELECT 1 FROM places WHERE queue = ? AND held = 0 AND ticket < ? LIMIT ?)`,
      ),
      hold: database.prepare('UPDATE places SET held = 1 WHERE queue = ? AND job = ?'),
      leave: database.prepare('DELETE FROM places WHERE queue = ? AND job = ?'),
      first: database.prepare('SELECT job FROM places WHERE queue = ? AND held = 0 ORDER BY ticket LIMIT ?'),
      holders: database.prepare('SELECT job FROM places WHERE queue = ? AND held = 1'),
    };
  }

  take(queue: string, job: string, limit: number): Promise<number> {
    const { find, enter, held, ahead, hold } = this.#statements;
    return this.#database.write(() => {
      const known = placeRow.parse(find.get(queue, job));
      if (known?.held === 1) return 0;
      const { ticket } = known ?? ticketRow.parse(enter.get(queue, job));
      const free = limit - countRow.parse(held.get(queue)).count;
      const before = countRow.parse(ahead.get(queue, ticket, Math.max(free, 0) + QUEUE_COUNTED)).count;
      if (before >= free) return Math.min(before - Math.max(free, 0) + 1, QUEUE_COUNTED);
      hold.run(queue, job);
      return 0;
    });
  }

  leave(queue: string, job: string, limit: number): Promise<string[]> {
    const { leave, held, first } = this.#statements;
    return this.#database.write(() => {
      leave.run(queue, job);
      const free = limit - countRow.parse(held.get(queue)).count;
      return free > 0 ? idsOf(first.all(queue, free)) : [];
    });
  }

  async occupants(queue: string, limit: number): Promise<string[]> {
    const { holders, first } = this.#statements;
    return this.#database.read(() => [...idsOf(holders.all(queue)), ...idsOf(first.all(queue, limit))]);
  }
}

function idsOf(rows: unknown): string[] {
  return jobRows.parse(rows).map(({ job }) => job);
}
