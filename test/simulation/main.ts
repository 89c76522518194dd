/**
 * `npm run simulate -- [--histories N] [--seconds S] [--seed N] [--path P] [--store memory|sqlite|both]`: plays histories
 * (3,000 where neither a number nor seconds are given) and exits with 1 when one broke a promise, with its shortest form.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { check } from './check.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    store: { type: 'string', default: 'both' },
  },
});
const { ok, report } = await check({
  seed: values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed),
  path: values.path,
  stores: values.store === 'memory' || values.store === 'sqlite' ? [values.store] : ['memory', 'sqlite'],
  histories: values.histories === undefined ? undefined : Number(values.histories),
  seconds: values.seconds === undefined ? undefined : Number(values.seconds),
});
process.stdout.write(`${report}\n`);
process.exitCode = ok ? 0 : 1;
