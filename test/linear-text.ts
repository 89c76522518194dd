/** Checks that functions take linear time in text, however hostile it is, or let other work be done in between. */
import { expect, test } from 'vitest';
import { hostileTexts } from './hostile-texts.ts';

/** In characters. The short one finds what would take hours for a long one. */
const LENGTHS = [60, 1_000, 200_000];
/** Of one core, for 200 kB. */
const MOST_MILLISECONDS = 50;
const HOPELESS_MILLISECONDS = 1_000;
const MOST_RUNS = 5;
/** Of one core, for 200,000 strings there and back. */
const MILLISECONDS_OF_COPY = 8;

/** The longest time for which `work` lets no other work be done, in milliseconds of one core. */
async function longestWait(work: () => unknown): Promise<number> {
  let longest = 0;
  let isDone = false;
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.threadCpuUsage();
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isDone = true;
  look();
  return longest;
}

/** How many times longer than on an idle machine everything takes now: other threads share caches and cores. */
async function slowness(): Promise<number> {
  const copy = () => JSON.parse(JSON.stringify('12345'.repeat(40_000).split('')));
  return Math.max(1, (await longestWait(copy)) / MILLISECONDS_OF_COPY);
}

/** Whether the best of some runs is short enough. */
async function isQuick(work: () => unknown): Promise<boolean> {
  for (let run = 0; run < MOST_RUNS; run += 1) {
    const milliseconds = await longestWait(work);
    if (milliseconds <= MOST_MILLISECONDS || milliseconds <= MOST_MILLISECONDS * (await slowness()))
      return true;
    if (milliseconds > HOPELESS_MILLISECONDS) return false;
  }
  return false;
}

/** One test for each function. What they throw is an answer, too. */
export function testLinear(functions: Readonly<Record<string, (text: string) => unknown>>): void {
  test.each(Object.entries(functions))('%s', async (_name, read) => {
    for (const length of LENGTHS) {
      for (const { name, text } of hostileTexts(length)) {
        const work = async () => {
          try {
            await read(text);
          } catch {}
        };
        if (!(await isQuick(work)))
          expect.fail(`takes too long for ${length} characters of ${JSON.stringify(name)}`);
      }
    }
  });
}
