/** Keyv's store interface on a SQLite table. https://keyv.org/docs/keyv/#using-storage-adapters */
import type { KeyvStoreAdapter } from 'keyv';
import { z } from 'zod';
import type { AtomicStore } from '../keyv-settings.ts';
import type { SqliteDatabase } from './database.ts';

const valueRow = z.object({ value: z.string() });
const keyRow = z.object({ key: z.string() });

export class SqliteKeyvStore implements KeyvStoreAdapter, AtomicStore {
  /** Part of the interface; it holds nothing of ours. */
  readonly opts: Record<string, unknown> = {};
  /** Set by Keyv, which also puts it before every key. */
  namespace: string | undefined;
  readonly #database: SqliteDatabase;
  readonly #statements;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#statements = database.prepareAll({
      get: 'SELECT value FROM settings WHERE key = ?',
      set: `INSERT INTO settings (key, value) VALUES (?, ?)
        ON CONFLICT DO UPDATE SET value = excluded.value`,
      insert: 'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
      replace: 'UPDATE settings SET value = ? WHERE key = ? AND value = ?',
      delete: 'DELETE FROM settings WHERE key = ?',
      clear: 'DELETE FROM settings WHERE substr(key, 1, length(?1)) = ?1',
      keys: 'SELECT key FROM settings',
    });
  }

  /** Part of the interface; failures are thrown, so there is nothing to listen to. */
  on(): this {
    return this;
  }

  // The type parameter is Keyv's: the value is the text that Keyv serialised and will read again.
  async get<Value>(key: string): Promise<Value | undefined> {
    return this.#database.get(this.#statements.get, valueRow, key)?.value as Value | undefined;
  }

  async set(key: string, value: string): Promise<boolean> {
    return this.#database.write(() => this.#statements.set.run(key, value).changes === 1);
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

  compareAndSet(key: string, before: string | undefined, after: string): Promise<boolean> {
    const { insert, replace } = this.#statements;
    return this.#database.write(
      () => (before === undefined ? insert.run(key, after) : replace.run(after, key, before)).changes === 1,
    );
  }

  async *keys(): AsyncGenerator<string> {
    for (const { key } of this.#database.all(this.#statements.keys, keyRow)) yield key;
  }
}
