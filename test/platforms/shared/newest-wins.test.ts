import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createNewestWins } from '../../../src/platforms/shared/newest-wins.ts';

/** A writer whose waits and writes the test completes. */
function open() {
  const written: string[] = [];
  const failures: unknown[] = [];
  const waits: PromiseWithResolvers<void>[] = [];
  const writes: PromiseWithResolvers<void>[] = [];
  const next = (list: PromiseWithResolvers<void>[]) => {
    const step = Promise.withResolvers<void>();
    list.push(step);
    return step.promise;
  };
  const writer = createNewestWins<string>({
    ready: () => next(waits),
    write: (state) => {
      written.push(state);
      return next(writes);
    },
    failed: (error) => void failures.push(error),
  });
  const settle = async (list: PromiseWithResolvers<void>[], error?: Error) => {
    const step = list.shift();
    if (error) step?.reject(error);
    else step?.resolve();
    await nextTurn();
  };
  return {
    writer,
    written,
    failures,
    ready: (error?: Error) => settle(waits, error),
    finished: (error?: Error) => settle(writes, error),
  };
}

it('writes one state at a time, and skips all but the newest waiting state', async () => {
  const { writer, written, ready, finished } = open();
  writer.offer('a');
  writer.offer('b');
  await ready();
  expect(written).toEqual(['b']);
  for (const state of ['c', 'd', 'e']) writer.offer(state);
  await ready();
  expect(written).toEqual(['b']);
  await finished();
  await ready();
  expect(written).toEqual(['b', 'e']);
});

it('continues after a failed write or wait', async () => {
  const { writer, written, failures, ready, finished } = open();
  writer.offer('a');
  await ready();
  writer.offer('b');
  await finished(new Error('write'));
  await ready(new Error('wait'));
  writer.offer('c');
  await ready();
  expect(written).toEqual(['a', 'c']);
  expect(failures).toEqual([new Error('write'), new Error('wait')]);
});

it('closes once no write is in flight, and writes nothing afterwards', async () => {
  const { writer, written, ready, finished } = open();
  writer.offer('a');
  await ready();
  writer.offer('b');
  let isClosed = false;
  const closed = writer.close().then(() => {
    isClosed = true;
  });
  writer.offer('c');
  await nextTurn();
  expect(isClosed).toBe(false);
  await finished();
  await closed;
  await ready();
  expect(written).toEqual(['a']);
});
