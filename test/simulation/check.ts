/** Plays many histories, and shrinks one that breaks a promise. */
import fc from 'fast-check';
import { histories } from './histories.ts';
import type { History } from './history.ts';
import type { Plant } from './plants.ts';
import { Simulator } from './simulate.ts';
import type { Broken, Invariant } from './watch.ts';

const USUAL_NUMBER = 3_000;

export interface CheckOptions {
  /** Seed of the histories and their order. */
  readonly seed: number;
  /** Path of a single history, as printed in a report. */
  readonly path?: string | undefined;
  readonly stores: readonly History['store'][];
  /** All faults stop during each history, and every open job must end in time. */
  readonly liveness?: boolean;
  readonly histories?: number | undefined;
  /** No history starts later than this. */
  readonly seconds?: number | undefined;
  readonly plant?: Plant;
  /** The promises to check; all by default. */
  readonly invariant?: Invariant;
  /** How long to shrink a failing history. */
  readonly shrinkingSeconds?: number;
}

export interface Checked {
  readonly ok: boolean;
  readonly played: number;
  /** The shortest failing history. */
  readonly shortest: History | undefined;
  /** A report for people: the number of histories, and the events of a failing one with the command to replay it. */
  readonly report: string;
}

export async function check({
  seed,
  path,
  stores,
  liveness = false,
  seconds,
  plant,
  shrinkingSeconds = 60,
  ...options
}: CheckOptions): Promise<Checked> {
  let { invariant } = options;
  const { histories: most = seconds === undefined ? USUAL_NUMBER : Number.MAX_SAFE_INTEGER } = options;
  const simulator = new Simulator();
  const cpuAtStart = process.cpuUsage();
  let played = 0;
  const promise = fc.asyncProperty(histories(fc.constantFrom(...stores), liveness), async (history) => {
    const { broken } = await simulator.play(history, plant, invariant);
    played += 1;
    const [found] = broken;
    if (found === undefined) return;
    // A shorter history must break the same promise.
    invariant = found.invariant;
    throw new Error(found.detail);
  });
  const limit = (most: number) => ({ interruptAfterTimeLimit: most * 1_000 });
  const first = await fc.check(promise, {
    seed,
    endOnFailure: true,
    numRuns: most,
    ...(path === undefined ? {} : { path }),
    ...(seconds === undefined ? {} : limit(seconds)),
  });
  const cpu = process.cpuUsage(cpuAtStart);
  const cpuSeconds = ((cpu.user + cpu.system) / 1e6).toFixed(1);
  const total = `${played} histories, ${cpuSeconds} s of one core, seed ${seed}`;
  if (!first.failed) {
    simulator.close();
    return { ok: true, played, shortest: undefined, report: total };
  }
  const failing = first.counterexamplePath ?? '';
  const details = await fc.check(promise, { seed, path: failing, ...limit(shrinkingSeconds) });
  const [shortest] = details.counterexample ?? first.counterexample ?? [];
  if (!shortest) throw first.errorInstance;
  const { broken, trace } = await simulator.play(shortest, plant, invariant);
  simulator.close();
  const report = [
    total,
    JSON.stringify(shortest),
    ...trace,
    broken.length > 0 ? describeBroken(broken) : String(details.errorInstance),
    `npm run simulate -- ${liveness ? '--liveness ' : ''}--store ${stores.length > 1 ? 'both' : stores[0]} --seed ${seed} --path ${details.counterexamplePath ?? failing}`,
  ];
  return { ok: false, played, shortest, report: report.join('\n') };
}

function describeBroken(broken: readonly Broken[]): string {
  return broken.map(({ invariant, detail }) => `${invariant}: ${detail}`).join('\n');
}
