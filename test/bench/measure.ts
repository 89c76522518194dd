/** What a row of the table measures, and the statistics of it. */
import { connectRedis, startRedisServer } from '../servers/redis.ts';

/** One line of the table: a measured value and the budget that it must keep. */
export interface Figure {
  readonly name: string;
  readonly measured: number;
  readonly budget: number;
  readonly unit: string;
  /** How many times as fast: more is better. Everything else must stay below its budget. */
  readonly atLeast?: true;
}

/** Measures when it is called. */
export type Row = () => Promise<Figure[]>;

export const atMost = (budget: number, unit: string, name: string, measured: number): Figure => ({
  name,
  measured,
  budget,
  unit,
});

/** The value below which this part of all lies, as `0.99`; NaN for no values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/**
 * The median cost of each candidate. In every round each is measured once, so whatever else the machine does concerns all. The first
 * round only compiles: a bot runs for weeks.
 */
export async function inTurns(
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

/** Milliseconds of CPU that this process has used. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** A Redis whose CPU time counts. What the disk costs does not. */
export async function startMeasuredRedis() {
  const server = await startRedisServer({ appendonly: 'no' });
  const client = await connectRedis(server.url);
  return {
    url: server.url,
    /** User and system time since it started: https://redis.io/docs/latest/commands/info/ */
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
