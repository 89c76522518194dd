/**
 * The second limits of P8: the durable writes of a song one after another, its limits, its place in line, its callbacks' own
 * records and its two runs, on plain SQLite and on BullMQ, and nothing else.
 */
import { hash, randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { DelayedError } from 'bullmq';
import type { RedisClient } from '../../src/storage/redis/connection.ts';
import { songCallback } from '../jobs/world.ts';
import { openBullmq } from './bullmq.ts';

const HOUR = 3_600_000;
/** What a song of a server counts for. */
const COUNTERS = 10;
const STAGES = ['text', 'first', 'complete'] as const;

interface Limit {
  /** Resolves when the whole song is stored. */
  one(): Promise<void>;
  close(): Promise<void>;
}

/** Each resolves once it is durable. */
interface Steps {
  /** The record, and the callbacks that came. */
  read(id: string): Promise<readonly string[]>;
  acquire(id: string): Promise<unknown>;
  write(id: string): Promise<unknown>;
  receive(id: string, body: string): Promise<unknown>;
  release(id: string): Promise<unknown>;
  settle(id: string): Promise<unknown>;
}

/** Up to the gateway's answer: written ahead, submitted, words. */
async function firstRun(id: string, { read, acquire, write }: Steps): Promise<void> {
  for (const text of await read(id)) JSON.parse(text);
  await acquire(id);
  for (let written = 0; written < 3; written += 1) await write(id);
}

async function callBack(id: string, { receive }: Steps): Promise<void> {
  for (const stage of STAGES) await receive(id, JSON.stringify(songCallback(stage, id)));
}

async function lastRun(id: string, { read, release, settle, write }: Steps): Promise<void> {
  for (const text of await read(id)) JSON.parse(text);
  await release(id);
  await settle(id);
  await write(id);
}

export function plainSqlite(path: string, recordBytes: number): Limit {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE jobs (id TEXT PRIMARY KEY, record TEXT);
    CREATE TABLE inbox (job TEXT, digest BLOB, body TEXT, PRIMARY KEY (job, digest)) WITHOUT ROWID;
    CREATE TABLE timers (job TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
    CREATE INDEX timers_due ON timers (at);
    CREATE TABLE counts (counter INTEGER, at REAL, id TEXT, PRIMARY KEY (counter, at, id)) WITHOUT ROWID;
    CREATE TABLE slots (job TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE days (day INTEGER PRIMARY KEY, requests INTEGER)`);
  const prepare = (sql: string) => database.prepare(sql);
  const insert = prepare('INSERT INTO jobs VALUES (?, ?)');
  const count = prepare('INSERT INTO counts VALUES (?, ?, ?)');
  const wake = prepare(
    'INSERT INTO timers VALUES (?, ?) ON CONFLICT DO UPDATE SET at = min(at, excluded.at)',
  );
  const moveTimer = prepare('UPDATE timers SET at = ? WHERE job = ?');
  const removeTimer = prepare('DELETE FROM timers WHERE job = ?');
  const known = prepare('SELECT 1 FROM jobs WHERE id = ?');
  const readRecord = prepare('SELECT record FROM jobs WHERE id = ?');
  const readInbox = prepare('SELECT body AS record FROM inbox WHERE job = ?');
  const update = prepare('UPDATE jobs SET record = ? WHERE id = ?');
  const put = prepare('INSERT INTO inbox VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const hold = prepare('INSERT INTO slots VALUES (?)');
  const free = prepare('DELETE FROM slots WHERE job = ?');
  const addToDay = prepare(
    'INSERT INTO days VALUES (1, 1) ON CONFLICT DO UPDATE SET requests = requests + 1',
  );
  let changes: (() => unknown)[] = [];
  let commit: Promise<void> | undefined;
  /** What came in one turn of the event loop shares one commit. */
  const store = (change: () => unknown): Promise<void> => {
    changes.push(change);
    commit ??= turn().then(() => {
      const together = changes;
      changes = [];
      commit = undefined;
      database.exec('BEGIN');
      for (const each of together) each();
      database.exec('COMMIT');
    });
    return commit;
  };
  const record = () => JSON.stringify({ record: 'x'.repeat(recordBytes) });
  const steps: Steps = {
    read: async (id) => [...readRecord.all(id), ...readInbox.all(id)].map((row) => String(row.record)),
    acquire: (id) => store(() => hold.run(id)),
    write: (id) => store(() => update.run(record(), id)),
    receive: (id, body) =>
      store(() => {
        if (known.get(id)) put.run(id, hash('sha256', body, 'buffer'), body);
        wake.run(id, Date.now());
      }),
    release: (id) => store(() => free.run(id)),
    settle: () => store(() => addToDay.run()),
  };
  return {
    async one() {
      const id = randomUUID();
      await store(() => {
        for (let counter = 0; counter < COUNTERS; counter += 1) count.run(counter, Date.now(), id);
        insert.run(id, record());
        wake.run(id, Date.now() + HOUR);
      });
      await store(() => wake.run(id, Date.now()));
      await store(() => moveTimer.run(null, id));
      await firstRun(id, steps);
      await store(() => moveTimer.run(Date.now() + HOUR, id));
      await callBack(id, steps);
      await store(() => moveTimer.run(null, id));
      await lastRun(id, steps);
      await store(() => removeTimer.run(id));
    },
    close: async () => database.close(),
  };
}

const ACCEPT = `
for counter = 1, ${COUNTERS} do redis.call('ZADD', 'limit:count:' .. counter, ARGV[2], ARGV[3]) end
redis.call('HSET', KEYS[1], 'record', ARGV[1])
`;
const RECEIVE = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('SADD', KEYS[2], ARGV[1]) == 1 then redis.call('RPUSH', KEYS[3], ARGV[2]) end
`;

/** BullMQ keeps the timer; the record, the limits and the callbacks are stored beside it, as BullMQ has none of them. */
export async function bullmqKept(url: string, recordBytes: number): Promise<Limit> {
  const record = () => JSON.stringify({ record: 'x'.repeat(recordBytes) });
  const called = new Set<string>();
  const jobs = await openBullmq('limit', url, async (client) => {
    const steps = await stepsOn(client, record);
    return async (job, token) => {
      const { id = '' } = job;
      if (called.delete(id)) return lastRun(id, steps);
      await firstRun(id, steps);
      await job.moveToDelayed(Date.now() + HOUR, token);
      called.add(id);
      setImmediate(() => void callBack(id, steps).then(() => job.promote()));
      throw new DelayedError();
    };
  });
  const { client, queue, close } = jobs;
  const accept = await client.scriptLoad(ACCEPT);
  return {
    one: () =>
      jobs.one(async (jobId) => {
        const job = await queue.add('song', {}, { jobId, delay: HOUR });
        const values = [record(), String(Date.now()), jobId];
        await client.evalSha(accept, { keys: [`limit:${jobId}`], arguments: values });
        await job.promote();
      }),
    close,
  };
}

async function stepsOn(client: RedisClient, record: () => string): Promise<Steps> {
  const receive = await client.scriptLoad(RECEIVE);
  return {
    async read(id) {
      const [text, bodies] = await Promise.all([
        client.hGet(`limit:${id}`, 'record'),
        client.lRange(`limit:inbox:${id}`, 0, -1),
      ]);
      return [text ?? '', ...bodies];
    },
    acquire: (id) => client.zAdd('limit:slots', { score: Date.now(), value: id }),
    write: (id) => client.hSet(`limit:${id}`, 'record', record()),
    receive: (id, body) =>
      client.evalSha(receive, {
        keys: [`limit:${id}`, `limit:seen:${id}`, `limit:inbox:${id}`],
        arguments: [hash('sha256', body, 'base64'), body],
      }),
    release: (id) => client.zRem('limit:slots', id),
    settle: () => client.hIncrBy('limit:day', 'requests', 1),
  };
}
