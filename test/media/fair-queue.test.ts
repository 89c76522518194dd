import { expect, it } from 'vitest';
import { createFairQueue } from '../../src/media/fair-queue.ts';

it('lets people take turns, each in their order', async () => {
  const inTurn = createFairQueue(1);
  const order: string[] = [];
  const add = (person: string, name: string) =>
    inTurn(person, async () => {
      order.push(name);
    });
  const first = ['a1', 'a2', 'a3', 'a4'].map((name) => add('ada', name));
  await Promise.all([...first, add('bob', 'b1'), add('bob', 'b2'), add('mo', 'm1')]);
  expect(order).toEqual(['a1', 'b1', 'm1', 'a2', 'b2', 'a3', 'a4']);
});

it('runs up to the limit at once, and continues after a failure', async () => {
  const inTurn = createFairQueue(2);
  const gate = Promise.withResolvers<void>();
  let started = 0;
  const wait = () => {
    started += 1;
    return gate.promise;
  };
  const waiting = ['ada', 'bob', 'mo'].map((person) => inTurn(person, wait));
  await expect.poll(() => started).toBe(2);
  gate.reject(new Error('broken'));
  for (const work of waiting) await expect(work).rejects.toThrow('broken');
  expect(started).toBe(3);
  expect(await inTurn('ada', async () => 'fine')).toBe('fine');
});
