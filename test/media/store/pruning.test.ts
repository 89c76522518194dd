import { expect, test, vi } from 'vitest';
import { MediaError } from '../../../src/media/errors.ts';
import { startPruning } from '../../../src/media/store/pruning.ts';
import { RecordingLog } from '../../storage/recording-log.ts';

const USUAL = 10 * 60_000;

/** Pruning whose waits are controlled by the test. */
function start(
  prune: () => Promise<{ removed: number; removedBytes: number; storedBytes: number }>,
  random = () => 0.5,
) {
  const log = new RecordingLog();
  const waits: number[] = [];
  let wake: () => void = () => undefined;
  const pruning = startPruning({
    media: { prune },
    log,
    random,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        waits.push(ms);
        wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  });
  return { log, waits, pruning, wake: () => wake() };
}

const nothing = { removed: 0, removedBytes: 0, storedBytes: 0 };

test('files are pruned a minute after the start and about every ten minutes', async () => {
  const prune = vi.fn(async () => nothing);
  const chances = [0.5, 0, 0.999, 0.5];
  const { waits, wake, pruning } = start(prune, () => chances.shift() ?? 0.5);
  for (const round of [0, 1, 2, 3]) {
    await expect.poll(() => waits).toHaveLength(round + 1);
    expect(prune).toHaveBeenCalledTimes(round);
    if (round < 3) wake();
  }
  const [first, earliest = 0, latest = 0, usual] = waits;
  expect(first).toBe(60_000);
  expect(earliest).toBe(0.9 * USUAL);
  expect(latest).toBeCloseTo(1.1 * USUAL, -5);
  expect(usual).toBe(USUAL);
  await pruning.stop();
});

test('logs deleted files, and continues after a failed round', async () => {
  const prune = vi
    .fn(async () => ({ removed: 2, removedBytes: 10, storedBytes: 5 }))
    .mockRejectedValueOnce(new MediaError('store', 'The media bucket cannot be reached'));
  const { log, waits, wake, pruning } = start(prune);
  wake();
  await expect.poll(() => waits).toHaveLength(2);
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { err: { code: 'store' } } }]);
  wake();
  await expect.poll(() => waits).toHaveLength(3);
  expect(log.lines.at(-1)).toMatchObject({ level: 'info', fields: { removed: 2, removedBytes: 10 } });
  await pruning.stop();
});

test('stopping waits for the current round and starts no other', async () => {
  const round = Promise.withResolvers<typeof nothing>();
  const prune = vi.fn(() => round.promise);
  const { waits, wake, pruning } = start(prune);
  wake();
  await expect.poll(() => prune.mock.calls.length).toBe(1);
  let stopped = false;
  const stopping = pruning.stop().then(() => {
    stopped = true;
  });
  await Promise.resolve();
  expect(stopped).toBe(false);
  round.resolve(nothing);
  await stopping;
  expect(prune).toHaveBeenCalledTimes(1);
  expect(waits.length).toBeLessThanOrEqual(2);
});
