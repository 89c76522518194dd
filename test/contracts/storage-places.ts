import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StorageUnderTest } from './storage.ts';

export function placesContract(current: StorageUnderTest): void {
  const places = () => current.storage.places;
  const take = (job: string, limit = 2) => places().take('music', job, limit);
  const leave = (job: string, limit = 2) => places().leave('music', job, limit);

  test('as many as the limit have a place, the others wait in the order they came', async () => {
    expect([await take('a'), await take('b'), await take('c'), await take('d')]).toEqual([0, 0, 1, 2]);
    expect([await take('d'), await take('a'), await take('c')], 'asking again changes nothing').toEqual([
      2, 0, 1,
    ]);
  });

  test('who leaves makes room for the first of the queue, whoever asks in between', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await take(job);
    expect(await leave('a')).toEqual(['c']);
    expect(await take('late'), 'the free place is kept for those who came before').toBe(2);
    expect(await take('d')).toBe(1);
    expect(await take('c')).toBe(0);
    expect(await take('d')).toBe(1);
  });

  test('leaving twice, or without a place, frees no more than there is, and tells again whom to wake', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await take(job);
    expect(await leave('nobody')).toEqual([]);
    expect(await leave('a')).toEqual(['c']);
    expect(await leave('a')).toEqual(['c']);
    expect(await take('c')).toBe(0);
    expect(await take('d')).toBe(1);
  });

  test('who waits may give up, and the others move on', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await take(job);
    expect(await leave('c')).toEqual([]);
    expect(await take('d')).toBe(1);
  });

  test('every queue has its own places', async () => {
    await take('a', 1);
    expect(await take('b', 1)).toBe(1);
    expect(await places().take('video', 'b', 1)).toBe(0);
    expect(await places().leave('video', 'a', 1)).toEqual([]);
    expect(await take('a', 1)).toBe(0);
  });

  test('places and the queue outlive a restart', async () => {
    for (const job of ['a', 'b', 'c', 'd']) await take(job);
    await current.reopen();
    expect([await take('d'), await take('b'), await take('c')]).toEqual([2, 0, 1]);
    expect(await leave('b')).toEqual(['c']);
  });

  test('a limit that was lowered takes no place away and gives none until enough have left', async () => {
    for (const job of ['a', 'b', 'c']) await take(job, 3);
    expect(await take('a', 1)).toBe(0);
    expect(await take('d', 1)).toBe(1);
    expect([await leave('a', 1), await leave('b', 1), await leave('c', 1)]).toEqual([[], [], ['d']]);
    expect(await take('d', 1)).toBe(0);
  });

  test('a limit that was raised lets more in', async () => {
    for (const job of ['a', 'b', 'c', 'd', 'e']) await take(job);
    expect(await take('e', 4)).toBe(1);
    expect([await take('c', 4), await take('d', 4), await take('e', 4)]).toEqual([0, 0, 1]);
  });

  test('many that ask at the same time get no more places than there are, and a place in the queue each', async () => {
    const told = await Promise.all(Array.from({ length: 50 }, (_, index) => take(`job${index}`, 5)));
    expect(told.toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 5 }, () => 0),
      ...Array.from({ length: 45 }, (_, index) => index + 1),
    ]);
  });

  test('tells who has a place and who is next', async () => {
    expect(await places().occupants('music', 2)).toEqual([]);
    for (const job of ['a', 'b', 'c', 'd', 'e']) await take(job);
    expect((await places().occupants('music', 2)).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('in any order of coming and leaving the limit holds, and nobody is passed', async () => {
    const step = fc.record({ does: fc.constantFrom('take', 'take', 'leave'), job: fc.nat(7) });
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
          for (const { does, job: number } of steps) {
            const job = `job${number}`;
            if (does === 'leave') {
              holding.delete(job);
              waiting = waiting.filter((other) => other !== job);
              const next = await places().leave(queue, job, limit);
              expect(next).toEqual(waiting.slice(0, limit - holding.size));
              continue;
            }
            if (!holding.has(job) && !waiting.includes(job)) waiting.push(job);
            const expected = holding.has(job)
              ? 0
              : Math.max(0, waiting.indexOf(job) + 1 - (limit - holding.size));
            expect(await places().take(queue, job, limit)).toBe(expected);
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
