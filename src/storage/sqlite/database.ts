/** One SQLite file: opened exclusively, checked, and written in groups. */
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { StorageError } from '../storage.ts';
import { makeFolder } from './database-file.ts';
import { asStorageError, damagedFile, isDamage } from './errors.ts';
import { createTables } from './schema.ts';

/** Milliseconds a write waits for a backup or another tool. It blocks the process, so it stays below 3 s. */
const BUSY_TIMEOUT = 2_000;
/** Bounds how long one commit blocks the process. */
const LARGEST_GROUP = 128;

interface Change {
  /** Makes the change. Returns the function to call when it is durable. */
  readonly make: () => () => void;
  readonly refuse: (error: unknown) => void;
}

export class SqliteDatabase {
  readonly #connection: DatabaseSync;
  readonly #lock: DatabaseSync | undefined;
  readonly #path: string;
  #damage: StorageError | undefined;
  #changes: Change[] = [];
  #flushing: NodeJS.Immediate | undefined;

  /**
   * Opens the file, or memory for `:memory:`, and creates its folder if it is missing.
   * Throws StorageError: `locked`, `schema`, `full`, `unavailable`.
   */
  constructor(path: string) {
    let lock: DatabaseSync | undefined;
    try {
      lock = path === ':memory:' ? undefined : lockFor(path);
      this.#connection = connect(path);
    } catch (error) {
      lock?.close();
      throw asStorageError(error, path);
    }
    this.#lock = lock;
    this.#path = path;
  }

  /** Throws StorageError `schema` if a query has found damage in the file. */
  assertWhole(): void {
    if (this.#damage) throw this.#damage;
  }

  /** Throws StorageError if the storage is closed. */
  prepare(sql: string): StatementSync {
    return this.read(() => this.#connection.prepare(sql));
  }

  prepareAll<Name extends string>(queries: Readonly<Record<Name, string>>): Record<Name, StatementSync> {
    const prepared = Object.entries<string>(queries).map(([name, sql]) => [name, this.prepare(sql)]);
    // The names are those of the queries.
    return Object.fromEntries(prepared) as Record<Name, StatementSync>;
  }

  /** Runs a query. Throws SQLite's errors as StorageError. */
  read<Value>(query: () => Value): Value {
    try {
      return query();
    } catch (error) {
      throw this.#storageError(error);
    }
  }

  /** Returns the rows of a query. Throws like {@link read}. */
  all<Row>(query: StatementSync, row: z.ZodType<Row>, ...values: SQLInputValue[]): Row[] {
    return this.read(() => query.all(...values)).map((found) => row.parse(found));
  }

  /** Returns the first row of a query. Throws like {@link read}. */
  get<Row>(query: StatementSync, row: z.ZodType<Row>, ...values: SQLInputValue[]): Row | undefined {
    const found = this.read(() => query.get(...values));
    return found === undefined ? undefined : row.parse(found);
  }

  /**
   * Resolves when the change is on disk. Changes at the same moment share one commit. `change` may be called twice if another change
   * of its group fails, so it must only run SQL.
   */
  write<Value>(change: () => Value): Promise<Value> {
    if (!this.#connection.isOpen) {
      return Promise.reject(new StorageError('unavailable', 'The storage is closed.'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    this.#changes.push({
      make: () => {
        const value = change();
        return () => resolve(value);
      },
      refuse: (error) => reject(this.#storageError(error)),
    });
    if (this.#changes.length >= LARGEST_GROUP) {
      clearImmediate(this.#flushing);
      this.#flush();
    } else this.#flushing ??= setImmediate(() => this.#flush());
    return promise;
  }

  /** Moves the write-ahead log into the database file and empties it. Throws StorageError. */
  truncateLog(): void {
    this.read(() => this.#connection.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  /** Commits pending changes, and closes. */
  close(): void {
    clearImmediate(this.#flushing);
    while (this.#changes.length > 0) this.#flush();
    if (this.#connection.isOpen) this.#connection.close();
    if (this.#lock?.isOpen) this.#lock.close();
  }

  #flush(): void {
    const group = this.#changes.splice(0, LARGEST_GROUP);
    this.#flushing = this.#changes.length > 0 ? setImmediate(() => this.#flush()) : undefined;
    try {
      this.#commit(group);
    } catch (failure) {
      const known = asStorageError(failure, this.#path);
      if (known instanceof StorageError && known.code === 'locked') {
        // Committing each change separately would wait for the file each time and block the process.
        for (const change of group) change.refuse(known);
        return;
      }
      // One change failed; the others must still be committed.
      for (const change of group) {
        try {
          this.#commit([change]);
        } catch (error) {
          change.refuse(error);
        }
      }
    }
  }

  #storageError(error: unknown): unknown {
    const known = asStorageError(error, this.#path);
    if (known instanceof StorageError && isDamage(error)) this.#damage ??= known;
    return known;
  }

  /** All or nothing. */
  #commit(group: readonly Change[]): void {
    let durable: (() => void)[];
    try {
      this.#connection.exec('BEGIN IMMEDIATE');
      durable = group.map((change) => change.make());
      this.#connection.exec('COMMIT');
    } catch (error) {
      // SQLite may have rolled it back already, such as on a full disk.
      if (this.#connection.isOpen && this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
    for (const resolve of durable) resolve();
  }
}

/** Yields all rows, a page at a time. `read` returns the page after a row. Other work runs between pages. */
export async function* paged<Row>(read: (last: Row | undefined) => Row[]): AsyncGenerator<Row> {
  let page = read(undefined);
  while (page.length > 0) {
    yield* page;
    await nextTurn();
    page = read(page.at(-1));
  }
}

function connect(path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, defensive: true });
  try {
    // FULL: in WAL mode, anything less may lose the last commits in a power cut. https://www.sqlite.org/pragma.html#pragma_synchronous
    // secure_delete overwrites erased data: https://www.sqlite.org/pragma.html#pragma_secure_delete
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
    createTables(connection);
    // Reads the whole file. https://www.sqlite.org/pragma.html#pragma_quick_check returns one row: ok, or the first fault.
    const check = connection.prepare('PRAGMA quick_check(1)').get();
    if (check?.quick_check !== 'ok') throw damagedFile(path);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Opens an exclusive transaction on a file next to the database. The system releases it however the process ends. The database
 * itself stays readable for backups and other tools.
 */
function lockFor(path: string): DatabaseSync {
  makeFolder(dirname(path));
  const lockPath = `${realPath(path)}-lock`;
  for (const file of [path, lockPath]) restrictToOwner(file);
  // SQLite's errors do not name the file that is not writable.
  const left = ['-wal', '-shm', '-journal'].map((end) => `${realPath(path)}${end}`).filter(existsSync);
  for (const file of [dirname(lockPath), ...left]) accessSync(file, constants.R_OK | constants.W_OK);
  const lock = new DatabaseSync(lockPath, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    const cause = asStorageError(error, lockPath);
    if (!(cause instanceof StorageError) || cause.code !== 'locked') throw cause;
    throw new StorageError(
      'locked',
      `Another process is using ${path}. Stop it first. Only Redis storage can be shared by several processes.`,
      error,
    );
  }
}

/** Only the owner may read the file. SQLite gives its other files the same permissions. */
function restrictToOwner(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** Resolves links, so that a link to the file uses the same lock. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(realpathSync(dirname(path)), basename(path));
  }
}
