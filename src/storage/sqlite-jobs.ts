import { z } from 'zod';
import type { Address, Log } from '../command.ts';
import type { Job } from '../jobs/job.ts';
import { jobFacts, parseJob, parseJobs } from './job-record.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import type { JobStore } from './storage.ts';

const recordRow = z.object({ id: z.string(), record: z.string() });
const recordRows = z.array(recordRow);
const idRows = z.array(z.object({ id: z.string() }));
const durationRows = z.array(z.object({ duration: z.number() }));

/** Ids read at a time while walking all open jobs. */
const PAGE = 500;

export class SqliteJobs implements JobStore {
  readonly #database: SqliteDatabase;
  readonly #log: Log;
  readonly #statements;

  constructor(database: SqliteDatabase, log: Log) {
    this.#database = database;
    this.#log = log;
    this.#statements = {
      create: database.prepare(
        `INSERT INTO jobs (id, version, invocation, platform, channel, person, route, open, has_songs, unplaced,
           duration, created_at, finished_at, record)
         VALUES (:id, :version, :invocation, :platform, :channel, :person, :route, :open, :has_songs, :unplaced,
           :duration, :created_at, :finished_at, :record)
         ON CONFLICT DO NOTHING`,
      ),
      replace: database.prepare(
        `UPDATE jobs SET version = :version, invocation = :invocation, platform = :platform, channel = :channel,
           person = :person, route = :route, open = :open, has_songs = :has_songs, unplaced = :unplaced, duration = :duration,
           created_at = :created_at, finished_at = :finished_at, record = :record
         WHERE id = :id AND version = :version - 1`,
      ),
      read: database.prepare('SELECT id, record FROM jobs WHERE id = ?'),
      running: database.prepare(
        `SELECT id, record FROM jobs WHERE open = 1 AND platform = ? AND channel = ? AND person = ?
         ORDER BY created_at, id`,
      ),
      recentSongs: database.prepare(
        `SELECT id, record FROM jobs WHERE has_songs = 1 AND platform = ? AND channel = ?
         ORDER BY created_at DESC, id DESC LIMIT ?`,
      ),
      unplaced: database.prepare(
        `SELECT id, record FROM jobs WHERE unplaced = 1 AND platform = ? AND person = ?
         ORDER BY created_at DESC, id DESC LIMIT ?`,
      ),
      open: database.prepare('SELECT id FROM jobs WHERE open = 1 AND id > ? ORDER BY id LIMIT ?'),
      all: database.prepare('SELECT id, record FROM jobs WHERE id > ? ORDER BY id LIMIT ?'),
      eraseInbox: database.prepare('DELETE FROM inbox WHERE job = ?'),
      erasePlace: database.prepare('DELETE FROM places WHERE job = ?'),
      eraseWakeUp: database.prepare('DELETE FROM wake_ups WHERE job = ?'),
      erase: database.prepare('DELETE FROM jobs WHERE id = ?'),
      recentDurations: database.prepare(
        `SELECT duration FROM jobs WHERE duration IS NOT NULL AND route = ?
         ORDER BY finished_at DESC, id DESC LIMIT ?`,
      ),
    };
  }

  create(job: Job): Promise<boolean> {
    const row = jobRow(job);
    return this.#database.write(() => this.#statements.create.run(row).changes === 1);
  }

  async read(id: string): Promise<Job | undefined> {
    const row = this.#database.read(() => this.#statements.read.get(id));
    return row === undefined ? undefined : parseJob(id, recordRow.parse(row).record);
  }

  async replace(job: Job): Promise<Job | undefined> {
    const written: Job = { ...job, version: job.version + 1 };
    const row = jobRow(written);
    const won = await this.#database.write(() => this.#statements.replace.run(row).changes === 1);
    return won ? written : undefined;
  }

  async running(where: Pick<Address, 'platform' | 'channel'>, person: string): Promise<Job[]> {
    const rows = this.#database.read(() =>
      this.#statements.running.all(where.platform, where.channel, person),
    );
    return parseJobs(recordRows.parse(rows), this.#log);
  }

  async recentSongs(where: Pick<Address, 'platform' | 'channel'>, limit: number): Promise<Job[]> {
    const rows = this.#database.read(() =>
      this.#statements.recentSongs.all(where.platform, where.channel, limit),
    );
    return parseJobs(recordRows.parse(rows), this.#log);
  }

  async unplaced(platform: string, person: string, limit: number): Promise<Job[]> {
    const rows = this.#database.read(() => this.#statements.unplaced.all(platform, person, limit));
    return parseJobs(recordRows.parse(rows), this.#log);
  }

  async *open(): AsyncIterable<string> {
    let last = '';
    for (;;) {
      const page = idRows.parse(this.#database.read(() => this.#statements.open.all(last, PAGE)));
      for (const { id } of page) yield id;
      const end = page.at(-1);
      if (end === undefined || page.length < PAGE) return;
      last = end.id;
    }
  }

  async *all(): AsyncIterable<Job> {
    let last = '';
    for (;;) {
      const page = recordRows.parse(this.#database.read(() => this.#statements.all.all(last, PAGE)));
      yield* parseJobs(page, this.#log);
      const end = page.at(-1);
      if (end === undefined || page.length < PAGE) return;
      last = end.id;
    }
  }

  erase(id: string): Promise<void> {
    return this.#database.write(() => {
      this.#statements.eraseInbox.run(id);
      this.#statements.erasePlace.run(id);
      this.#statements.eraseWakeUp.run(id);
      this.#statements.erase.run(id);
    });
  }

  async recentDurations(route: string, limit: number): Promise<number[]> {
    const rows = this.#database.read(() => this.#statements.recentDurations.all(route, limit));
    return durationRows.parse(rows).map(({ duration }) => duration);
  }
}

function jobRow(job: Job) {
  const { open, hasSongs, unplaced, duration } = jobFacts(job);
  return {
    id: job.id,
    version: job.version,
    invocation: job.invocation,
    platform: job.address.platform,
    channel: job.address.channel,
    person: job.person.id,
    route: job.work.route,
    open: open ? 1 : 0,
    has_songs: hasSongs ? 1 : 0,
    unplaced: unplaced ? 1 : 0,
    duration: duration ?? null,
    created_at: job.createdAt,
    finished_at: job.finishedAt ?? null,
    record: JSON.stringify(job),
  };
}
