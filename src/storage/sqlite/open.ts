/** Storage in one SQLite file, for one process. */
import { EventEmitter } from 'node:events';
import { z } from 'zod';
import { localLeases } from '../locks.ts';
import { checkTime, type RunTools } from '../schedule.ts';
import { type Accepted, INBOX_KEPT, type Received, type Storage } from '../storage.ts';
import { SqliteDatabase } from './database.ts';
import { sqliteInbox } from './inbox.ts';
import { sqliteJobs } from './jobs.ts';
import { sqliteSchedule } from './schedule.ts';
import { sqliteSemaphores } from './semaphores.ts';
import { sqliteSettings } from './settings.ts';
import { sqliteUsage } from './usage.ts';

const DAY = 24 * 3_600_000;

const secretRow = z.object({ value: z.string() });
const namedSecretRow = secretRow.extend({ name: z.string() });

export interface SqliteStorageOptions extends RunTools {
  /** The file, which is created with its folder if missing, or `:memory:`. */
  readonly path: string;
}

/**
 * Opens the file exclusively for this process. Acknowledged writes are on disk and survive `kill -9` and a power cut. Throws
 * StorageError: `locked` if another process uses the file, `schema` if it is damaged, newer or of another program, `full`,
 * `unavailable`.
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

/** Creates a storage on an open database. Closing the storage closes the database. */
export function sqliteStorage(database: SqliteDatabase, tools: RunTools): Storage {
  const { clock, log } = tools;
  const schedule = sqliteSchedule(database, tools);
  const statements = database.prepareAll({
    readSecret: 'SELECT value FROM secrets WHERE name = ?',
    allSecrets: 'SELECT name, value FROM secrets ORDER BY name',
    writeSecret: 'INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
    check:
      'INSERT INTO checks (id, checked_at) VALUES (1, ?) ON CONFLICT DO UPDATE SET checked_at = excluded.checked_at',
  });
  const jobs = sqliteJobs(database, log);
  const usage = sqliteUsage(database);
  const inbox = sqliteInbox(database);
  const listeners = new EventEmitter().setMaxListeners(0);
  let isDamageLogged = false;
  let stopPruning = () => {};
  const pruneDaily = () => {
    inbox.prune(clock.now() - INBOX_KEPT).catch((error: unknown) => {
      log.warn({ err: error }, 'Could not delete old callbacks; retrying tomorrow');
    });
    stopPruning = clock.after(DAY, pruneDaily);
  };
  pruneDaily();
  return {
    accept: async ({ job, reservation, ceilings, at, now }) => {
      checkTime(at);
      const answer = await database.write((): Accepted => {
        const known = jobs.known(job);
        if (known !== undefined) return { type: 'known', job: known };
        const refusal = usage.reserveNow(reservation, ceilings, now);
        if (refusal) return refusal;
        jobs.insert(job);
        schedule.insert(job.id, at);
        return { type: 'accepted' };
      });
      if (answer.type === 'accepted') schedule.setTimer(at);
      return answer;
    },
    receive: async (callback) => {
      const { job, receivedAt } = callback;
      checkTime(receivedAt);
      const received = await database.write((): Received => {
        if (!inbox.insert(callback)) return 'unknown-job';
        schedule.insertWake(job, receivedAt);
        return 'stored';
      });
      if (received === 'stored') schedule.setTimer(receivedAt);
      return received;
    },
    jobs,
    inbox,
    schedule,
    // Only this process uses the file, so all subscribers are here.
    notifications: {
      publish: async (job) => void listeners.emit(job),
      subscribe: (job, listener) => {
        listeners.on(job, listener);
        return () => listeners.off(job, listener);
      },
    },
    settings: sqliteSettings(database, log),
    semaphores: sqliteSemaphores(database),
    leases: localLeases(clock.elapsed),
    usage,
    secret: async (name, make) => {
      const known = database.get(statements.readSecret, secretRow, name);
      if (known !== undefined) return known.value;
      const created = make();
      return database.write(() => {
        statements.writeSecret.run(name, created);
        return secretRow.parse(statements.readSecret.get(name)).value;
      });
    },
    secrets: async () =>
      database.all(statements.allSecrets, namedSecretRow).map(({ name, value }) => [name, value] as const),
    check: async () => {
      try {
        database.assertWhole();
      } catch (error) {
        if (!isDamageLogged) log.error({ err: error }, 'The storage is damaged');
        isDamageLogged = true;
        throw error;
      }
      await database.write(() => statements.check.run(clock.now()));
    },
    scrub: async () => database.truncateLog(),
    close: async () => {
      stopPruning();
      await schedule.stop();
      database.close();
    },
  };
}
