/**
 * `npm run simulate -- [--histories N] [--seconds S] [--seed N] [--path P] [--store memory|sqlite|both]`: plays histories
 * (3,000 where neither a number nor seconds are given; with both, at least so many and for so long) and exits with 1 when one
 * broke a promise, with its shortest form.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type CheckOptions, check } from './check.ts';
import type { History } from './history.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    store: { type: 'string', default: 'both' },
  },
});
const stores: readonly History['store'][] =
  values.store === 'memory' || values.store === 'sqlite' ? [values.store] : ['memory', 'sqlite'];
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const histories = values.histories === undefined ? undefined : Number(values.histories);
const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
const began = performance.now();

async function play(
  options: Pick<CheckOptions, 'seed' | 'path' | 'histories' | 'seconds'>,
): Promise<boolean> {
  const { ok, report } = await check({ stores, ...options });
  process.stdout.write(`${report}\n`);
  return ok;
}

const isGood = await play({
  seed,
  path: values.path,
  histories,
  seconds: histories === undefined ? seconds : undefined,
});
const left = (seconds ?? 0) - (performance.now() - began) / 1_000;
const staysGood =
  isGood && (histories === undefined || left <= 0 || (await play({ seed: seed + 1, seconds: left })));
process.exitCode = staysGood ? 0 : 1;
