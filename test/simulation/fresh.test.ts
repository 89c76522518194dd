import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { check } from './check.ts';

/** As many histories as fit: a slow machine plays fewer. */
const { SIMULATE_SECONDS = '60', SIMULATE_SEED = `${randomInt(2 ** 31)}` } = process.env;

test('new histories keep every promise', async () => {
  const { ok, played, report } = await check({
    seed: Number(SIMULATE_SEED),
    stores: ['memory', 'sqlite'],
    seconds: Number(SIMULATE_SECONDS),
  });
  process.stdout.write(`SIMULATE_SEED=${SIMULATE_SEED}: ${played} histories\n`);
  expect(ok, report).toBe(true);
});
