import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type History, histories } from './history.ts';
import { simulate } from './simulate.ts';

const QUIET: History = {
  seed: 0,
  store: 'memory',
  replicas: 1,
  requests: [{ kind: 'song', afterMs: 0, twice: false }],
  faults: [],
  paid: [],
  outcomes: [],
  polls: [],
  channel: [],
  storage: [],
};

describe('a history', () => {
  test('is the same each time, to the last effect', async () => {
    const history: History = {
      ...QUIET,
      seed: 7,
      replicas: 3,
      faults: [{ type: 'die', afterSteps: 30, replica: 1, forMs: 5_000 }],
    };
    expect((await simulate(history)).trace).toEqual((await simulate(history)).trace);
  });

  test.each(['memory', 'sqlite'] as const)('without faults keeps every promise, on %s', async (store) => {
    const kinds = ['song', 'song with words first', 'picture', 'video', 'question'] as const;
    const requests = kinds.map((kind) => ({ kind, afterMs: 1_000, twice: false }));
    const { broken, trace } = await simulate({ ...QUIET, store, requests });
    expect(broken).toEqual([]);
    expect(trace.join()).toContain('2 files');
  });

  test('in which a replica stands still past its lease pays once', async () => {
    const { broken } = await simulate({
      ...QUIET,
      seed: 569102705,
      replicas: 2,
      requests: [{ kind: 'song with words first', afterMs: 1_000, twice: true, cancelAfterMs: 40_000 }],
      faults: [
        { type: 'freeze', afterSteps: 7, replica: 0, forMs: 0 },
        { type: 'freeze', afterSteps: 58, replica: 1, forMs: 2_700_000 },
        { type: 'freeze', afterSteps: 28, replica: 0, forMs: 2_700_000 },
        { type: 'freeze', afterSteps: 38, replica: 0, forMs: 60_000 },
      ],
    });
    expect(broken).toEqual([]);
  });

  test('of any kind keeps every promise, through deaths, lost answers and repeated callbacks', async () => {
    const calm = histories(fc.constant('memory')).map((history) => ({
      ...history,
      faults: history.faults.filter(({ type }) => type !== 'freeze'),
    }));
    await fc.assert(
      fc.asyncProperty(calm, async (history) => {
        const { broken } = await simulate(history);
        expect(broken).toEqual([]);
      }),
      { numRuns: 300, seed: 16 },
    );
  });
});
