import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/util/clock.ts';
import { musicCallbackRoutes, signCallback } from '../../src/http/music-callback.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { noRedis, PATIENT, type RedisServer, startRedisServer } from '../servers/redis.ts';
import { NOTHING_DECIDED } from '../settings/samples.ts';
import { createWorld, SONG, songCallback, type World } from './world.ts';

/** A hundred simultaneous callbacks at all replicas lead to one delivery. */
const SECRET = 'a secret for signatures in this test alone';
/** Longer than any test. */
const HANGING_MS = 600_000;
const DUPLICATES = 100;

interface Replica {
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly server: HttpServer;
}

let world: World;
let replicas: Replica[];

beforeEach(async () => {
  world = await createWorld();
  replicas = [];
});
afterEach(async () => {
  await stopReplicas();
  await world[Symbol.asyncDispose]();
});

async function stopReplicas(): Promise<void> {
  for (const { jobs, server, storage } of replicas.splice(0)) {
    await server.close();
    await jobs.stop();
    await storage.close();
  }
}

/** Jobs, storage and listener of a process. All processes share the platform and the gateway. */
async function startReplica(storage: Storage): Promise<void> {
  const jobs = createJobs({
    ...world.dependencies,
    storage,
    now: Date.now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        signal?.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  });
  const server = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: world.log,
    // The sender and the receiver of a hundred requests share this thread.
    timeouts: { headersMs: HANGING_MS, requestMs: HANGING_MS, idleMs: HANGING_MS },
    routes: [
      musicCallbackRoutes({ measure: () => {}, secrets: [SECRET], log: world.log, receive: jobs.receive }),
    ],
  });
  replicas.push({ storage, jobs, server });
  await jobs.run(world.dependencies.invoke);
}

async function deliverOnce(): Promise<void> {
  const [first] = replicas;
  if (!first) throw new TypeError('There is no replica');
  const outcome = await first.jobs.start(
    SONG,
    {
      id: 'event',
      command: 'song',
      options: {},
      address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
      person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
    },
    NOTHING_DECIDED,
  );
  if (outcome.type !== 'accepted') throw new TypeError('The work was not accepted');
  outcome.begin();
  const { job } = outcome;
  await expect.poll(async () => (await first.storage.jobs.read(job))?.state).toBe('waiting');

  const body = JSON.stringify(songCallback('complete'));
  const statuses = await Promise.all(
    Array.from({ length: DUPLICATES }, async (_, index) => {
      const { server } = replicas[index % replicas.length] ?? first;
      const path = `/callbacks/music/${job}/${signCallback(job, SECRET)}`;
      const response = await fetch(`${server.url}${path}`, { method: 'POST', body });
      await response.body?.cancel();
      return response.status;
    }),
  );
  expect(statuses).toContain(200);
  // On a busy machine, the listener may ask to retry some.
  expect(new Set([...statuses, 200, 503])).toEqual(new Set([200, 503]));
  await expect.poll(async () => (await first.storage.jobs.read(job))?.state).toBe('delivered');

  // Runs after everything the duplicates caused.
  for (const { jobs } of replicas) expect(await jobs.receive(job, `${body} `)).toBe('stored');
  const { inboxRead = 0 } = (await first.storage.jobs.read(job)) ?? {};
  await expect
    .poll(async () => (await first.storage.jobs.read(job))?.inboxRead)
    .toBeGreaterThanOrEqual(Math.max(inboxRead, 2));
  expect(world.platform.history.filter(({ progress }) => progress === undefined)).toHaveLength(1);
  expect(world.platform.shown.size).toBe(1);
  expect(world.gateway.taken).toHaveLength(1);
}

const tools = { clock: systemClock, random: Math.random };

it('a hundred simultaneous callbacks lead to one delivery on SQLite', async () => {
  await startReplica(await openSqliteStorage({ ...tools, path: ':memory:', log: world.log }));
  await deliverOnce();
});

describe.runIf(noRedis === undefined)(noRedis ?? 'two replicas on Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedisServer();
  });
  afterEach(async () => {
    await stopReplicas();
    await redis.dispose();
  });

  it('a hundred simultaneous callbacks lead to one delivery on Redis', async () => {
    for (let replica = 0; replica < 2; replica++)
      await startReplica(await openRedisStorage({ ...tools, ...PATIENT, url: redis.url, log: world.log }));
    await deliverOnce();
  });
});
