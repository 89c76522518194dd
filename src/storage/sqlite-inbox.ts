import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { SqliteDatabase } from './sqlite-database.ts';
import { INBOX_LIMIT, type Inbox, type InboxEntry } from './storage.ts';

const lastRow = z.object({ last: z.number() });
const entryRows = z.array(
  z
    .object({ sequence: z.number(), received_at: z.number(), body: z.string() })
    .transform(
      ({ sequence, received_at, body }): InboxEntry => ({ sequence, receivedAt: received_at, body }),
    ),
);

export class SqliteInbox implements Inbox {
  readonly #database: SqliteDatabase;
  readonly #statements;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#statements = {
      known: database.prepare('SELECT 1 FROM inbox WHERE job = ? AND digest = ?'),
      last: database.prepare('SELECT coalesce(max(sequence), 0) AS last FROM inbox WHERE job = ?'),
      put: database.prepare(
        'INSERT INTO inbox (job, sequence, received_at, digest, body) VALUES (?, ?, ?, ?, ?)',
      ),
      read: database.prepare(
        'SELECT sequence, received_at, body FROM inbox WHERE job = ? AND sequence > ? ORDER BY sequence',
      ),
      forget: database.prepare(
        `DELETE FROM inbox WHERE job IN
           (SELECT id FROM jobs WHERE id IN (SELECT job FROM inbox) AND open = 0
              AND coalesce(finished_at, created_at) < ?)`,
      ),
    };
  }

  put(job: string, body: string, receivedAt: number): Promise<boolean> {
    const digest = createHash('sha256').update(body).digest();
    const { known, last, put } = this.#statements;
    return this.#database.write(() => {
      if (known.get(job, digest) !== undefined) return true;
      const sequence = lastRow.parse(last.get(job)).last + 1;
      if (sequence > INBOX_LIMIT) return false;
      put.run(job, sequence, receivedAt, digest, body);
      return true;
    });
  }

  async read(job: string, sequence: number): Promise<InboxEntry[]> {
    return entryRows.parse(this.#database.read(() => this.#statements.read.all(job, sequence)));
  }

  /** Forgets the callbacks of jobs that ended before then. */
  async forget(endedBefore: number): Promise<void> {
    await this.#database.write(() => this.#statements.forget.run(endedBefore));
  }
}
