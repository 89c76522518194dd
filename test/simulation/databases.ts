/** SQLite in memory, reused for each history: creating the tables costs more than playing a history. */
import type { StatementSync } from 'node:sqlite';
import { z } from 'zod';
import { SqliteDatabase } from '../../src/storage/sqlite/database.ts';

const nameRow = z.object({ name: z.string() });
const countRow = z.object({ count: z.number() });

export class ReusedDatabase extends SqliteDatabase {
  readonly #statements = new Map<string, StatementSync>();
  readonly #tables: readonly string[];

  constructor() {
    super(':memory:');
    const tables = this.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'");
    this.#tables = this.all(tables, nameRow).map(({ name }) => name);
  }

  override prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = super.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Empties all tables. */
  empty(): void {
    for (const table of this.#tables) this.prepare(`DELETE FROM ${table}`).run();
  }

  get scheduled(): number {
    return countRow.parse(this.prepare('SELECT count(*) AS count FROM schedule').get()).count;
  }

  /** The stored texts of all jobs. */
  get records(): string[] {
    const rows = this.prepare('SELECT record FROM jobs').all();
    return rows.map(({ record }) => String(record));
  }

  isOpen(job: string): boolean {
    return this.prepare('SELECT 1 FROM jobs WHERE id = ? AND open = 1').get(job) !== undefined;
  }

  /** Deletes the timers of open jobs without a current run. */
  loseTimers(): void {
    this.prepare(
      'DELETE FROM schedule WHERE running = 0 AND job IN (SELECT id FROM jobs WHERE open = 1)',
    ).run();
  }
}
