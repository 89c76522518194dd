/**
 * `npm run simulate -- [--histories N] [--seconds S] [--seed N] [--path P] [--store shared|sqlite|both] [--liveness]`: plays new
 * histories, 3,000 by default. Exits with 1 if one breaks a promise, and prints its shortest form.
 */

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { printedHelp } from '../../src/app/process.ts';
import { check } from './check.ts';
import type { History } from './history.ts';

const usage = `Usage: npm run simulate -- [--histories <n>] [--seconds <n>] [--seed <n>] [--path <path>] [--store shared|sqlite|both] [--liveness]
Plays new histories. With --liveness, all faults stop during each, and every open job must end in time. Exits with 1 if one breaks a promise, and prints its shortest form.`;
if (printedHelp(usage)) process.exit();

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    store: { type: 'string', default: 'both' },
    liveness: { type: 'boolean', default: false },
  },
});
const stores: readonly History['store'][] =
  values.store === 'shared' || values.store === 'sqlite' ? [values.store] : ['shared', 'sqlite'];
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const { ok, report } = await check({
  stores,
  seed,
  path: values.path,
  liveness: values.liveness,
  histories: values.histories === undefined ? undefined : Number(values.histories),
  seconds: values.seconds === undefined ? undefined : Number(values.seconds),
});
process.stdout.write(`${report}\n`);
if (!ok) process.exitCode = 1;
