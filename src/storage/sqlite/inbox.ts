/** Received callbacks of jobs. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Callback, INBOX_LIMIT, type Inbox } from '../storage.ts';
import type { SqliteDatabase } from './database.ts';

const nextRow = z.object({ sequence: z.number(), hasJob: z.number() });
const entryRow = z.object({ sequence: z.number(), receivedAt: z.number(), body: z.string() });

export interface SqliteInbox extends Inbox {
  /** Within a transaction: stores a callback. Returns false if its job is not stored. */
  insert(callback: Callback): boolean;
  /** Deletes callbacks of jobs that ended before `endedBefore` (milliseconds since the epoch). */
  prune(endedBefore: number): Promise<void>;
}

export function sqliteInbox(database: SqliteDatabase): SqliteInbox {
  const { next, put, read, prune } = database.prepareAll({
    next: `SELECT coalesce(max(sequence), 0) + 1 AS sequence, EXISTS (SELECT 1 FROM jobs WHERE id = ?1) AS hasJob
       FROM inbox WHERE job = ?1`,
    put: `INSERT INTO inbox (job, sequence, received_at, digest, body) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (job, digest) DO NOTHING`,
    read: `SELECT sequence, received_at AS receivedAt, body FROM inbox WHERE job = ? AND sequence > ?
     ORDER BY sequence`,
    // Searches by the time of the callback, because few of the many ended jobs have callbacks.
    prune: `DELETE FROM inbox WHERE job IN (SELECT job FROM inbox JOIN jobs ON id = job
       WHERE received_at < ?1 AND open = 0 AND coalesce(finished_at, created_at) < ?1)`,
  });
  return {
    insert({ job, body, receivedAt }) {
      const { sequence, hasJob } = nextRow.parse(next.get(job));
      if (hasJob === 0) return false;
      if (sequence <= INBOX_LIMIT) put.run(job, sequence, receivedAt, hash('sha256', body, 'buffer'), body);
      return true;
    },
    read: async (job, sequence) => database.all(read, entryRow, job, sequence),
    async prune(endedBefore) {
      await database.write(() => prune.run(endedBefore));
    },
  };
}
