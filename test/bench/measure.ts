/** Types of the table's rows, and statistics. */
import { connectRedis, startRedisServer } from '../servers/redis.ts';

/** One line of the table: a measured value and its budget. */
export interface Figure {
  readonly name: string;
  readonly measured: number;
  readonly budget: number;
  readonly unit: string;
  /** True for speedups, where more is better. Other values must stay below their budget. */
  readonly atLeast?: true;
}

export type Row = () => Promise<Figure[]>;

export const atMost = (budget: number, unit: string, name: string, measured: number): Figure => ({
  name,
  measured,
  budget,
  unit,
});

/** Returns a quantile, such as 0.99; NaN without values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/**
 * Returns the median cost of each candidate. Each round measures every candidate, so that other load on the machine affects
 * all. The first round only warms up.
 */
export async function medianCosts(
  rounds: number,
  candidates: readonly (() => Promise<number>)[],
): Promise<number[]> {
  const costs = candidates.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1)
    for (const [index, measure] of candidates.entries()) {
      const cost = await measure();
      if (round > 0) costs[index]?.push(cost);
    }
  return costs.map((all) => quantile(all, 0.5));
}

/** Returns the CPU time of this process in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Starts a Redis without persistence, to measure its CPU time without the disk. */
export async function startMeasuredRedis() {
  const server = await startRedisServer({ appendonly: 'no' });
  const client = await connectRedis(server.url);
  return {
    url: server.url,
    /** User and system time since the start: https://redis.io/docs/latest/commands/info/ */
    async cpuMs() {
      const seconds = (await client.info('cpu')).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm);
      return [...seconds].reduce((sum, [, text]) => sum + 1_000 * Number(text), 0);
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      await server.dispose();
    },
  };
}
