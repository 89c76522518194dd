import { describe, expect, it } from 'vitest';
import { noRedis } from '../storage/redis-server.ts';
import type { StoreKind } from './plan.ts';
import { runChaos } from './run.ts';

/** A short run of `npm run chaos`, which anyone can run for longer. */
async function shortRun(store: StoreKind, kills: number): Promise<void> {
  const report = await runChaos({ jobs: 14, kills, store, seed: `short run on ${store}`, pauseMs: 200 });
  const { lost, deliveredTwice, submittedTwice } = report;
  expect({ lost, deliveredTwice, submittedTwice }, `The logs are in ${report.folder}`).toEqual({
    lost: [],
    deliveredTwice: [],
    submittedTwice: [],
  });
  expect(report.kills).toBe(kills);
  expect(report.accepted).toBeGreaterThanOrEqual(14);
  expect(report.delivered + report.toldWhy).toBe(report.accepted);
  expect(report.delivered).toBeGreaterThan(0);
}

const LONG = { timeout: 240_000 };

it('one process on SQLite, killed again and again, keeps every promise', LONG, () => shortRun('sqlite', 2));

describe.runIf(noRedis === undefined)(noRedis ?? 'replicas on Redis', () => {
  it('three processes that are killed, on a Redis that goes away, keep every promise', LONG, () =>
    shortRun('redis', 3),
  );
});
