/** Tells what one job more costs a storage that holds few and many of them: CPU of this process and of Redis. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { openRedisStorage } from '../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/sqlite.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { connectRedis, PATIENT, startRedisServer } from '../../servers/redis.ts';
import { oneSong, songJob } from '../../storage/jobs.ts';
import { RecordingLog } from '../../storage/recording-log.ts';
import { cpuSeconds } from '../measure.ts';
import { programInput, tell } from '../program.ts';

const { store, curve, sizes, rounds } = programInput(
  z.object({
    store: z.enum(['SQLite', 'Redis']),
    curve: z.enum(['jobs waiting', 'jobs done', 'callbacks']),
    sizes: z.array(z.int().positive()),
    rounds: z.int().positive(),
  }),
);
const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
const HOUR = 3_600_000;
const CHANNELS = 100;
const AT_ONCE = 250;
/** Replaces the number of a job in what is copied. */
const NUMBER = 'numbered';

const channelOf = (index: number | string) => `channel${index}`;

async function accept(storage: Storage, id: string, channel: string) {
  const now = Date.now();
  const address = { platform: 'discord', guild: 'guild', channel, person: 'ada' };
  const job = songJob({ id, invocation: `invocation of ${id}`, address, createdAt: now });
  const facts = { platform: 'discord', guild: 'guild', person: 'ada', displayName: 'Ada', family: 'song' };
  const reservation = { id, at: now, units: 1, counters: [], facts };
  await storage.accept({ job, reservation, ceilings: [], at: now + HOUR, now });
  return job;
}

async function wait(storage: Storage, id: string, channel: string) {
  const job = await accept(storage, id, channel);
  const waiting = { ...job, state: 'waiting' as const, taskId: `task of ${id}`, submittedAt: Date.now() };
  return (await storage.jobs.replace(waiting)) ?? waiting;
}

const callBack = (storage: Storage, job: string, body: string) =>
  storage.receive({ job, body: `{"of":"${job}","is":"${body}"}`, receivedAt: Date.now() });

/** As many of them are in the storage; `channel`: where people ask again. */
const ONE_MORE: Record<typeof curve, (storage: Storage, id: string, channel: string) => Promise<void>> = {
  async 'jobs waiting'(storage, id, channel) {
    await wait(storage, id, channel);
    await callBack(storage, id, 'complete');
    await storage.jobs.running({ platform: 'discord', channel }, 'bob');
    await storage.schedule.add(id, Date.now() + HOUR / 2);
  },
  async 'jobs done'(storage, id, channel) {
    const job = await wait(storage, id, channel);
    const finishedAt = Date.now();
    await storage.jobs.replace({ ...job, state: 'delivered', result: oneSong('Rain'), finishedAt });
    await storage.jobs.recentSongs({ platform: 'discord', channel }, 25);
    await storage.jobs.recentDurations({ route: 'music.generate', model: 'V5' }, 20);
  },
  async callbacks(storage, id) {
    await wait(storage, id, channelOf(0));
    for (const stage of ['text', 'first', 'complete']) await callBack(storage, id, stage);
    await storage.inbox.read(id, 0);
  },
};

async function fill(storage: Storage, ids: readonly string[]): Promise<void> {
  for (let first = 0; first < ids.length; first += AT_ONCE)
    await Promise.all(
      ids
        .slice(first, first + AT_ONCE)
        .map((id, index) => ONE_MORE[curve](storage, id, channelOf(index % CHANNELS))),
    );
}

/** Copies everything that the file holds of one job: a million by way of the storage would take longer than the measurement. */
function multiply(path: string, from: number, to: number): void {
  using database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; BEGIN');
  const named = z.object({ name: z.string() });
  const tables = database.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const table of tables.all().map((row) => named.parse(row).name)) {
    const columns = database
      .prepare(`SELECT name, type, pk FROM pragma_table_info('${table}')`)
      .all()
      .map((row) => z.object({ name: z.string(), type: z.string(), pk: z.int() }).parse(row))
      // A number that only counts rows is given anew.
      .filter(({ type, pk }) => !(pk === 1 && type === 'INTEGER'));
    const texts = columns.filter(({ type }) => type === 'TEXT');
    if (texts.length === 0) continue;
    const holds = texts.map(({ name }) => `"${name}" LIKE '%${NUMBER}%'`).join(' OR ');
    const values = columns.map(({ name, type }) =>
      type === 'TEXT'
        ? `replace(replace("${name}", '${NUMBER}', 'job' || n), '${channelOf('X')}', '${channelOf('')}' || (n % ${CHANNELS}))`
        : `"${name}"`,
    );
    const list = columns.map(({ name }) => `"${name}"`).join(', ');
    database.exec(`
      CREATE TEMP TABLE copied AS SELECT ${list} FROM "${table}" WHERE ${holds};
      WITH RECURSIVE numbers (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${to})
      INSERT INTO "${table}" (${list}) SELECT ${values.join(', ')} FROM numbers, temp.copied;
      DROP TABLE temp.copied;`);
  }
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Microseconds of CPU of one more. */
async function measure(storage: Storage, cpu: () => Promise<number>, round: string): Promise<number> {
  const some = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `${name}${round}x${index}`);
  await fill(storage, some(rounds / 2, 'warm'));
  const before = await cpu();
  for (const [index, id] of some(rounds, 'extra').entries())
    await ONE_MORE[curve](storage, id, channelOf(index % CHANNELS));
  return (((await cpu()) - before) / rounds) * 1e6;
}

async function onSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
  const path = join(folder, 'minstrel.sqlite');
  const measured: { size: number; each: number }[] = [];
  try {
    let filled = 0;
    for (const size of sizes) {
      if (filled === 0) {
        await using storage = disposable(await openSqliteStorage({ ...tools, path }));
        await ONE_MORE[curve](storage.storage, NUMBER, channelOf('X'));
        filled = 1;
      }
      if (size > filled) multiply(path, filled, size);
      filled = size;
      await using opened = disposable(await openSqliteStorage({ ...tools, path }));
      measured.push({ size, each: await measure(opened.storage, async () => cpuSeconds(), String(size)) });
    }
    return measured;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** ARGV: the first number, the last one, and the commands that store a job, with signs for a number and for a channel's. */
const COPY = `
local commands = cjson.decode(ARGV[3])
for number = ARGV[1], ARGV[2] do
  for _, command in ipairs(commands) do
    local copy = {}
    for index, part in ipairs(command) do
      copy[index] = part:gsub('<number>', number):gsub('<channel>', number % ${CHANNELS})
    end
    redis.call(unpack(copy))
  end
end`;
const COPIES_AT_ONCE = 5_000;

/** The commands that store again all that Redis holds of the one job in it. */
async function commandsOf(redis: Awaited<ReturnType<typeof connectRedis>>): Promise<string[][]> {
  const keys = await redis.keys('*');
  // By BullMQ, which names a timer as it likes.
  const timer = await redis.get(`minstrel:schedule:de:${NUMBER}`);
  const stored = async (key: string): Promise<string[][]> => {
    switch (await redis.type(key)) {
      case 'string':
        return [['SET', key, (await redis.get(key)) ?? '']];
      case 'hash':
        return [['HSET', key, ...Object.entries(await redis.hGetAll(key)).flat()]];
      case 'zset':
        return (await redis.zRangeWithScores(key, 0, -1)).map(({ value, score }) => [
          'ZADD',
          key,
          String(score),
          value,
        ]);
      case 'list':
        return [['RPUSH', key, ...(await redis.lRange(key, 0, -1))]];
      case 'set':
        return [['SADD', key, ...(await redis.sMembers(key))]];
      default:
        return [];
    }
  };
  const ofJob = (text: string) => text.includes(NUMBER) || (timer !== null && text.includes(timer));
  return (await Promise.all(keys.map(stored)))
    .flat()
    .filter((command) => command.some(ofJob))
    .map((command) =>
      command.map((part) =>
        part
          .replaceAll(NUMBER, 'job<number>')
          .replaceAll(timer ?? NUMBER, `${timer}<number>`)
          .replaceAll(channelOf('X'), channelOf('<channel>')),
      ),
    );
}

async function onRedis() {
  const redis = await startRedisServer({ appendonly: 'no' });
  const administration = await connectRedis(redis.url);
  const cpu = async () => {
    const info = await administration.info('cpu');
    const of = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
    return cpuSeconds() + of('used_cpu_user') + of('used_cpu_sys');
  };
  const measured: { size: number; each: number }[] = [];
  try {
    await using opened = disposable(await openRedisStorage({ ...tools, ...PATIENT, url: redis.url }));
    await ONE_MORE[curve](opened.storage, NUMBER, channelOf('X'));
    const copied = JSON.stringify(await commandsOf(administration));
    let filled = 1;
    for (const size of sizes) {
      for (; filled < size; filled = Math.min(size, filled + COPIES_AT_ONCE)) {
        const last = Math.min(size, filled + COPIES_AT_ONCE) - 1;
        await administration.eval(COPY, { arguments: [String(filled), String(last), copied] });
      }
      measured.push({ size, each: await measure(opened.storage, cpu, String(size)) });
    }
    return measured;
  } finally {
    administration.destroy();
    await redis.dispose();
  }
}

const disposable = (storage: Storage) => ({ storage, [Symbol.asyncDispose]: () => storage.close() });

tell(store === 'SQLite' ? await onSqlite() : await onRedis());
