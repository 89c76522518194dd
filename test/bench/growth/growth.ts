/** `npm run bench -- growth`: how the cost grows with each thing that grows. See docs/performance.md. */
import { z } from 'zod';
import { noRedis } from '../../servers/redis.ts';
import type { Extent } from '../measure.ts';
import { runProgram } from '../program.ts';
import { measureServers } from '../scale/shards.ts';

interface Point {
  readonly size: number;
  /** Microseconds of CPU for each. */
  readonly each: number;
}

interface Curve {
  readonly what: string;
  /** What costs so much. */
  readonly each: string;
  measure(extent: Extent): Promise<readonly Point[]>;
}

/** Of noise between two points ten times apart, in an exponent. */
const TOLERANCE = 0.15;

const points = z.array(z.object({ size: z.int(), each: z.number() }));
const upTo = (largest: number, from = 1): number[] =>
  Array.from({ length: Math.round(Math.log10(largest / from)) + 1 }, (_, power) => from * 10 ** power);

const inStorage = (store: string, curve: string, sizes: number[], shortSizes: number[]): Curve => ({
  what: `${curve}, ${store}`,
  each: curve === 'callbacks' ? 'a job with three callbacks' : 'a job from acceptance to there',
  measure: ({ short }) =>
    runProgram(new URL('./storage-run.ts', import.meta.url), points, {
      input: { store, curve, sizes: short ? shortSizes : sizes, rounds: short ? 200 : 1_000 },
    }),
});

const inAnswers = (curve: string, each: string, sizes: number[], shortSizes: number[]): Curve => ({
  what: curve,
  each,
  measure: ({ short }) =>
    runProgram(new URL('./answer-run.ts', import.meta.url), points, {
      input: { curve, sizes: short ? shortSizes : sizes, rounds: short ? 1 : 3 },
    }),
});

async function inServers(figure: 'start' | 'event', { short }: Extent): Promise<Point[]> {
  const measured: Point[] = [];
  for (const size of short ? [1, 10, 100] : upTo(1_000))
    measured.push({ size, each: (await measureServers(size, short ? 2_000 : 10_000))[figure] * 1e6 });
  return measured;
}

const CURVES: readonly Curve[] = [
  inStorage('SQLite', 'jobs waiting', upTo(100_000), upTo(10_000)),
  inStorage('SQLite', 'jobs done', upTo(1_000_000), upTo(10_000)),
  inStorage('SQLite', 'callbacks', upTo(100_000), upTo(10_000)),
  ...(noRedis === undefined
    ? [
        inStorage('Redis', 'jobs waiting', upTo(100_000), upTo(1_000)),
        inStorage('Redis', 'jobs done', upTo(1_000_000), upTo(1_000)),
        inStorage('Redis', 'callbacks', upTo(100_000), upTo(1_000)),
      ]
    : []),
  { what: 'servers', each: 'the start, for each', measure: (extent) => inServers('start', extent) },
  { what: 'servers', each: 'a message among people', measure: (extent) => inServers('event', extent) },
  inAnswers('channels', 'four states of a message', upTo(10_000), upTo(1_000)),
  inAnswers('words of an answer', 'a word', [100, 1_000, 5_000, 10_000, 20_000, 30_000], [100, 1_000, 5_000]),
];

/** The power of n by which the total grows between two points. */
function exponent(one: Point, other: Point, costOf: (point: Point) => number): number {
  return Math.log(costOf(other) / costOf(one)) / Math.log(other.size / one.size);
}

const total = ({ size, each }: Point) => size * each;
const nLogN = ({ size }: Point) => size * Math.log2(size + 1);
const rounded = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

/** Prints a table in Markdown. Resolves to the number of curves that grow worse than n log n in all. */
export async function measureGrowth(extent: Extent, write: (text: string) => void): Promise<number> {
  write('| grows | CPU of | µs each, at n | exponent of all | at the end | n log n at the end |\n');
  write('|---|---|---|---|---|---|\n');
  let worse = 0;
  for (const { what, each, measure } of CURVES) {
    const measured = await measure(extent);
    const [first, before, last] = [measured[0], measured.at(-2), measured.at(-1)];
    if (!first || !before || !last) throw new Error(`${what}: there are too few points`);
    const atEnd = exponent(before, last, total);
    const allowed = exponent(before, last, nLogN);
    const isWorse = !(atEnd <= allowed + TOLERANCE);
    if (isWorse) worse += 1;
    const cells = [
      what,
      each,
      measured.map(({ size, each: cost }) => `${size.toLocaleString('en')}: ${rounded(cost)}`).join(' · '),
      exponent(first, last, total).toFixed(2),
      `${atEnd.toFixed(2)}${isWorse ? ' WORSE' : ''}`,
      allowed.toFixed(2),
    ];
    write(`| ${cells.join(' | ')} |\n`);
  }
  return worse;
}
