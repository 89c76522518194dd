import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { check } from './check.ts';
import { type History, QUIET } from './history.ts';
import { PLANTS } from './plants.ts';
import { Simulator } from './simulate.ts';
import { INVARIANTS } from './watch.ts';

const simulator = new Simulator();
afterAll(() => simulator.close());

const KINDS = [
  'song',
  'song with words first',
  'song in a rough style',
  'lyrics',
  'picture',
  'painting',
  'video',
  'question',
  'question with tools',
] as const;

describe('a history', () => {
  test('is deterministic, down to the last effect', async () => {
    const history: History = {
      ...QUIET,
      seed: 7,
      replicas: 3,
      requests: [{ kind: 'song', afterMs: 0, twice: true }],
      faults: [{ type: 'die', afterSteps: 30, replica: 1, forMs: 5_000 }],
    };
    expect((await simulator.play(history)).trace).toEqual((await simulator.play(history)).trace);
  });

  test.each(['shared', 'sqlite'] as const)('keeps every promise without faults, on %s', async (store) => {
    const requests = KINDS.map((kind) => ({ kind, afterMs: 1_000, twice: false }));
    const { broken, trace } = await simulator.play({ ...QUIET, store, requests });
    expect(broken).toEqual([]);
    expect(trace.join()).toContain('2 files');
  });
});

test('histories of a fixed seed keep every promise', async () => {
  const { ok, report } = await check({ seed: 1, stores: ['shared', 'sqlite'], histories: 200 });
  expect(ok, report).toBe(true);
});

test('every open job ends in time after all faults have stopped, in histories of a fixed seed', async () => {
  const { ok, report } = await check({
    seed: 1,
    stores: ['shared', 'sqlite'],
    histories: 200,
    liveness: true,
  });
  expect(ok, report).toBe(true);
});

test('the audit shares no code with anything', () => {
  expect(readFileSync(join(import.meta.dirname, 'audit.ts'), 'utf8')).not.toMatch(/^import |import\(/m);
});

describe('a broken promise is detected', () => {
  test('by at least one deliberate bug', () => {
    expect(new Set(PLANTS.flatMap(({ breaks }) => breaks))).toEqual(new Set(INVARIANTS));
  });

  const each = PLANTS.flatMap(({ breaks, ...plant }) => breaks.map((promise) => ({ promise, ...plant })));
  test.each(each)('$promise: $fault', async ({ promise, ...plant }) => {
    const liveness = promise === 'ends in time';
    const { report } = await check({
      liveness,
      seed: 1,
      stores: ['shared'],
      histories: 2_000,
      shrinkingSeconds: 0,
      plant,
      invariant: promise,
    });
    expect(report).toContain(`\n${promise}: `);
    expect(report).toMatch(/npm run simulate -- (?:--liveness )?--store shared --seed 1 --path [\d:]+$/);
  });
});
