/** P5: how often a video is asked about, and how long a finished one waits for it. */
import { pollPause } from '../../src/jobs/steps/poll/poll-schedule.ts';
import type { BenchRow, Comparison, Extent } from './measure.ts';

const SECOND = 1_000;
const EVERY_MS = 5 * SECOND;
/** Typical seconds. */
const VIDEOS = [20, 60, 180, 600] as const;
const HISTORY = 20;
/** Of the logarithm: two of three videos end within 15 % of what is typical. */
const SPREAD = 0.15;

export interface PollCosts {
  readonly polls: number;
  readonly delayMs: number;
}

/** Means over videos of log-normal durations, each with the history of others. Deterministic. */
export function simulatePolls(
  typicalMs: number,
  spread: number,
  videos: number,
): Record<'product' | 'steady', PollCosts> {
  const random = seeded(7);
  const duration = () => typicalMs * Math.exp(spread * gaussian(random));
  const sums = { product: { polls: 0, delayMs: 0 }, steady: { polls: 0, delayMs: 0 } };
  for (let video = 0; video < videos; video += 1) {
    const ends = duration();
    const durations = Array.from({ length: HISTORY }, duration);
    const median = durations.toSorted((one, other) => one - other)[HISTORY / 2];
    const asked = (pause: (elapsedMs: number) => number, into: { polls: number; delayMs: number }) => {
      let at = 0;
      do {
        at += pause(at);
        into.polls += 1 / videos;
      } while (at < ends);
      into.delayMs += (at - ends) / videos;
    };
    asked((elapsedMs) => pollPause({ elapsedMs, typicalMs: median, durations }, random), sums.product);
    asked(() => EVERY_MS, sums.steady);
  }
  return sums;
}

function seeded(seed: number): () => number {
  // https://en.wikipedia.org/wiki/Linear_congruential_generator, constants of Numerical Recipes
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

async function measurePolls({ short }: Extent): Promise<Comparison[]> {
  return VIDEOS.flatMap((seconds) => {
    const { product, steady } = simulatePolls(seconds * SECOND, SPREAD, short ? 200 : 4_000);
    const row = { what: `a video of ${seconds} s`, peer: 'a poll every 5 s' };
    return [
      { ...row, unit: 'polls', product: product.polls, theirs: steady.polls, goal: { atMost: 0.5 } },
      {
        ...row,
        unit: 's of delay',
        product: product.delayMs / SECOND,
        theirs: steady.delayMs / SECOND,
        goal: { atMost: 1 },
      },
    ];
  });
}

export const pollsRow: BenchRow = {
  id: 'p5',
  title: 'Polls for videos, with history (simulated)',
  measure: measurePolls,
};
