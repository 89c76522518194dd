/** What acknowledging takes where nothing may be lost, and no more: a record that is on the disk before. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Resolves when the record is durable. What comes in one turn of the event loop shares a commit. */
export function createDurableRecords(folder: string): (record: object) => Promise<void> {
  const database = new DatabaseSync(join(folder, 'records.sqlite'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE records (record TEXT)');
  const insert = database.prepare('INSERT INTO records VALUES (?)');
  let waiting: { readonly record: object; readonly stored: () => void }[] = [];
  const storeAll = () => {
    const together = waiting;
    waiting = [];
    database.exec('BEGIN');
    for (const { record } of together) insert.run(JSON.stringify(record));
    database.exec('COMMIT');
    for (const { stored } of together) stored();
  };
  return (record) =>
    new Promise((stored) => {
      if (waiting.push({ record, stored }) === 1) setImmediate(storeAll);
    });
}
