/** When a task is asked about again: by how long the last ones of the same model took. */

const SECOND = 1_000;
const SHORTEST_PAUSE_MS = 1.5 * SECOND;
/** The public API's own advice (https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference). */
const LONGEST_PAUSE_MS = 15 * SECOND;
/** Where nothing is known yet: a short video may be there within seconds. */
const TYPICAL_MS = 30 * SECOND;
/** A task that ends far earlier than any before it is noticed after this part of the usual time, at the latest. */
const LONGEST_PART = 0.05;
/** How long a finished task waits to be asked about; a little less on average, about as with a poll every five seconds. */
const MEAN_DELAY_MS = 2.65 * SECOND;
/** Fewer durations say nothing of how far they differ. */
const FEWEST_DURATIONS = 4;
/** The least deviation of the durations' logarithm: a few equal durations do not mean that all are equal. */
const LEAST_SPREAD = 0.08;
const STEP_MS = 0.1 * SECOND;

interface Progress {
  readonly elapsedMs: number;
  /** The median of those before, from submission. */
  readonly typicalMs?: number | undefined;
  /** How long those before took, from submission. */
  readonly durations?: readonly number[] | undefined;
}

/** Milliseconds until a task is asked about again, with a little jitter. */
export function pollPause(progress: Progress, random: () => number): number {
  const { elapsedMs, typicalMs = TYPICAL_MS, durations = [] } = progress;
  if (durations.length >= FEWEST_DURATIONS) {
    const pause = pauseByChance(elapsedMs, durations);
    return pause + Math.min(0.05 * pause, SECOND / 4) * (2 * random() - 1);
  }
  const away = Math.abs(typicalMs - elapsedMs) / 4;
  return Math.min(LONGEST_PAUSE_MS, Math.max(2 * SECOND, away)) * (0.9 + random() * 0.2);
}

/**
 * Polls lie as close as the chance to find the task finished asks for. The expected number of polls is smallest, for a mean
 * delay, where pauses are as the inverse root of the hazard: h(t) = f(t) / (1 - F(t)). Durations are taken for log-normal.
 */
function pauseByChance(elapsedMs: number, durations: readonly number[]): number {
  const logs = durations.map((duration) => Math.log(Math.max(duration, SECOND)));
  const mean = average(logs);
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  // A few durations predict the next one less surely than many do.
  const spread = Math.max(LEAST_SPREAD, Math.sqrt(variance * (1 + 1 / logs.length)));
  const hazardAt = (at: number) => hazard((Math.log(at) - mean) / spread) / (spread * at);
  const scale = (2 * MEAN_DELAY_MS) / meanRootOfInverse(hazardAt, mean, spread);
  const longest = Math.max(LONGEST_PAUSE_MS, LONGEST_PART * elapsedMs);
  let due = 0;
  let pause = 0;
  while (due < 1 && pause < longest) {
    due += (STEP_MS * Math.sqrt(hazardAt(elapsedMs + pause + STEP_MS / 2))) / scale;
    pause += STEP_MS;
  }
  // Past every duration before, it may take as long as it likes.
  return Math.max(SHORTEST_PAUSE_MS, pause);
}

/** The mean of the hazard's inverse root over all durations. */
function meanRootOfInverse(hazardAt: (at: number) => number, mean: number, spread: number): number {
  let sum = 0;
  let weight = 0;
  for (let z = -3; z <= 3; z += 0.1) {
    const density = Math.exp((-z * z) / 2);
    sum += density / Math.sqrt(hazardAt(Math.exp(mean + spread * z)));
    weight += density;
  }
  return sum / weight;
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of the standard normal distribution. */
function hazard(z: number): number {
  // Mills' ratio: https://en.wikipedia.org/wiki/Mills_ratio
  if (z > 6) return z + 1 / z;
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI) / (1 - normal(z));
}

/** The distribution function of the standard normal distribution, within 1e-7: Abramowitz and Stegun, 26.2.17. */
function normal(z: number): number {
  if (z < 0) return 1 - normal(-z);
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
