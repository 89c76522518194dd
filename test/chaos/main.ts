/**
 * `npm run chaos -- --jobs 500 --kills 60 --store sqlite|redis [--seed text] [--pause milliseconds between two asks]
 * [--freezes times] [--failing percent of calls] [--skew milliseconds]`: exits with 1 if something was lost,
 * delivered twice, paid twice or never finished.
 */

import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { printedHelp } from '../../src/app/process.ts';
import type { ChaosOptions, StoreKind } from './plan.ts';
import { runChaos } from './run.ts';
import { isGood } from './verdict.ts';

const usage = `Usage: npm run chaos -- [options]
Kills the bot under load. Exits with 1 if something was lost, delivered or paid twice, or never finished.
  --jobs <n>, --kills <n>, --freezes <n>   how much happens
  --store sqlite|redis                     where jobs are stored
  --pause <ms>, --skew <ms>                between two requests, and between clocks
  --failing <percent>                      of the calls
  --seed <text>                            to repeat a run`;
if (printedHelp(usage)) process.exit();

const write = (line: string) => process.stdout.write(`${line}\n`);

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0)
    throw new RangeError(`--${name} takes a whole number, not ${text}`);
  return number;
}

function storeOf(text: string): StoreKind {
  if (text === 'sqlite' || text === 'redis') return text;
  throw new RangeError(`--store is sqlite or redis, not ${text}`);
}

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '500' },
    kills: { type: 'string', default: '30' },
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    pause: { type: 'string', default: '250' },
    freezes: { type: 'string' },
    failing: { type: 'string', default: '30' },
    skew: { type: 'string', default: '3000' },
  },
});
const kills = wholeNumber('kills', values.kills);
const options = {
  jobs: wholeNumber('jobs', values.jobs),
  kills,
  replicas: values.store === 'redis' ? 3 : 1,
  store: storeOf(values.store),
  seed: values.seed,
  pauseMs: wholeNumber('pause', values.pause),
  // Typical for a machine that is moved or swaps. Twice the lease is within this range.
  freezes: wholeNumber('freezes', values.freezes ?? String(Math.ceil(kills / 6))),
  freezeMs: [5_000, 60_000],
  failing: wholeNumber('failing', values.failing) / 100,
  skewMs: wholeNumber('skew', values.skew),
  restMs: 15_000,
} as const satisfies ChaosOptions;

const { jobs, store, seed, pauseMs, freezes, failing, skewMs } = options;
const replay = `npm run chaos -- --jobs ${jobs} --kills ${kills} --freezes ${freezes} --failing ${failing * 100} --skew ${skewMs} --store ${store} --pause ${pauseMs} --seed ${seed}`;
write(replay);
const began = performance.now();
const report = await runChaos(options, (line) =>
  write(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${line}`),
);
for (const [name, value] of [
  ['requested', report.requested],
  ['accepted', report.accepted],
  ['delivered', report.delivered],
  ['explained', report.explained],
  ['lost', report.lost.length],
  ['delivered twice', report.deliveredTwice.length],
  ['submitted twice', report.submittedTwice.length],
  ['still in progress', report.inProgress.length],
  ['paid requests accepted by the gateway', report.paid],
  ['processes killed', report.kills],
  ['processes frozen', report.freezes],
  ['gateway requests with a fault', report.gatewayFaults],
] as const)
  write(`${name.padEnd(37)} ${value}`);
for (const [what, cases] of [
  ['lost', report.lost],
  ['delivered twice', report.deliveredTwice],
  ['submitted twice', report.submittedTwice],
  ['still in progress', report.inProgress],
] as const)
  for (const one of cases) write(`${what}: ${one}`);
if (!isGood(report)) {
  write(`The logs are in ${report.folder}. This comes closest to running it again:\n${replay}`);
  process.exitCode = 1;
}
