/**
 * `npm run simulate -- [--histories 3000] [--seconds 60] [--seed N] [--path P] [--store memory|sqlite]`: plays histories
 * and exits with 1 when one broke a promise, with its shortest form and the line that plays it again.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { type History, histories } from './history.ts';
import { simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '3000' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    store: { type: 'string', default: 'both' },
  },
});
const stores = values.store === 'both' ? (['memory', 'sqlite'] as const) : [values.store as History['store']];
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const began = performance.now();
let played = 0;
let steps = 0;
const details = await fc.check(
  fc.asyncProperty(histories(fc.constantFrom(...stores)), async (history) => {
    const { broken, steps: taken } = await simulate(history);
    played += 1;
    steps += taken;
    return broken.length === 0;
  }),
  {
    seed,
    numRuns: Number(values.histories),
    ...(values.path === undefined ? {} : { path: values.path }),
    ...(values.seconds === undefined ? {} : { interruptAfterTimeLimit: Number(values.seconds) * 1_000 }),
  },
);
const seconds = (performance.now() - began) / 1_000;
const say = (line: string) => process.stdout.write(`${line}\n`);
say(`${played} histories, ${steps} steps, ${seconds.toFixed(1)} s, seed ${seed}`);
if (details.failed && details.counterexample) {
  const [history] = details.counterexample;
  const { broken, trace } = await simulate(history);
  say(JSON.stringify(history, null, 1));
  say(trace.join('\n'));
  say(broken.join('\n'));
  if (broken.length === 0) say(String(details.errorInstance));
  say(`npm run simulate -- --seed ${seed} --path ${details.counterexamplePath}`);
  process.exitCode = 1;
}
