import { z } from 'zod';
import type { Log } from '../../core/telemetry/log.ts';
import { keyvSettings } from '../keyv-settings.ts';
import type { SettingsStore } from '../storage.ts';
import type { SqliteDatabase } from './database.ts';

const valueRow = z.object({ value: z.string() });
const keyRow = z.object({ key: z.string() });

/** Settings through Keyv, in a table. */
export function sqliteSettings(database: SqliteDatabase, log: Log): SettingsStore {
  const statements = database.prepareAll({
    get: 'SELECT value FROM settings WHERE key = ?',
    set: 'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    insert: 'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
    replace: 'UPDATE settings SET value = ? WHERE key = ? AND value = ?',
    delete: 'DELETE FROM settings WHERE key = ?',
    clear: 'DELETE FROM settings',
    keys: 'SELECT key FROM settings WHERE substr(key, 1, length(?1)) = ?1',
  });
  return keyvSettings({
    log,
    store: {
      get: async (key) => database.get(statements.get, valueRow, key)?.value,
      set: (key, value) => database.write(() => statements.set.run(key, value)),
      delete: (key) => database.write(() => statements.delete.run(key).changes === 1),
      clear: () => database.write(() => statements.clear.run()),
    },
    compareAndSet: (key, before, after) =>
      database.write(() => {
        const { insert, replace } = statements;
        return (
          (before === undefined ? insert.run(key, after) : replace.run(after, key, before)).changes === 1
        );
      }),
    async *keys(start = '') {
      for (const { key } of database.all(statements.keys, keyRow, start)) yield key;
    },
  });
}
