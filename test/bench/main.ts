/** `npm run bench`: what waiting jobs cost. Exits with 1 when one more costs more than the logarithm of how many wait. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRedisStorage } from '../../src/storage/redis/redis.ts';
import { systemClock } from '../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/sqlite.ts';
import { connectRedis, noRedis, startRedisServer } from '../servers/redis.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { type Measured, measureWaitingJobs } from './waiting-jobs.ts';

const write = (line: string) => process.stdout.write(`${line}\n`);
const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };

/** A tree of n entries is this much deeper than one of two. */
function allowedRatio(size: number): number {
  return Math.max(1, Math.log2(size)) + 1;
}

/** Sentences about what grows faster. */
function complaints(store: string, measured: readonly Measured[]): string[] {
  const [one] = measured;
  if (!one) return [];
  return measured.flatMap((many) =>
    (['accepting', 'callingBack', 'waking'] as const).flatMap((cost) => {
      const ratio = many[cost] / one[cost];
      const allowed = allowedRatio(many.size);
      return ratio <= allowed
        ? []
        : [
            `${store}: ${cost} with ${many.size} waiting costs ${ratio.toFixed(1)} times as much, over ${allowed.toFixed(1)}`,
          ];
    }),
  );
}

function table(store: string, measured: readonly Measured[]): void {
  write(`\n${store}`);
  write('  waiting     heap   resident   idle CPU    accept  callback      wake   late (median, worst)');
  for (const one of measured) {
    const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`.padStart(9);
    const ms = (value: number) => `${value.toFixed(2)} ms`.padStart(9);
    write(
      `${String(one.size).padStart(9)}${megabytes(one.heapBytes)}${megabytes(one.residentBytes)}${`${one.idleCpuMs.toFixed(1)} ms/s`.padStart(12)}${ms(one.accepting)}${ms(one.callingBack)}${ms(one.waking)}${ms(one.late.median)}${ms(one.late.worst)}`,
    );
  }
}

async function onSqlite(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
  try {
    return await measureWaitingJobs((size) =>
      openSqliteStorage({ ...tools, path: join(folder, `${size}.sqlite`) }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onRedis(): Promise<Measured[]> {
  const redis = await startRedisServer();
  const administration = await connectRedis(redis.url);
  try {
    // What the disk costs is not what is compared, and 100,000 jobs would wait for it.
    await administration.configSet('appendfsync', 'no');
    return await measureWaitingJobs((size) =>
      openRedisStorage({ ...tools, url: redis.url, prefix: `bench${size}`, patienceMs: 30_000 }),
    );
  } finally {
    administration.destroy();
    await redis.dispose();
  }
}

const found: string[] = [];
for (const [store, measure] of [
  ['SQLite', onSqlite],
  ...(noRedis === undefined ? [['Redis', onRedis] as const] : []),
] as const) {
  const measured = await measure();
  table(store, measured);
  found.push(...complaints(store, measured));
}
for (const complaint of found) write(complaint);
if (found.length > 0) process.exitCode = 1;
