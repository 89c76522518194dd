/** When a task is asked about again: by how long the last ones of the same model took. */

const SECOND = 1_000;
const SHORTEST_PAUSE_MS = 1.5 * SECOND;
/** The public API's own advice (https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference). */
const LONGEST_PAUSE_MS = 15 * SECOND;
/** Where it is known how long such tasks take. */
const LONGEST_PLANNED_MS = 20 * SECOND;
/** Where nothing is known yet: a short video may be there within seconds. */
const TYPICAL_MS = 30 * SECOND;
/** One that takes longer than any before it may take as long as it likes: it is noticed after this part of its time. */
const LONGEST_PART = 0.05;
/** One that ends far earlier than any before it is noticed after this part of its time. */
const EARLY_PART = 0.25;
/** How long a finished task waits to be asked about, on average: a little less than with a poll every five seconds. */
const MEAN_DELAY_MS = 2.4 * SECOND;
/** Fewer durations say nothing of how far they differ. */
const FEWEST_DURATIONS = 4;
/** The least deviation of the durations' logarithm: a few equal durations do not mean that all are equal. */
const LEAST_SPREAD = 0.08;
/** Of the logarithm, in spreads: nearly all tasks end between these. */
const EARLIEST = -3;
const LATEST = 3.5;
/** Between two moments that are compared: this, or this part of the time. */
const STEP_MS = 0.25 * SECOND;
const STEP_PART = 1 / 250;
const BISECTIONS = 12;

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
    const next = plannedPolls(durations).find((at) => at >= elapsedMs + SHORTEST_PAUSE_MS);
    const pause = next === undefined ? longestPause(elapsedMs) : next - elapsedMs;
    return pause + Math.min(0.05 * pause, SECOND / 4) * (2 * random() - 1);
  }
  const away = Math.abs(typicalMs - elapsedMs) / 4;
  return Math.min(LONGEST_PAUSE_MS, Math.max(2 * SECOND, away)) * (0.9 + random() * 0.2);
}

const longestPause = (at: number, part = LONGEST_PART): number => Math.max(LONGEST_PLANNED_MS, part * at);

/** When a task could be asked about. */
interface Moment {
  readonly at: number;
  /** The chance that it has ended by then. */
  readonly ended: number;
  /** The integral of `ended` up to then, in milliseconds. */
  readonly area: number;
}

/**
 * When a task is asked about until it has ended: as few polls as there can be for that mean delay, where durations are log-normal. Found
 * by dynamic programming, in which a poll costs 1 and a millisecond of delay has a price; the price is found by bisection.
 */
function plannedPolls(durations: readonly number[]): readonly number[] {
  const logs = durations.map((duration) => Math.log(Math.max(duration, SECOND)));
  const mean = average(logs);
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  // A few durations predict the next one less surely than many do.
  const spread = Math.max(LEAST_SPREAD, Math.sqrt(variance * (1 + 1 / logs.length)));
  const moments = momentsOf(mean, spread);
  let low = 1e-5;
  let high = 10;
  for (let bisection = 0; bisection < BISECTIONS; bisection += 1) {
    const price = Math.sqrt(low * high);
    if ((cheapestPlan(moments, price)?.delayMs ?? 0) > MEAN_DELAY_MS) low = price;
    else high = price;
  }
  const polls: number[] = [];
  for (let plan = cheapestPlan(moments, high)?.next; plan; plan = plan.next) polls.push(plan.at);
  return polls;
}

function momentsOf(mean: number, spread: number): readonly Moment[] {
  const first = Math.exp(mean + EARLIEST * spread);
  const last = Math.exp(mean + LATEST * spread);
  const moments: Moment[] = [];
  let before: Moment = { at: 0, ended: 0, area: 0 };
  while (before.at < last) {
    moments.push(before);
    const step =
      before.at < first
        ? Math.min(longestPause(before.at, EARLY_PART), Math.max(first - before.at, STEP_MS))
        : Math.max(STEP_MS, STEP_PART * before.at);
    const at = before.at + step;
    const ended = normal((Math.log(at) - mean) / spread);
    before = { at, ended, area: before.area + ((before.ended + ended) / 2) * step };
  }
  return [...moments, before];
}

/** What follows when a task has not ended at a moment. Costs and delays are means over all tasks. */
interface Plan extends Moment {
  readonly cost: number;
  readonly delayMs: number;
  /** The next poll; absent after the last moment. */
  readonly next?: Plan;
}

function cheapestPlan(moments: readonly Moment[], price: number): Plan | undefined {
  /** The latest one first. */
  const plans: Plan[] = [];
  for (const from of moments.toReversed()) {
    let cost = Number.POSITIVE_INFINITY;
    let delayMs = 0;
    let next: Plan | undefined;
    for (let index = plans.length - 1; index >= 0; index -= 1) {
      const then = plans[index];
      if (then === undefined || (next && then.at > from.at + longestPause(from.at))) break;
      const delayed = then.area - from.area - from.ended * (then.at - from.at);
      const own = 1 - from.ended + price * delayed;
      // It grows with the pause, and what follows costs something, too.
      if (own >= cost) break;
      if (own + then.cost >= cost) continue;
      cost = own + then.cost;
      delayMs = delayed + then.delayMs;
      next = then;
    }
    plans.push(next ? { ...from, cost, delayMs, next } : { ...from, cost: 0, delayMs: 0 });
  }
  return plans.at(-1);
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The distribution function of the standard normal distribution, within 1e-7: Abramowitz and Stegun, 26.2.17. */
function normal(z: number): number {
  if (z < 0) return 1 - normal(-z);
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
