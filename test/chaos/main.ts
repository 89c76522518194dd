/**
 * `npm run chaos -- --jobs 500 --kills 30 --store sqlite|redis [--seed text]`: exits with 1 when something was lost,
 * delivered twice or paid twice.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { StoreKind } from './plan.ts';
import { runChaos } from './run.ts';
import { isGood } from './verdict.ts';

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
  },
});
const options = {
  jobs: wholeNumber('jobs', values.jobs),
  kills: wholeNumber('kills', values.kills),
  store: storeOf(values.store),
  seed: values.seed,
  pauseMs: wholeNumber('pause', values.pause),
  restMs: 15_000,
};

const replay = `npm run chaos -- --jobs ${options.jobs} --kills ${options.kills} --store ${options.store} --pause ${options.pauseMs} --seed ${options.seed}`;
write(replay);
const began = performance.now();
const report = await runChaos(options, (line) =>
  write(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${line}`),
);
for (const [name, value] of [
  ['asked', report.asked],
  ['accepted', report.accepted],
  ['delivered', report.delivered],
  ['told why', report.toldWhy],
  ['lost', report.lost.length],
  ['delivered twice', report.deliveredTwice.length],
  ['submitted twice', report.submittedTwice.length],
  ['paid requests that the gateway took', report.paid],
  ['processes killed', report.kills],
  ['gateway requests that met a fault', report.gatewayFaults],
] as const)
  write(`${name.padEnd(37)} ${value}`);
for (const [what, cases] of [
  ['lost', report.lost],
  ['delivered twice', report.deliveredTwice],
  ['submitted twice', report.submittedTwice],
] as const)
  for (const one of cases) write(`${what}: ${one}`);
if (!isGood(report)) {
  write(`The logs are in ${report.folder}. This comes closest to running it again:\n${replay}`);
  process.exitCode = 1;
}
