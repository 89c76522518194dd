import { expect, it } from 'vitest';
import { PATIENCE } from '../patience.ts';
import { noRedis } from '../servers/redis.ts';
import type { StoreKind } from './plan.ts';
import { runChaos } from './run.ts';

/** A short `npm run chaos`. */
async function shortRun(store: StoreKind, replicas: number): Promise<void> {
  const kills = 2;
  const report = await runChaos({
    jobs: 10,
    kills,
    store,
    replicas,
    seed: `short run on ${store}`,
    freezes: 1,
    freezeMs: [1_000, 2_000],
    failing: 0.3,
    skewMs: 3_000,
    pauseMs: 150,
    restMs: 1_500 * PATIENCE,
  });
  const { lost, deliveredTwice, submittedTwice, inProgress } = report;
  expect({ lost, deliveredTwice, submittedTwice, inProgress }, `The logs are in ${report.folder}`).toEqual({
    lost: [],
    deliveredTwice: [],
    submittedTwice: [],
    inProgress: [],
  });
  expect(report.kills).toBe(kills);
  expect(report.accepted).toBeGreaterThanOrEqual(10);
  expect(report.delivered + report.toldWhy).toBe(report.accepted);
  expect(report.delivered).toBeGreaterThan(0);
  expect(report.paid).toBeGreaterThanOrEqual(report.delivered);
}

// Concurrent, since most of a run is waiting.
it.concurrent('one process on SQLite that is killed: nothing is lost, nothing comes twice', () =>
  shortRun('sqlite', 1));

it.runIf(noRedis === undefined).concurrent(
  `two processes that are killed, on a Redis that goes away${noRedis === undefined ? '' : `: ${noRedis}`}`,
  () => shortRun('redis', 2),
);
