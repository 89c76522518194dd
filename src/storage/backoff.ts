const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/** Milliseconds until a handler that failed so often in a row is called again: 1 s, doubling to 1 min, give or take 20 %. */
export function handlerPause(failures: number, random: () => number): number {
  const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures - 1, 10));
  return pause * (0.8 + 0.4 * random());
}
