/** One candidate of P3: a listener that answers a callback once it is durable. It tells where it listens. */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { createClient } from '@keyv/redis';
import { Queue } from 'bullmq';
import { z } from 'zod';
import { createLog } from '../../src/app/telemetry/log.ts';
import { isSignedBy, sign } from '../../src/core/http.ts';
import { callbackUrl, musicCallbackRoutes } from '../../src/http/music-callback.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { acceptedJob } from '../../src/jobs/transitions.ts';
import type { RedisClient } from '../../src/storage/redis/connection.ts';
import { openRedisStorage } from '../../src/storage/redis/redis.ts';
import { systemClock } from '../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/sqlite.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { SONG } from '../jobs/world.ts';
import { PATIENT } from '../servers/redis.ts';
import { programInput, tell } from './program.ts';

const HOUR_MS = 3_600_000;
const SECRET = 'a secret of the bench';

const { candidate, folder, redisUrl, jobs } = programInput(
  z.object({
    candidate: z.enum([
      'sqlite',
      'redis',
      'bare sqlite',
      'bare redis',
      'checked sqlite',
      'checked redis',
      'served sqlite',
      'served redis',
      'timed redis',
    ]),
    folder: z.string(),
    redisUrl: z.string(),
    jobs: z.int(),
  }),
);

/** As it is unless an operator asks for more. */
const log = createLog({ level: 'info', write: (line) => void process.stderr.write(line), secrets: [SECRET] });
const ids = Array.from({ length: jobs }, (_, index) => `job-${index}`);

async function listen(storage: Storage): Promise<string[]> {
  const now = systemClock.now();
  const person = { id: 'ada', displayName: 'Ada', moderator: false, roles: [] };
  const address = { platform: 'discord', guild: 'guild', channel: 'channel', person: person.id };
  const facts = { platform: 'discord', guild: 'guild', person: 'ada', displayName: 'Ada', family: 'song' };
  const accept = (id: string) => {
    const asked = { command: 'song', title: SONG.title, work: SONG.work, invocation: `discord:${id}` };
    const job = acceptedJob({ ...asked, id, address, person, createdAt: now });
    const reservation = { id, at: now, units: 0, counters: [], facts };
    return storage.accept({ job, ceilings: [], reservation, at: now + HOUR_MS, now });
  };
  await Promise.all(ids.map(accept));
  const routes = musicCallbackRoutes({
    secrets: [SECRET],
    log,
    measure: () => {},
    receive: async (job, body) => {
      const received = await storage.receive({ job, body, receivedAt: systemClock.now() });
      return received === 'unknown-job' ? received : 'stored';
    },
  });
  const { url } = await createHttpServer({ host: '127.0.0.1', port: 0, log, routes: [routes] });
  return ids.map((id) => callbackUrl(url, id, SECRET));
}

interface BareCallback {
  readonly job: string;
  readonly body: string;
}

/** What it returns is waited for: then all of them are durable. */
type Store = (callbacks: readonly BareCallback[]) => unknown;

/** What came in one turn of the event loop is stored by one call of `store`. */
function together(store: Store): (callback: BareCallback) => Promise<void> {
  let waiting: (BareCallback & { readonly resolve: () => void })[] = [];
  const storeAll = async () => {
    const came = waiting;
    waiting = [];
    await store(came);
    for (const { resolve } of came) resolve();
  };
  return (callback) =>
    new Promise((resolve) => {
      if (waiting.push({ ...callback, resolve }) === 1) setImmediate(storeAll);
    });
}

interface BareOptions {
  /** Whether a callback proves itself. */
  readonly isChecked: boolean;
  readonly store: Store;
}

async function listenBarely({ isChecked, store }: BareOptions): Promise<string[]> {
  const receive = together(store);
  const server = createServer(async (request, response) => {
    const [, job = '', signature = ''] = request.url?.split('/') ?? [];
    if (isChecked && !isSignedBy(job, signature, [SECRET])) {
      response.writeHead(404).end();
      return;
    }
    await receive({ job, body: await text(request) });
    response.end('{"received":true}');
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await listening;
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  return ids.map((id) => `http://127.0.0.1:${port}/${id}/${sign(id, SECRET)}`);
}

/** Behind the bot's own listener. */
async function listenServed(store: Store): Promise<string[]> {
  const received = together(store);
  const routes = musicCallbackRoutes({
    secrets: [SECRET],
    log,
    measure: () => {},
    receive: async (job, body) => {
      await received({ job, body });
      return 'stored';
    },
  });
  const { url } = await createHttpServer({ host: '127.0.0.1', port: 0, log, routes: [routes] });
  return ids.map((id) => callbackUrl(url, id, SECRET));
}

/** Opens a database of its own, and stores what came together by one commit. */
function bareSqlite(tables: string, prepare: (database: DatabaseSync) => (callback: BareCallback) => void) {
  const database = new DatabaseSync(join(folder, 'bare.sqlite'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${tables}`);
  const storeOne = prepare(database);
  return (callbacks: readonly BareCallback[]) => {
    database.exec('BEGIN');
    for (const callback of callbacks) storeOne(callback);
    database.exec('COMMIT');
  };
}

const CHECKED_TABLES = `
  CREATE TABLE jobs (id TEXT PRIMARY KEY);
  CREATE TABLE inbox (job TEXT, digest BLOB, body TEXT, PRIMARY KEY (job, digest)) WITHOUT ROWID;
  CREATE TABLE timers (job TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
  CREATE INDEX timers_due ON timers (at)`;

/** Finds the job, keeps the callback once, and moves the timer. */
function checkedSqlite(database: DatabaseSync): (callback: BareCallback) => void {
  database.prepare('INSERT INTO jobs SELECT value FROM json_each(?)').run(JSON.stringify(ids));
  const known = database.prepare('SELECT 1 FROM jobs WHERE id = ?');
  const keep = database.prepare('INSERT INTO inbox VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const wake = database.prepare(
    'INSERT INTO timers VALUES (?, ?) ON CONFLICT DO UPDATE SET at = min(at, excluded.at)',
  );
  return ({ job, body }) => {
    if (!known.get(job)) return;
    keep.run(job, hash('sha256', body, 'buffer'), body);
    wake.run(job, Date.now());
  };
}

/** As {@link checkedSqlite}. */
const CHECKED_REDIS = `
if redis.call('EXISTS', KEYS[1]) == 0 then return end
if redis.call('SADD', KEYS[2], ARGV[1]) == 1 then redis.call('RPUSH', KEYS[3], ARGV[2]) end
redis.call('ZADD', 'bare:timers', 'LT', ARGV[3], KEYS[1])
`;

async function checkedRedis(client: RedisClient) {
  const script = await client.scriptLoad(CHECKED_REDIS);
  await Promise.all(ids.map((id) => client.set(`bare:${id}`, '')));
  return ({ job, body }: BareCallback) =>
    client.evalSha(script, {
      keys: [`bare:${job}`, `bare:seen:${job}`, `bare:inbox:${job}`],
      arguments: [hash('sha256', body, 'base64'), body, String(Date.now())],
    });
}

/** As {@link CHECKED_REDIS}, with timers where BullMQ keeps them. */
const TIMED_REDIS = `
if not redis.call('HGET', KEYS[1], 'open') then return end
if redis.call('SADD', KEYS[2], ARGV[1]) == 1 then redis.call('RPUSH', KEYS[3], ARGV[2]) end
local timer = redis.call('GET', KEYS[4])
if tonumber(ARGV[3]) < tonumber(redis.call('ZSCORE', KEYS[5], timer)) then
  redis.call('ZADD', KEYS[5], ARGV[3], timer)
end
`;

/** An entry tells its stage and time, so that it can be displaced, and read in order. */
async function timedRedis(client: RedisClient) {
  const script = await client.scriptLoad(TIMED_REDIS);
  const queue = new Queue('timers', { connection: client });
  const prepare = async (id: string) => {
    await queue.add('timer', {}, { delay: HOUR_MS, deduplication: { id } });
    await client.hSet(`bare:${id}`, 'open', '1');
  };
  await Promise.all(ids.map(prepare));
  return ({ job, body }: BareCallback) => {
    const receivedAt = Date.now();
    const digest = hash('sha256', body, 'base64');
    const entry = JSON.stringify({ digest, receivedAt, body });
    const timer = queue.toKey(`de:${job}`);
    return client.evalSha(script, {
      keys: [`bare:${job}`, `bare:seen:${job}`, `bare:inbox:${job}`, timer, queue.toKey('delayed')],
      // BullMQ multiplies times, to keep the order of those of one millisecond.
      arguments: [digest, entry, String(4096 * receivedAt)],
    });
  };
}

/** Stores what came together by commands that are sent together. */
async function onRedis(
  prepare: (client: RedisClient) => Promise<(callback: BareCallback) => Promise<unknown>>,
): Promise<Store> {
  const client: RedisClient = createClient({ url: redisUrl });
  await client.connect();
  const storeOne = await prepare(client);
  return (callbacks) => Promise.all(callbacks.map(storeOne));
}

const bareRedis = async (client: RedisClient) => (callback: BareCallback) =>
  client.rPush('inbox', callback.body);

async function start(): Promise<string[]> {
  const tools = { clock: systemClock, random: Math.random, log };
  switch (candidate) {
    case 'sqlite':
      return listen(await openSqliteStorage({ ...tools, path: join(folder, 'product.sqlite') }));
    case 'redis':
      return listen(await openRedisStorage({ ...tools, ...PATIENT, url: redisUrl }));
    case 'bare sqlite': {
      const store = bareSqlite('CREATE TABLE inbox (body TEXT)', (database) => {
        const insert = database.prepare('INSERT INTO inbox VALUES (?)');
        return ({ body }) => insert.run(body);
      });
      return listenBarely({ isChecked: false, store });
    }
    case 'checked sqlite':
      return listenBarely({ isChecked: true, store: bareSqlite(CHECKED_TABLES, checkedSqlite) });
    case 'served sqlite':
      return listenServed(bareSqlite(CHECKED_TABLES, checkedSqlite));
    case 'bare redis':
      return listenBarely({ isChecked: false, store: await onRedis(bareRedis) });
    case 'checked redis':
      return listenBarely({ isChecked: true, store: await onRedis(checkedRedis) });
    case 'served redis':
      return listenServed(await onRedis(checkedRedis));
    case 'timed redis':
      return listenServed(await onRedis(timedRedis));
    default:
      return candidate satisfies never;
  }
}

tell({ urls: await start() });
