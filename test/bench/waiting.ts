/** How the cost of one more job grows with how many wait: no worse than the logarithm of their number. */
import { z } from 'zod';
import { noRedis } from '../servers/redis.ts';
import type { BenchRow, Comparison, Extent } from './measure.ts';
import { runProgram } from './program.ts';

const measured = z.object({
  size: z.int(),
  heapBytes: z.number(),
  residentBytes: z.number(),
  idleCpuMs: z.number(),
  accepting: z.number(),
  callingBack: z.number(),
  waking: z.number(),
});

/** A tree of n entries is this much deeper than one of two. */
function allowedRatio(size: number): number {
  return Math.max(1, Math.log2(size)) + 1;
}

async function measureWaiting({ short }: Extent): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  const sizes = short ? [1, 1_000] : [1, 1_000, 100_000];
  for (const store of ['SQLite', ...(noRedis === undefined ? ['Redis'] : [])]) {
    const all = await runProgram(new URL('./waiting-jobs.ts', import.meta.url), z.array(measured), {
      input: { store, sizes, rounds: short ? 20 : 80 },
      flags: ['--expose-gc'],
    });
    const [one] = all;
    if (!one) continue;
    for (const many of all.slice(1)) {
      for (const cost of ['accepting', 'callingBack', 'waking'] as const) {
        comparisons.push({
          what: `${store}: ${cost}, ${many.size} waiting`,
          unit: 'ms',
          product: many[cost],
          peer: 'the same with 1 waiting',
          theirs: one[cost],
          goal: { atMost: Number(allowedRatio(many.size).toFixed(1)) },
        });
      }
    }
  }
  return comparisons;
}

export const waitingRow: BenchRow = {
  id: 'waiting',
  title: 'What one more job costs among many that wait',
  measure: measureWaiting,
};
