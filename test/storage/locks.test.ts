import { describe, expect, test } from 'vitest';
import { createLocks } from '../../src/storage/locks.ts';

/** Settings that several replicas share, and their clock. */
function shared() {
  const values = new Map<string, unknown>();
  let time = 1_000_000;
  const ids = Array.from({ length: 9 }, (_, index) => `replica ${index}`);
  const replica = () =>
    createLocks({
      settings: {
        update: async (key, change) => {
          values.set(key, change(values.get(key)));
          return values.get(key);
        },
      },
      now: () => time,
      newId: () => ids.pop() ?? '',
      sleep: async (milliseconds) => {
        time += milliseconds;
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
  return { replica, values };
}

describe('a task that every replica runs', () => {
  test('runs in one replica at a time', async () => {
    const { replica } = shared();
    let running = 0;
    let most = 0;
    const done: number[] = [];
    const work = (number: number) => async () => {
      running += 1;
      most = Math.max(most, running);
      for (let step = 0; step < 20; step += 1) await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      done.push(number);
    };
    await Promise.all([1, 2, 3, 4].map((number) => replica().run('register', work(number))));
    expect(most).toBe(1);
    expect(done.toSorted()).toEqual([1, 2, 3, 4]);
  });

  test('is free again when the task fails', async () => {
    const { replica } = shared();
    await expect(replica().run('register', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await replica().run('register', async () => 'done')).toBe('done');
  });

  test('is free again when its replica died in the middle', async () => {
    const { replica } = shared();
    void replica().run('register', () => new Promise(() => {}));
    expect(await replica().run('register', async () => 'done')).toBe('done');
  });

  test('does not wait for a task of another name, and reads any stored value', async () => {
    const { replica, values } = shared();
    values.set('turn:other', 'what is this');
    void replica().run('register', () => new Promise(() => {}));
    expect(await replica().run('other', async () => 'done')).toBe('done');
  });
});
