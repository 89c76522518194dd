/** P8: what the engine costs for each job, gateway and chat left out. */
import { z } from 'zod';
import { connectRedis, noRedis, startRedisServer } from '../servers/redis.ts';
import { type BenchRow, type Comparison, type Extent, inAlternation } from './measure.ts';
import { runProgram } from './program.ts';

const told = z.object({
  cpuMs: z.number(),
  perSecond: z.number(),
  recordBytes: z.number(),
  songs: z.number(),
});

async function measureEngine({ short }: Extent): Promise<Comparison[]> {
  if (noRedis !== undefined) throw new Error(noRedis);
  // What the disk costs is not what is compared.
  const redis = await startRedisServer({ appendfsync: 'no' });
  const watching = await connectRedis(redis.url);
  const perSecond = new Map<string, number>();
  /** Of Redis, by the candidate that it served. */
  const serverCpuMs = new Map<string, number>();
  // As large as the product's own records come out.
  let recordBytes = 2_000;
  const run = async (candidate: string) => {
    const input = { candidate, url: redis.url, jobs: short ? 200 : 600, recordBytes };
    const before = cpuMsOf(await watching.info('cpu'));
    const result = await runProgram(new URL('./engine-run.ts', import.meta.url), told, { input });
    serverCpuMs.set(candidate, (cpuMsOf(await watching.info('cpu')) - before) / result.songs);
    recordBytes = result.recordBytes;
    perSecond.set(candidate, Math.max(perSecond.get(candidate) ?? 0, result.perSecond));
    return result.cpuMs;
  };
  try {
    const cpu = await inAlternation(short ? 1 : 5, {
      redis: () => run('redis'),
      sqlite: () => run('sqlite'),
      bullmq: () => run('bullmq'),
      kept: () => run('bullmq kept'),
      plain: () => run('plain sqlite'),
    });
    const peer = 'BullMQ, five runs that write a record';
    const kept = 'BullMQ with the writes of a song';
    return [
      {
        what: 'a song on Redis',
        unit: 'CPU ms',
        product: cpu.redis,
        peer,
        theirs: cpu.bullmq,
        goal: { atMost: 2 },
      },
      {
        what: 'a song on Redis',
        unit: 'CPU ms',
        product: cpu.redis,
        peer: kept,
        theirs: cpu.kept,
      },
      {
        what: 'a song on SQLite',
        unit: 'CPU ms',
        product: cpu.sqlite,
        peer,
        theirs: cpu.bullmq,
      },
      {
        what: 'a song on SQLite',
        unit: 'CPU ms',
        product: cpu.sqlite,
        // SQLite is a part of the process; Redis computes in its own.
        peer: 'the same, with what it costs Redis',
        theirs: cpu.bullmq + (serverCpuMs.get('bullmq') ?? Number.NaN),
        goal: { atMost: 2 },
      },
      {
        what: 'a song on SQLite',
        unit: 'CPU ms',
        product: cpu.sqlite,
        peer: 'plain SQLite with the writes of a song',
        theirs: cpu.plain,
      },
      {
        what: 'songs on Redis',
        unit: 'a second',
        product: perSecond.get('redis') ?? Number.NaN,
        peer,
        theirs: perSecond.get('bullmq') ?? Number.NaN,
        goal: { atLeast: 0.5 },
      },
      {
        what: 'songs on Redis',
        unit: 'a second',
        product: perSecond.get('redis') ?? Number.NaN,
        peer: kept,
        theirs: perSecond.get('bullmq kept') ?? Number.NaN,
      },
    ];
  } finally {
    watching.destroy();
    await redis.dispose();
  }
}

/** User and system time since Redis began, in milliseconds: https://redis.io/docs/latest/commands/info/ */
function cpuMsOf(info: string): number {
  const seconds = [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, text]) => Number(text));
  return 1_000 * seconds.reduce((sum, one) => sum + one, 0);
}

export const engineRow: BenchRow = { id: 'p8', title: 'The engine alone', measure: measureEngine };
