import { expect, it } from 'vitest';
import { noRedis } from '../servers/redis.ts';
import type { StoreKind } from './plan.ts';
import { runChaos } from './run.ts';

/** A short `npm run chaos`. */
async function shortRun(store: StoreKind, kills: number): Promise<void> {
  const report = await runChaos({
    jobs: 12,
    kills,
    store,
    seed: `short run on ${store}`,
    freezes: 1,
    freezeMs: [2_000, 3_000],
    failing: 0.3,
    skewMs: 3_000,
    pauseMs: 150,
    restMs: 4_000,
  });
  const { lost, deliveredTwice, submittedTwice, inProgress } = report;
  expect({ lost, deliveredTwice, submittedTwice, inProgress }, `The logs are in ${report.folder}`).toEqual({
    lost: [],
    deliveredTwice: [],
    submittedTwice: [],
    inProgress: [],
  });
  expect(report.kills).toBe(kills);
  expect(report.accepted).toBeGreaterThanOrEqual(12);
  expect(report.delivered + report.toldWhy).toBe(report.accepted);
  expect(report.delivered).toBeGreaterThan(0);
  expect(report.paid).toBeGreaterThanOrEqual(report.delivered);
}

// Concurrent, since most of a run is waiting.
it.concurrent('one process on SQLite that is killed: nothing is lost, nothing comes twice', () =>
  shortRun('sqlite', 2));

it.runIf(noRedis === undefined).concurrent(
  `three processes that are killed, on a Redis that goes away${noRedis === undefined ? '' : `: ${noRedis}`}`,
  () => shortRun('redis', 3),
);
