/** Keyv's store interface on a SQLite table. https://keyv.org/docs/keyv/#using-storage-adapters */
import type { KeyvStoreAdapter } from 'keyv';
import { z } from 'zod';
import type { AtomicStore } from './keyv-settings.ts';
import type { SqliteDatabase } from './sqlite-database.ts';

const valueRow = z.object({ value: z.string() });
const entryRows = z.array(z.object({ key: z.string(), value: z.string() }));

export class SqliteKeyvStore implements KeyvStoreAdapter {
  /** Part of the interface; it holds nothing of ours. */
  readonly opts: Record<string, unknown> = {};
  /** Set by Keyv, which also puts it before every key. */
  namespace: string | undefined;
  readonly #database: SqliteDatabase;
  readonly #statements;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#statements = {
      get: database.prepare('SELECT value FROM settings WHERE key = ?'),
      set: database.prepare(
        'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      ),
      delete: database.prepare('DELETE FROM settings WHERE key = ?'),
      clear: database.prepare('DELETE FROM settings WHERE substr(key, 1, length(?1)) = ?1'),
    };
  }

  /** Part of the interface; failures are thrown, so there is nothing to listen to. */
  on(): this {
    return this;
  }

  // The type parameter is Keyv's: the value is the text that Keyv serialised and will read again.
  async get<Value>(key: string): Promise<Value | undefined> {
    const row = this.#database.read(() => this.#statements.get.get(key));
    return row === undefined ? undefined : (valueRow.parse(row).value as Value);
  }

  async set(key: string, value: string): Promise<boolean> {
    return this.#database.write(() => {
      this.#statements.set.run(key, value);
      return true;
    });
  }

  delete(key: string): Promise<boolean> {
    return this.#database.write(() => this.#statements.delete.run(key).changes === 1);
  }

  deleteMany(keys: string[]): Promise<boolean> {
    return this.#database.write(
      () => keys.map((key) => this.#statements.delete.run(key).changes).filter(Boolean).length > 0,
    );
  }

  async clear(): Promise<void> {
    const prefix = this.namespace === undefined ? '' : `${this.namespace}:`;
    await this.#database.write(() => this.#statements.clear.run(prefix));
  }
}

/** The same table with what Keyv's interface lacks. */
export function atomicSqliteStore(database: SqliteDatabase): AtomicStore {
  const insert = database.prepare('INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const replace = database.prepare('UPDATE settings SET value = ? WHERE key = ? AND value = ?');
  const all = database.prepare('SELECT key, value FROM settings ORDER BY key');
  return {
    store: new SqliteKeyvStore(database),
    compareAndSet: (key, before, after) =>
      database.write(() => {
        const { changes } = before === undefined ? insert.run(key, after) : replace.run(after, key, before);
        return changes === 1;
      }),
    list: async () =>
      entryRows.parse(database.read(() => all.all())).map(({ key, value }) => [key, value] as const),
  };
}
