import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StorageUnderTest } from './storage.ts';

export function semaphoresContract(current: StorageUnderTest): void {
  const semaphores = () => current.storage.semaphores;
  const acquire = (job: string, limit = 2) => semaphores().acquire('music', job, limit);
  const release = (job: string, limit = 2) => semaphores().release('music', job, limit);

  test('gives slots up to the limit, and queues the others in order', async () => {
    expect([await acquire('a'), await acquire('b'), await acquire('c'), await acquire('d')]).toEqual([
      0, 0, 1, 2,
    ]);
    expect(
      [await acquire('d'), await acquire('a'), await acquire('c')],
      'acquiring again changes nothing',
    ).toEqual([2, 0, 1]);
  });

  test('a release admits the first in the queue, even if another job asks in between', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await acquire(job);
    expect(await release('a')).toEqual(['c']);
    expect(await acquire('late'), 'the free slot is reserved for the first in the queue').toBe(2);
    expect(await acquire('d')).toBe(1);
    expect(await acquire('c')).toBe(0);
    expect(await acquire('d')).toBe(1);
  });

  test('releasing twice or without a slot frees no extra slots, and returns the next jobs again', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await acquire(job);
    expect(await release('unknown')).toEqual([]);
    expect(await release('a')).toEqual(['c']);
    expect(await release('a')).toEqual(['c']);
    expect(await acquire('c')).toBe(0);
    expect(await acquire('d')).toBe(1);
  });

  test('a waiting job can leave the queue, and the others move up', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await acquire(job);
    expect(await release('c')).toEqual([]);
    expect(await acquire('d')).toBe(1);
  });

  test('every queue has its own slots', async () => {
    await acquire('a', 1);
    expect(await acquire('b', 1)).toBe(1);
    expect(await semaphores().acquire('video', 'b', 1)).toBe(0);
    expect(await semaphores().release('video', 'a', 1)).toEqual([]);
    expect(await acquire('a', 1)).toBe(0);
  });

  test('slots and the queue survive a restart', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await acquire(job);
    await current.reopen();
    expect([await acquire('d'), await acquire('b'), await acquire('c')]).toEqual([2, 0, 1]);
    expect(await release('b')).toEqual(['c']);
  });

  test('a lowered limit revokes no slots, but gives no new ones until enough are released', async () => {
    for (const job of ['a', 'b', 'c']) await acquire(job, 3);
    expect(await acquire('a', 1)).toBe(0);
    expect(await acquire('d', 1)).toBe(1);
    expect([await release('a', 1), await release('b', 1), await release('c', 1)]).toEqual([[], [], ['d']]);
    expect(await acquire('d', 1)).toBe(0);
  });

  test('a raised limit admits more jobs', async () => {
    for (const job of ['a', 'b', 'c', 'd', 'e']) await acquire(job);
    expect(await acquire('e', 4)).toBe(1);
    expect([await acquire('c', 4), await acquire('d', 4), await acquire('e', 4)]).toEqual([0, 0, 1]);
  });

  test('concurrent jobs get slots up to the limit and distinct queue positions', async () => {
    const positions = await Promise.all(Array.from({ length: 50 }, (_, index) => acquire(`job${index}`, 5)));
    expect(positions.toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 5 }, () => 0),
      ...Array.from({ length: 45 }, (_, index) => index + 1),
    ]);
  });

  test('lists the jobs with a slot and the next in the queue', async () => {
    expect(await semaphores().holdersAndNext('music', 2)).toEqual([]);
    for (const job of ['a', 'b', 'c', 'd', 'e']) await acquire(job);
    expect((await semaphores().holdersAndNext('music', 2)).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('keeps the limit and the order for any sequence of calls', async () => {
    const step = fc.record({ action: fc.constantFrom('take', 'take', 'leave'), job: fc.nat(7) });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 25 }),
        async (limit, steps) => {
          runs += 1;
          const queue = `run ${runs}`;
          const holding = new Set<string>();
          let waiting: string[] = [];
          for (const { action, job: number } of steps) {
            const job = `job${number}`;
            if (action === 'leave') {
              holding.delete(job);
              waiting = waiting.filter((other) => other !== job);
              const next = await semaphores().release(queue, job, limit);
              expect(next).toEqual(waiting.slice(0, limit - holding.size));
              continue;
            }
            if (!holding.has(job) && !waiting.includes(job)) waiting.push(job);
            const expected = holding.has(job)
              ? 0
              : Math.max(0, waiting.indexOf(job) + 1 - (limit - holding.size));
            expect(await semaphores().acquire(queue, job, limit)).toBe(expected);
            if (expected > 0) continue;
            holding.add(job);
            waiting = waiting.filter((other) => other !== job);
          }
        },
      ),
      { numRuns: 30 },
    );
  });
}
