/** Checks that functions process hostile text in linear time, or yield to other work in between. */
import { expect, test } from 'vitest';
import { hostileTexts } from './hostile-texts.ts';

/** In characters. The short text fails fast where a long one would take hours. */
const LENGTHS = [60, 1_000, 200_000];
/** CPU time for 200 kB. */
const MOST_MILLISECONDS = 50;
const HOPELESS_MILLISECONDS = 1_000;
const MOST_RUNS = 5;
/** CPU time to copy 200,000 strings and back, on an idle machine. */
const MILLISECONDS_OF_COPY = 8;

/** Returns the longest time for which `work` blocks the event loop, in milliseconds of CPU. */
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

/** Returns how much slower this machine currently is than when idle, because threads share caches and cores. */
async function slowness(): Promise<number> {
  const copy = () => JSON.parse(JSON.stringify('12345'.repeat(40_000).split('')));
  return Math.max(1, (await longestWait(copy)) / MILLISECONDS_OF_COPY);
}

/** True if the best of several runs is short enough. */
async function isQuick(work: () => unknown): Promise<boolean> {
  for (let run = 0; run < MOST_RUNS; run += 1) {
    const milliseconds = await longestWait(work);
    if (milliseconds <= MOST_MILLISECONDS || milliseconds <= MOST_MILLISECONDS * (await slowness()))
      return true;
    if (milliseconds > HOPELESS_MILLISECONDS) return false;
  }
  return false;
}

/** Defines one test per function. Functions may throw. */
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
