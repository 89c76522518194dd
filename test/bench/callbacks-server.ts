/** One candidate of P3: a listener that answers a callback once it is durable. It tells where it listens. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { createClient } from '@keyv/redis';
import { z } from 'zod';
import { readMusicCallback } from '../../src/gateway/music/callback.ts';
import { callbackUrl, musicCallbackRoutes } from '../../src/http/music-callback.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { acceptedJob } from '../../src/jobs/transitions.ts';
import { openRedisStorage } from '../../src/storage/redis/redis.ts';
import { systemClock } from '../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/sqlite.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { SONG } from '../jobs/world.ts';
import { PATIENT } from '../servers/redis.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { programInput, tell } from './program.ts';

const HOUR_MS = 3_600_000;
const SECRET = 'a secret of the bench';

const { candidate, folder, redisUrl, jobs } = programInput(
  z.object({
    candidate: z.enum(['sqlite', 'redis', 'bare sqlite', 'bare redis']),
    folder: z.string(),
    redisUrl: z.string(),
    jobs: z.int(),
  }),
);

const log = new RecordingLog();
const ids = Array.from({ length: jobs }, (_, index) => `job-${index}`);

async function listen(storage: Storage): Promise<string[]> {
  const now = systemClock.now();
  const person = { id: 'ada', displayName: 'Ada', moderator: false, roles: [] };
  const address = { platform: 'discord', guild: 'guild', channel: 'channel', person: person.id };
  const facts = { platform: 'discord', guild: 'guild', person: 'ada', displayName: 'Ada', family: 'song' };
  for (const id of ids) {
    const asked = { command: 'song', title: SONG.title, work: SONG.work, invocation: `discord:${id}` };
    const job = acceptedJob({ ...asked, id, address, person, createdAt: now });
    const reservation = { id, at: now, units: 0, counters: [], facts };
    await storage.accept({ job, ceilings: [], reservation, at: now + HOUR_MS, now });
  }
  const routes = musicCallbackRoutes({
    secrets: [SECRET],
    log,
    measure: () => {},
    receive: async (job, body) => {
      const { stage: kind } = readMusicCallback(body);
      const received = await storage.receive({ job, body, receivedAt: systemClock.now(), kind });
      return received === 'unknown-job' ? received : 'stored';
    },
  });
  const { url } = await createHttpServer({ host: '127.0.0.1', port: 0, log, routes: [routes] });
  return ids.map((id) => callbackUrl(url, id, SECRET));
}

/** Every body that came in one turn of the event loop is stored by one call of `store`, then answered. */
async function listenBarely(store: (bodies: readonly string[]) => Promise<void> | void): Promise<string[]> {
  let waiting: { readonly body: string; readonly answer: () => void }[] = [];
  const storeAll = async () => {
    const together = waiting;
    waiting = [];
    await store(together.map(({ body }) => body));
    for (const { answer } of together) answer();
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (waiting.push({ body, answer: () => response.end('{"received":true}') }) === 1) setImmediate(storeAll);
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await listening;
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  return ids.map((id) => `http://127.0.0.1:${port}/${id}`);
}

async function start(): Promise<string[]> {
  const tools = { clock: systemClock, random: Math.random, log };
  switch (candidate) {
    case 'sqlite':
      return listen(await openSqliteStorage({ ...tools, path: join(folder, 'product.sqlite') }));
    case 'redis':
      return listen(await openRedisStorage({ ...tools, ...PATIENT, url: redisUrl }));
    case 'bare sqlite': {
      const database = new DatabaseSync(join(folder, 'bare.sqlite'));
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE inbox (body TEXT)');
      const insert = database.prepare('INSERT INTO inbox VALUES (?)');
      return listenBarely((bodies) => {
        database.exec('BEGIN');
        for (const body of bodies) insert.run(body);
        database.exec('COMMIT');
      });
    }
    case 'bare redis': {
      const client = createClient({ url: redisUrl });
      await client.connect();
      return listenBarely(
        async (bodies) => void (await Promise.all(bodies.map((body) => client.rPush('inbox', body)))),
      );
    }
    default:
      return candidate satisfies never;
  }
}

tell({ urls: await start() });
