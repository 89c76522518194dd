/** Storage in one SQLite file, for one process. */
import { z } from 'zod';
import type { Log } from '../command.ts';
import type { Clock } from './clock.ts';
import { createHearers } from './hearers.ts';
import { keyvSettings } from './keyv-settings.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteInbox } from './sqlite-inbox.ts';
import { SqliteJobs } from './sqlite-jobs.ts';
import { atomicSqliteStore } from './sqlite-keyv.ts';
import { SqlitePlaces } from './sqlite-places.ts';
import { SqliteUsage } from './sqlite-usage.ts';
import { SqliteWakeUps } from './sqlite-wake-ups.ts';
import { INBOX_KEPT, type Storage } from './storage.ts';

const DAY = 24 * 3_600_000;

const secretRow = z.object({ value: z.string() });
const secretRows = z.array(z.object({ name: z.string(), value: z.string() }));

export interface SqliteStorageOptions {
  /** The file, made with its folder if there is none; or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Opens the file for this process alone. What its promises acknowledge is on disk: it survives `kill -9` and a power cut.
 * Throws StorageError: `locked` when another process uses the file, `schema` when it is damaged, newer or not ours,
 * `full`, `unavailable`.
 */
export async function openSqliteStorage(options: SqliteStorageOptions): Promise<Storage> {
  const database = new SqliteDatabase(options.path);
  try {
    return sqliteStorage(database, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The same on a database that is open already; closing the storage closes it. */
export function sqliteStorage(
  database: SqliteDatabase,
  { clock, random, log }: Omit<SqliteStorageOptions, 'path'>,
): Storage {
  const wakeUps = new SqliteWakeUps(database, { clock, random, log });
  const readSecret = database.prepare('SELECT value FROM secrets WHERE name = ?');
  const allSecrets = database.prepare('SELECT name, value FROM secrets ORDER BY name');
  const writeSecret = database.prepare(
    'INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const check = database.prepare(
    'INSERT INTO checks (id, checked_at) VALUES (1, ?) ON CONFLICT DO UPDATE SET checked_at = excluded.checked_at',
  );
  const inbox = new SqliteInbox(database);
  const hearers = createHearers();
  const stopForgetting = daily(clock, () => {
    inbox.forget(clock.now() - INBOX_KEPT).catch((error: unknown) => {
      log.warn({ err: error }, 'Old callbacks could not be forgotten; trying again tomorrow');
    });
  });
  return {
    jobs: new SqliteJobs(database, log),
    inbox,
    wakeUps,
    // One process has the file, so nobody else could listen.
    notices: { tell: async (job) => hearers.tell(job), listen: hearers.add },
    settings: keyvSettings(atomicSqliteStore(database), { namespace: 'settings' }),
    places: new SqlitePlaces(database),
    usage: new SqliteUsage(database),
    secret: async (name, make) => {
      const known = database.read(() => readSecret.get(name));
      if (known !== undefined) return secretRow.parse(known).value;
      const made = make();
      return database.write(() => {
        writeSecret.run(name, made);
        return secretRow.parse(readSecret.get(name)).value;
      });
    },
    secrets: async () =>
      secretRows
        .parse(database.read(() => allSecrets.all()))
        .map(({ name, value }) => [name, value] as const),
    check: async () => {
      await database.write(() => check.run(clock.now()));
    },
    close: async () => {
      stopForgetting();
      await wakeUps.stop();
      database.close();
    },
  };
}

/** Does it now and every day. Returns what ends that. */
function daily(clock: Clock, task: () => void): () => void {
  let cancel = () => {};
  const run = () => {
    task();
    cancel = clock.after(DAY, run);
  };
  run();
  return () => cancel();
}
