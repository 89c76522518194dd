import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/core/util/clock.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { SqliteDatabase } from '../../src/storage/sqlite/database.ts';
import { sqliteStorage } from '../../src/storage/sqlite/open.ts';
import { createTables } from '../../src/storage/sqlite/schema.ts';
import { INBOX_KEPT } from '../../src/storage/storage.ts';
import { startMinstrel } from '../end-to-end/minstrel.ts';
import { connectRedis, noRedis, PATIENT, startRedisServer } from '../servers/redis.ts';
import { oneSong, songJob } from './jobs.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLog } from './recording-log.ts';

/** The cost of starting and completing songs does not grow with the number of ended jobs. */
const SONGS_SEARCHED = 100;
const tools = { random: Math.random, log: new RecordingLog() };

/** A job that has just ended, with three callbacks. */
const finished = (n: number, at: number) =>
  songJob({
    id: n.toString(16).padStart(20, '0'),
    state: 'delivered',
    end: 'delivered',
    result: oneSong(`Song ${n}`),
    createdAt: at,
    finishedAt: at,
  });

class ListedDatabase extends SqliteDatabase {
  static readonly queries: string[] = [];
  override prepare(sql: string): StatementSync {
    ListedDatabase.queries.push(sql);
    return super.prepare(sql);
  }
}

describe('on SQLite', () => {
  it('every query uses an index', async () => {
    await sqliteStorage(new ListedDatabase(':memory:'), { ...tools, clock: systemClock }).close();
    const database = new DatabaseSync(':memory:');
    createTables(database);
    const scans = ListedDatabase.queries.flatMap((sql) =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => z.object({ detail: z.string() }).parse(row).detail)
        .filter((detail) => /^SCAN (?!\(subquery|json_each)/.test(detail))
        .map((detail) => `${detail}: ${sql.replace(/\s+/g, ' ')}`),
    );
    database.close();
    const smallTables = /^SCAN (schedule|settings|secrets|semaphores|jobs USING INDEX jobs_open)\b/;
    expect(scans.filter((scan) => !smallTables.test(scan))).toEqual([]);
  });

  it('callbacks are deleted 30 days after their job ended', async () => {
    const clock = new ManualClock();
    const storage = sqliteStorage(new SqliteDatabase(':memory:'), { ...tools, clock });
    await storage.jobs.create(finished(1, clock.now()));
    await storage.jobs.create({ ...finished(2, clock.now()), state: 'waiting' });
    for (const n of [1, 2])
      await storage.receive({ job: finished(n, 0).id, body: 'callback', receivedAt: clock.now() });
    const kept = async (n: number) => (await storage.inbox.read(finished(n, 0).id, 0)).length;
    clock.advance(INBOX_KEPT - 1);
    await expect.poll(() => kept(1)).toBe(1);
    clock.advance(2 * 24 * 3_600_000);
    await expect.poll(() => kept(1)).toBe(0);
    expect(await kept(2)).toBe(1);
    await storage.close();
  });
});

describe.runIf(noRedis === undefined)(`on Redis${noRedis === undefined ? '' : `: ${noRedis}`}`, () => {
  it('a start and a completion read as much with 2,000 ended jobs as with 120', async () => {
    await using server = { ...(await startRedisServer()), [Symbol.asyncDispose]: () => server.dispose() };
    const administration = await connectRedis(server.url);
    await administration.configSet('appendfsync', 'no');
    const open = () => openRedisStorage({ ...tools, ...PATIENT, url: server.url, clock: systemClock });
    const read = async (work: () => Promise<void>): Promise<Record<string, number>> => {
      await administration.configResetStat();
      await work();
      const text = await administration.info('commandstats');
      const calls = [...text.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)];
      const reads = /^(scan|m?get|h(m|get)?get(all)?|lrange|z(rev)?range|smembers|zscore)/;
      return Object.fromEntries(
        calls.flatMap(([, name = '', count]) => (reads.test(name) ? [[name, Number(count)]] : [])),
      );
    };
    const measured = async (from: number, to: number) => {
      const storage = await open();
      for (let n = from; n < to; n++) await storage.jobs.create(finished(n, Date.now()));
      const completion = await read(
        async () =>
          void (await storage.jobs.recentSongs({ platform: 'discord', channel: 'channel' }, SONGS_SEARCHED)),
      );
      await storage.close();
      const start = await read(async () => {
        await using running = await startMinstrel({ REDIS_URL: server.url });
        await running.minstrel.stop();
      });
      return { completion, start };
    };
    const few = await measured(0, 120);
    const many = await measured(120, 2_000);
    expect(many.completion).toEqual(few.completion);
    const sum = (counts: Record<string, number>) =>
      Object.entries(counts).reduce((total, [name, count]) => (name === 'scan' ? total : total + count), 0);
    expect(sum(many.start)).toBeLessThan(1.5 * sum(few.start));
    // Keys are scanned a thousand at a time: five full scans of 4,000 keys.
    expect(many.start.scan).toBeLessThan(30);
    administration.destroy();
  });
});
