/** The tables, and how older files become newer ones. */
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { StorageError } from '../storage.ts';

/** Marks a file as ours ("Mstl"), so that a wrong path does not write into somebody else's database. */
const APPLICATION_ID = 0x4d73746c;

/** The first makes version 1, and so on. Written once, never changed: files of every version are out there. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    invocation TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    channel TEXT NOT NULL,
    person TEXT NOT NULL,
    route TEXT NOT NULL,
    open INTEGER NOT NULL,
    has_songs INTEGER NOT NULL,
    duration REAL,
    created_at REAL NOT NULL,
    finished_at REAL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX jobs_open ON jobs (id) WHERE open = 1;
  CREATE INDEX jobs_running ON jobs (platform, channel, person, created_at, id) WHERE open = 1;
  CREATE INDEX jobs_songs ON jobs (platform, channel, created_at, id) WHERE has_songs = 1;
  CREATE INDEX jobs_durations ON jobs (route, finished_at, id) WHERE duration IS NOT NULL;

  CREATE TABLE inbox (
    job TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    received_at REAL NOT NULL,
    digest BLOB NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (job, sequence),
    UNIQUE (job, digest)
  ) STRICT;

  -- at: the earliest time asked for, null while a job runs and nothing more was asked for.
  CREATE TABLE wake_ups (
    job TEXT NOT NULL PRIMARY KEY,
    at REAL,
    handling INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX wake_ups_due ON wake_ups (at) WHERE handling = 0;

  CREATE TABLE settings (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE secrets (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE checks (id INTEGER PRIMARY KEY CHECK (id = 1), checked_at REAL NOT NULL) STRICT;
  `,
  `
  -- expires_at: null once it was settled.
  CREATE TABLE usage_entries (id TEXT NOT NULL PRIMARY KEY, at REAL NOT NULL, expires_at REAL) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_entries_expiring ON usage_entries (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE usage_counts (
    counter TEXT NOT NULL,
    at REAL NOT NULL,
    id TEXT NOT NULL,
    units REAL NOT NULL,
    PRIMARY KEY (counter, at, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_counts_ids ON usage_counts (id);
  CREATE INDEX usage_counts_times ON usage_counts (at);
  CREATE TABLE usage_days (
    platform TEXT NOT NULL,
    guild TEXT NOT NULL,
    day TEXT NOT NULL,
    person TEXT NOT NULL,
    family TEXT NOT NULL,
    display_name TEXT NOT NULL,
    requests INTEGER NOT NULL,
    units REAL NOT NULL,
    PRIMARY KEY (platform, guild, day, person, family)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_days_people ON usage_days (platform, person);
  `,
  `
  -- held: 1 for those that have a place, 0 for those in the queue.
  CREATE TABLE places (
    queue TEXT NOT NULL,
    job TEXT NOT NULL,
    ticket INTEGER NOT NULL,
    held INTEGER NOT NULL,
    PRIMARY KEY (queue, job)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX places_order ON places (queue, held, ticket);
  CREATE INDEX places_tickets ON places (queue, ticket);

  ALTER TABLE jobs ADD COLUMN unplaced INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX jobs_unplaced ON jobs (platform, person, created_at, id) WHERE unplaced = 1;
  `,
  `
  -- schedule.at: when the job runs next, null while it runs and is not scheduled again.
  ALTER TABLE wake_ups RENAME TO schedule;
  ALTER TABLE schedule RENAME COLUMN handling TO running;
  DROP INDEX wake_ups_due;
  CREATE INDEX schedule_due ON schedule (at) WHERE running = 0;

  -- semaphores.held: 1 for a slot, 0 for a queue position.
  ALTER TABLE places RENAME TO semaphores;
  DROP INDEX places_order;
  DROP INDEX places_tickets;
  CREATE INDEX semaphores_order ON semaphores (queue, held, ticket);
  CREATE INDEX semaphores_tickets ON semaphores (queue, ticket);

  ALTER TABLE jobs RENAME COLUMN unplaced TO undelivered;
  DROP INDEX jobs_unplaced;
  CREATE INDEX jobs_undelivered ON jobs (platform, person, created_at, id) WHERE undelivered = 1;
  `,
  `
  DROP INDEX jobs_running;
  CREATE INDEX jobs_running ON jobs (platform, person, created_at, id) WHERE open = 1;
  CREATE INDEX jobs_person ON jobs (platform, person, id);
  CREATE INDEX jobs_ended ON jobs (coalesce(finished_at, created_at), id) WHERE open = 0;
  `,
  `
  -- usage_entries.state: open, settled, or uncertain where the gateway may not have charged.
  ALTER TABLE usage_entries ADD COLUMN state TEXT NOT NULL DEFAULT 'open';
  UPDATE usage_entries SET state = 'settled' WHERE expires_at IS NULL;
  DROP INDEX usage_entries_expiring;
  ALTER TABLE usage_entries DROP COLUMN expires_at;
  ALTER TABLE usage_days ADD COLUMN uncertain INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE INDEX inbox_received ON inbox (received_at);
  CREATE INDEX usage_entries_times ON usage_entries (at);
  CREATE INDEX usage_days_days ON usage_days (day);
  `,
  `
  ALTER TABLE inbox ADD COLUMN kind TEXT;
  `,
  `
  -- server: null in a direct conversation. A record that cannot be read is of no server.
  ALTER TABLE jobs ADD COLUMN server TEXT;
  UPDATE jobs SET server = CASE WHEN json_valid(record) AND coalesce(record ->> '$.address.direct', 0) = 0
      THEN record ->> '$.address.guild' END
    WHERE has_songs = 1;
  CREATE INDEX jobs_server_songs ON jobs (platform, server, created_at, id) WHERE has_songs = 1;
  `,
];

/**
 * Brings the file to the newest version, whole or not at all.
 * Throws StorageError `schema` for a file of a newer version, or one that is not ours.
 */
export function migrate(connection: DatabaseSync, migrations: readonly string[] = MIGRATIONS): void {
  const version = pragma(connection, 'user_version');
  const applicationId = pragma(connection, 'application_id');
  const isOurs = applicationId === APPLICATION_ID;
  if (!isOurs && (applicationId !== 0 || version !== 0 || hasTables(connection))) {
    throw new StorageError(
      'schema',
      `The database file ${connection.location()} belongs to another program.`,
    );
  }
  if (version > migrations.length) {
    throw new StorageError(
      'schema',
      `The database file has version ${version}; this Minstrel knows versions up to ${migrations.length}. Run the newer Minstrel, or restore a backup.`,
    );
  }
  if (version === migrations.length) return;
  // One transaction: one wait for the disk, and never a version between two.
  connection.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of migrations.slice(version)) connection.exec(migration);
    connection.exec(
      `PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
    );
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function pragma(connection: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return z.record(z.string(), z.number()).parse(connection.prepare(`PRAGMA ${name}`).get())[name] ?? 0;
}

function hasTables(connection: DatabaseSync): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
}
