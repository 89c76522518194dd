/** The tables. */
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { StorageError } from '../storage.ts';

/** Marks a file as ours ("Mstl"), so that a wrong path does not write to another program's database. */
const APPLICATION_ID = 0x4d73746c;

const VERSION = 1;

const TABLES = `
  -- server: null in a direct conversation.
  CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    invocation TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    server TEXT,
    channel TEXT NOT NULL,
    person TEXT NOT NULL,
    route TEXT NOT NULL,
    open INTEGER NOT NULL,
    has_songs INTEGER NOT NULL,
    undelivered INTEGER NOT NULL,
    duration REAL,
    created_at REAL NOT NULL,
    finished_at REAL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX jobs_open ON jobs (id) WHERE open = 1;
  CREATE INDEX jobs_running ON jobs (platform, person, created_at, id) WHERE open = 1;
  CREATE INDEX jobs_songs ON jobs (platform, channel, created_at, id) WHERE has_songs = 1;
  CREATE INDEX jobs_server_songs ON jobs (platform, server, created_at, id) WHERE has_songs = 1;
  CREATE INDEX jobs_undelivered ON jobs (platform, person, created_at, id) WHERE undelivered = 1;
  CREATE INDEX jobs_durations ON jobs (route, finished_at, id) WHERE duration IS NOT NULL;
  CREATE INDEX jobs_person ON jobs (platform, person, id);
  CREATE INDEX jobs_ended ON jobs (coalesce(finished_at, created_at), id) WHERE open = 0;

  CREATE TABLE inbox (
    job TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    received_at REAL NOT NULL,
    digest BLOB NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (job, sequence),
    UNIQUE (job, digest)
  ) STRICT;
  CREATE INDEX inbox_received ON inbox (received_at);

  -- at: when the job runs next, null while it runs and is not scheduled again.
  CREATE TABLE schedule (
    job TEXT NOT NULL PRIMARY KEY,
    at REAL,
    running INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX schedule_due ON schedule (at) WHERE running = 0;

  -- held: 1 for a slot, 0 for a queue position.
  CREATE TABLE semaphores (
    queue TEXT NOT NULL,
    job TEXT NOT NULL,
    ticket INTEGER NOT NULL,
    held INTEGER NOT NULL,
    PRIMARY KEY (queue, job)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX semaphores_order ON semaphores (queue, held, ticket);
  CREATE INDEX semaphores_tickets ON semaphores (queue, ticket);

  -- state: open, settled, or uncertain where the gateway may not have charged.
  CREATE TABLE usage_entries (id TEXT NOT NULL PRIMARY KEY, at REAL NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_entries_times ON usage_entries (at);
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
    uncertain INTEGER NOT NULL,
    PRIMARY KEY (platform, guild, day, person, family)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_days_people ON usage_days (platform, person);
  CREATE INDEX usage_days_days ON usage_days (day);

  CREATE TABLE settings (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE secrets (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE checks (id INTEGER PRIMARY KEY CHECK (id = 1), checked_at REAL NOT NULL) STRICT;
`;

/** Creates the tables in an empty file. Throws StorageError `schema` for a file of another version or program. */
export function createTables(connection: DatabaseSync): void {
  const version = pragma(connection, 'user_version');
  const applicationId = pragma(connection, 'application_id');
  if (applicationId === APPLICATION_ID && version === VERSION) return;
  if (applicationId === APPLICATION_ID) {
    throw new StorageError(
      'schema',
      `The database file ${connection.location()} has version ${version}, but this Minstrel reads version ${VERSION}. Use the version of Minstrel that wrote it, or set DATA_DIR to an empty folder.`,
    );
  }
  if (applicationId !== 0 || version !== 0 || hasTables(connection)) {
    throw new StorageError(
      'schema',
      `The database file ${connection.location()} belongs to another program.`,
    );
  }
  // One transaction, so that a crash does not leave half of the tables.
  connection.exec(
    `BEGIN IMMEDIATE; ${TABLES} PRAGMA user_version = ${VERSION}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
  );
}

function pragma(connection: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return z.record(z.string(), z.number()).parse(connection.prepare(`PRAGMA ${name}`).get())[name] ?? 0;
}

function hasTables(connection: DatabaseSync): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
}
