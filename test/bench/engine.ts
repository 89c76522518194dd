/** P8: what the engine costs for each job, gateway and chat left out. */
import { z } from 'zod';
import { noRedis, startRedisServer } from '../servers/redis.ts';
import { type BenchRow, type Comparison, type Extent, inAlternation } from './measure.ts';
import { runProgram } from './program.ts';

const told = z.object({ cpuMs: z.number(), perSecond: z.number(), recordBytes: z.number() });

async function measureEngine({ short }: Extent): Promise<Comparison[]> {
  if (noRedis !== undefined) throw new Error(noRedis);
  // What the disk costs is not what is compared.
  const redis = await startRedisServer({ appendfsync: 'no' });
  const perSecond = new Map<string, number>();
  // As large as the product's own records come out.
  let recordBytes = 2_000;
  const run = async (candidate: string) => {
    const input = { candidate, url: redis.url, jobs: short ? 200 : 600, recordBytes };
    const result = await runProgram(new URL('./engine-run.ts', import.meta.url), told, { input });
    recordBytes = result.recordBytes;
    perSecond.set(candidate, Math.max(perSecond.get(candidate) ?? 0, result.perSecond));
    return result.cpuMs;
  };
  try {
    const cpu = await inAlternation(short ? 1 : 5, {
      redis: () => run('redis'),
      sqlite: () => run('sqlite'),
      traced: () => run('traced'),
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
        what: 'a song on SQLite, with traces',
        unit: 'CPU ms',
        product: cpu.traced,
        peer: 'the same without traces',
        theirs: cpu.sqlite,
        goal: { atMost: 1.25 },
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
    await redis.dispose();
  }
}

export const engineRow: BenchRow = { id: 'p8', title: 'The engine alone', measure: measureEngine };
