/** One SQLite file: opened for this process alone, brought to the newest schema, written in groups. */
import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { asStorageError } from './sqlite-errors.ts';
import { migrate } from './sqlite-schema.ts';
import { StorageError } from './storage.ts';

/** How long a write waits for a backup or an inspecting tool; it blocks the process, so it stays below 3 s. */
const BUSY_TIMEOUT = 2_000;
/** Bounds how long one commit keeps the process from doing anything else. */
const LARGEST_GROUP = 256;

interface Change {
  /** Makes the change and returns what tells its author once it is durable. */
  readonly make: () => () => void;
  readonly refuse: (error: unknown) => void;
}

export class SqliteDatabase {
  readonly #connection: DatabaseSync;
  readonly #lock: DatabaseSync | undefined;
  #changes: Change[] = [];
  #flushing: NodeJS.Immediate | undefined;

  /**
   * Opens the file, or memory for `:memory:`, and creates its folder if there is none.
   * Throws StorageError: `locked`, `schema`, `full`, `unavailable`.
   */
  constructor(path: string) {
    let lock: DatabaseSync | undefined;
    try {
      lock = path === ':memory:' ? undefined : lockFor(path);
      this.#connection = connect(path);
    } catch (error) {
      lock?.close();
      throw asStorageError(error);
    }
    this.#lock = lock;
  }

  /** Throws StorageError when the storage is closed. */
  prepare(sql: string): StatementSync {
    return this.read(() => this.#connection.prepare(sql));
  }

  /** Throws what `query` throws, SQLite's errors as StorageError. */
  read<Value>(query: () => Value): Value {
    try {
      return query();
    } catch (error) {
      throw asStorageError(error);
    }
  }

  /**
   * Resolves when the change is on disk. Changes of the same moment share one commit, and so one wait for the disk.
   * `change` may be called twice (when another change of its group failed), so it must do nothing but SQL.
   */
  write<Value>(change: () => Value): Promise<Value> {
    return new Promise<Value>((resolve, reject) => {
      if (!this.#connection.isOpen) {
        reject(new StorageError('unavailable', 'The storage is closed.'));
        return;
      }
      this.#changes.push({
        make: () => {
          const value = change();
          return () => resolve(value);
        },
        refuse: (error) => reject(asStorageError(error)),
      });
      this.#flushing ??= setImmediate(() => this.#flush());
    });
  }

  /** Commits what is waiting, and closes. */
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
    } catch (error) {
      const [only, ...others] = group;
      if (others.length === 0) only?.refuse(error);
      else for (const change of group) this.#commitAlone(change);
    }
  }

  #commitAlone(change: Change): void {
    try {
      this.#commit([change]);
    } catch (error) {
      change.refuse(error);
    }
  }

  /** All or nothing. */
  #commit(group: readonly Change[]): void {
    let durable: (() => void)[];
    try {
      this.#connection.exec('BEGIN IMMEDIATE');
      durable = group.map((change) => change.make());
      this.#connection.exec('COMMIT');
    } catch (error) {
      // A full disk may already have rolled it back.
      if (this.#connection.isOpen && this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
    for (const tell of durable) tell();
  }
}

function connect(path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, defensive: true });
  try {
    // FULL: in WAL mode anything less may lose the last commits when the power goes. https://www.sqlite.org/pragma.html#pragma_synchronous
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    migrate(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * An open exclusive transaction on a file beside the database: the system lets go of it however the process ends.
 * The database itself stays readable, so that it can be backed up and looked into while the bot runs.
 */
function lockFor(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  const lock = new DatabaseSync(`${realPath(path)}-lock`, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    const cause = asStorageError(error);
    if (!(cause instanceof StorageError) || cause.code !== 'locked') throw error;
    throw new StorageError(
      'locked',
      `Another process already uses ${path}. Stop it first; only with Redis can several share their storage.`,
      error,
    );
  }
}

/** One name for one file, so that a link to it does not get a lock of its own. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(realpathSync(dirname(path)), basename(path));
  }
}
