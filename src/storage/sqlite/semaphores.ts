/** Semaphores as rows of jobs, ordered by ticket. */
import type { StatementSync } from 'node:sqlite';
import { z } from 'zod';
import { QUEUE_COUNTED, type Semaphores } from '../storage.ts';
import type { SqliteDatabase } from './database.ts';

const jobRow = z.object({ job: z.string() });
const slotRow = z.object({ ticket: z.number(), held: z.number() }).optional();
const ticketRow = z.object({ ticket: z.number() });
const countRow = z.object({ count: z.number() });

export function sqliteSemaphores(database: SqliteDatabase): Semaphores {
  const { find, enter, held, ahead, hold, remove, next, holders } = database.prepareAll({
    find: 'SELECT ticket, held FROM semaphores WHERE queue = ? AND job = ?',
    enter: `INSERT INTO semaphores (queue, job, ticket, held)
     VALUES (?1, ?2, (SELECT coalesce(max(ticket), 0) + 1 FROM semaphores WHERE queue = ?1), 0) RETURNING ticket`,
    held: 'SELECT count(*) AS count FROM semaphores WHERE queue = ? AND held = 1',
    ahead: `SELECT count(*) AS count FROM
       (SELECT 1 FROM semaphores WHERE queue = ? AND held = 0 AND ticket < ? LIMIT ?)`,
    hold: 'UPDATE semaphores SET held = 1 WHERE queue = ? AND job = ?',
    remove: 'DELETE FROM semaphores WHERE queue = ? AND job = ?',
    next: 'SELECT job FROM semaphores WHERE queue = ? AND held = 0 ORDER BY ticket LIMIT ?',
    holders: 'SELECT job FROM semaphores WHERE queue = ? AND held = 1',
  });

  const jobs = (query: StatementSync, ...values: (string | number)[]) =>
    database.all(query, jobRow, ...values).map(({ job }) => job);
  const freeSlots = (queue: string, limit: number) => limit - countRow.parse(held.get(queue)).count;
  return {
    acquire: (queue, job, limit) =>
      database.write(() => {
        const known = slotRow.parse(find.get(queue, job));
        if (known?.held === 1) return 0;
        const { ticket } = known ?? ticketRow.parse(enter.get(queue, job));
        const free = Math.max(freeSlots(queue, limit), 0);
        const before = countRow.parse(ahead.get(queue, ticket, free + QUEUE_COUNTED)).count;
        if (before >= free) return Math.min(before - free + 1, QUEUE_COUNTED);
        hold.run(queue, job);
        return 0;
      }),
    release: (queue, job, limit) =>
      database.write(() => {
        remove.run(queue, job);
        const free = freeSlots(queue, limit);
        return free > 0 ? jobs(next, queue, free) : [];
      }),
    holdersAndNext: async (queue, limit) => [...jobs(holders, queue), ...jobs(next, queue, limit)],
  };
}
