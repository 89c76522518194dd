/** Records of jobs. */
import type { StatementSync } from 'node:sqlite';
import { z } from 'zod';
import { serverOf } from '../../core/invocation.ts';
import type { Job } from '../../core/job.ts';
import type { Log } from '../../core/telemetry/log.ts';
import { jobFacts, parseJob, parseJobs } from '../job-record.ts';
import type { JobStore, JobText } from '../storage.ts';
import { paged, type SqliteDatabase } from './database.ts';

const recordRow = z.object({ id: z.string(), record: z.string() });
const idRow = z.object({ id: z.string() });
const durationRow = z.object({ duration: z.number() });

const openCountRow = z.object({
  route: z.string(),
  state: z.string(),
  count: z.number(),
  queued: z.number(),
  oldestAt: z.number(),
});
const endedRow = recordRow.extend({ at: z.number() });

/** Ids and records per page: large enough to be fast, small enough to take only milliseconds. */
const PAGE = 500;
const PAGE_OF_RECORDS = 50;
/** Recent deliveries of a route that are searched for those of a model. */
const DELIVERIES = 500;
/** The expression of the index `jobs_ended`. */
const ENDED = 'coalesce(finished_at, created_at)';

export interface SqliteJobs extends JobStore {
  /** {@link JobStore.create} within a transaction. */
  insert(job: Job): boolean;
  /** Within a transaction: the id of the stored job that would make {@link insert} return false. */
  known(job: Job): string | undefined;
}

export function sqliteJobs(database: SqliteDatabase, log: Log): SqliteJobs {
  const statements = database.prepareAll({
    create: `INSERT INTO jobs (id, version, invocation, platform, server, channel, person, route, open, has_songs,
         undelivered, duration, created_at, finished_at, record)
       VALUES (:id, :version, :invocation, :platform, :server, :channel, :person, :route, :open, :has_songs,
         :undelivered, :duration, :created_at, :finished_at, :record)
       ON CONFLICT DO NOTHING`,
    // Most writes change only the record, so no index has to be updated.
    replaceRecord: `UPDATE jobs SET version = :version, record = :record
       WHERE id = :id AND version = :version - 1 AND invocation = :invocation AND platform = :platform AND server IS :server
         AND channel = :channel AND person = :person AND route = :route AND open = :open AND has_songs = :has_songs
         AND undelivered = :undelivered AND duration IS :duration AND created_at = :created_at AND finished_at IS :finished_at`,
    replace: `UPDATE jobs SET version = :version, invocation = :invocation, platform = :platform, server = :server,
         channel = :channel, person = :person, route = :route, open = :open, has_songs = :has_songs, undelivered = :undelivered, duration = :duration,
         created_at = :created_at, finished_at = :finished_at, record = :record
       WHERE id = :id AND version = :version - 1`,
    known: 'SELECT id FROM jobs WHERE id = ?1 OR invocation = ?2 ORDER BY invocation = ?2 DESC LIMIT 1',
    read: 'SELECT id, record FROM jobs WHERE id = ?',
    ofInvocation: 'SELECT id, record FROM jobs WHERE invocation = ?',
    running: `SELECT id, record FROM jobs WHERE open = 1 AND platform = ?1 AND person = ?2
         AND channel = coalesce(?3, channel) ORDER BY created_at, id`,
    recentSongs: `SELECT id, record FROM jobs WHERE has_songs = 1 AND platform = ? AND channel = ?
       ORDER BY created_at DESC, id DESC LIMIT ?`,
    recentServerSongs: `SELECT id, record FROM jobs WHERE has_songs = 1 AND platform = ? AND server = ?
       ORDER BY created_at DESC, id DESC LIMIT ?`,
    undelivered: `SELECT id, record FROM jobs WHERE undelivered = 1 AND platform = ? AND person = ?
       ORDER BY created_at DESC, id DESC LIMIT ?`,
    open: 'SELECT id FROM jobs WHERE open = 1 AND id > ? ORDER BY id LIMIT ?',
    openCounts: `SELECT route, record ->> '$.state' AS state, count(*) AS count, count(record ->> '$.queuePosition') AS queued,
         min(created_at) AS oldestAt FROM jobs WHERE open = 1 GROUP BY 1, 2`,
    all: 'SELECT id, record FROM jobs WHERE id > ? ORDER BY id LIMIT ?',
    ofPerson: 'SELECT id, record FROM jobs WHERE platform = ? AND person = ? AND id > ? ORDER BY id LIMIT ?',
    ended: `SELECT id, record, ${ENDED} AS at FROM jobs
       WHERE open = 0 AND (${ENDED}, id) > (?1, ?2) AND ${ENDED} < ?3 ORDER BY ${ENDED}, id LIMIT ?4`,
    eraseInbox: 'DELETE FROM inbox WHERE job = ?',
    eraseSlot: 'DELETE FROM semaphores WHERE job = ?',
    eraseScheduled: 'DELETE FROM schedule WHERE job = ?',
    erase: 'DELETE FROM jobs WHERE id = ?1 AND (?2 IS NULL OR version = ?2)',
    recentDurations: `SELECT duration FROM (
         SELECT duration, CASE WHEN ?2 IS NULL THEN 1 ELSE record ->> '$.work.request.model' = ?2 END AS alike,
           finished_at, id FROM jobs WHERE duration IS NOT NULL AND route = ?1
         ORDER BY finished_at DESC, id DESC LIMIT ${DELIVERIES})
       WHERE alike ORDER BY finished_at DESC, id DESC LIMIT ?3`,
  });

  const records = (query: StatementSync, ...values: string[]) =>
    paged<JobText>((last) => database.all(query, recordRow, ...values, last?.id ?? '', PAGE_OF_RECORDS));

  async function* parsed(rows: AsyncIterable<JobText>): AsyncGenerator<Job> {
    for await (const row of rows) yield* parseJobs([row], log);
  }

  const insert = (job: Job) => statements.create.run(jobRow(job)).changes === 1;
  return {
    insert,
    known: ({ id, invocation }) => database.get(statements.known, idRow, id, invocation)?.id,
    create: (job) => database.write(() => insert(job)),
    async read(id) {
      const row = database.get(statements.read, recordRow, id);
      return row && parseJob(id, row.record);
    },
    async ofInvocation(invocation) {
      const row = database.get(statements.ofInvocation, recordRow, invocation);
      return row && parseJob(row.id, row.record);
    },
    async replace(job) {
      const written: Job = { ...job, version: job.version + 1 };
      const row = jobRow(written);
      const won = await database.write(
        () => statements.replaceRecord.run(row).changes === 1 || statements.replace.run(row).changes === 1,
      );
      return won ? written : undefined;
    },
    running: async ({ platform, channel }, person) =>
      parseJobs(database.all(statements.running, recordRow, platform, person, channel ?? null), log),
    recentSongs: async ({ platform, channel }, limit) =>
      parseJobs(database.all(statements.recentSongs, recordRow, platform, channel, limit), log),
    recentServerSongs: async ({ platform, guild }, limit) =>
      parseJobs(database.all(statements.recentServerSongs, recordRow, platform, guild, limit), log),
    undelivered: async (platform, person, limit) =>
      parseJobs(database.all(statements.undelivered, recordRow, platform, person, limit), log),
    async *open() {
      const page = (last = '') => database.all(statements.open, idRow, last, PAGE);
      for await (const { id } of paged<z.infer<typeof idRow>>((last) => page(last?.id))) yield id;
    },
    openCounts: async () => database.all(statements.openCounts, openCountRow),
    all: () => parsed(records(statements.all)),
    ofPerson: (platform, person) => parsed(records(statements.ofPerson, platform, person)),
    endedBefore: (at) =>
      parsed(
        paged<z.infer<typeof endedRow>>((last) =>
          database.all(
            statements.ended,
            endedRow,
            last?.at ?? Number.MIN_SAFE_INTEGER,
            last?.id ?? '',
            at,
            PAGE_OF_RECORDS,
          ),
        ),
      ),
    records: () => records(statements.all),
    erase: (id, version) =>
      database.write(() => {
        const { changes } = statements.erase.run(id, version ?? null);
        if (changes === 0 && version !== undefined) return false;
        statements.eraseInbox.run(id);
        statements.eraseSlot.run(id);
        statements.eraseScheduled.run(id);
        return true;
      }),
    recentDurations: async ({ route, model = null }, limit) =>
      database
        .all(statements.recentDurations, durationRow, route, model, limit)
        .map(({ duration }) => duration),
  };
}

function jobRow(job: Job) {
  const { open, hasSongs, undelivered, duration } = jobFacts(job);
  return {
    id: job.id,
    version: job.version,
    invocation: job.invocation,
    platform: job.address.platform,
    server: serverOf(job.address) ?? null,
    channel: job.address.channel,
    person: job.person.id,
    route: job.work.route,
    open: open ? 1 : 0,
    has_songs: hasSongs ? 1 : 0,
    undelivered: undelivered ? 1 : 0,
    duration: duration ?? null,
    created_at: job.createdAt,
    finished_at: job.finishedAt ?? null,
    record: JSON.stringify(job),
  };
}
