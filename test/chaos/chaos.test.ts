import { expect, it } from 'vitest';
import { noRedis } from '../storage/redis-server.ts';
import type { StoreKind } from './plan.ts';
import { runChaos } from './run.ts';

/** A short run of `npm run chaos`, which anyone can run for longer. */
async function shortRun(store: StoreKind, kills: number): Promise<void> {
  const report = await runChaos({
    jobs: 12,
    kills,
    store,
    seed: `short run on ${store}`,
    pauseMs: 150,
    restMs: 4_000,
  });
  const { lost, deliveredTwice, submittedTwice } = report;
  expect({ lost, deliveredTwice, submittedTwice }, `The logs are in ${report.folder}`).toEqual({
    lost: [],
    deliveredTwice: [],
    submittedTwice: [],
  });
  expect(report.kills).toBe(kills);
  expect(report.accepted).toBeGreaterThanOrEqual(12);
  expect(report.delivered + report.toldWhy).toBe(report.accepted);
  expect(report.delivered).toBeGreaterThan(0);
  expect(report.paid).toBeGreaterThanOrEqual(report.delivered);
}

const RUNS = [
  ['one process on SQLite, killed again and again', 'sqlite', 2],
  // Without a redis-server on the PATH this cannot be run, which test/storage says.
  ...(noRedis === undefined
    ? ([['three processes that are killed, on a Redis that goes away', 'redis', 3]] as const)
    : []),
] as const;

// Side by side, since most of a run is waiting.
it.concurrent.each(RUNS)('%s: every promise is kept', { timeout: 240_000 }, (_what, store, kills) =>
  shortRun(store, kills),
);
