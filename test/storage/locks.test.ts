import { describe, expect, test } from 'vitest';
import { createLocks } from '../../src/storage/locks.ts';
import { StorageError } from '../../src/storage/storage.ts';
import { ManualClock } from './manual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Settings that several replicas share, and their clock. */
function shared() {
  const values = new Map<string, unknown>();
  const clock = new ManualClock();
  let ids = 0;
  let isAway = false;
  const replica = (own = clock) =>
    createLocks({
      settings: {
        update: async (key, change) => {
          if (isAway) throw new StorageError('unavailable', 'away');
          values.set(key, change(values.get(key)));
          return values.get(key);
        },
      },
      clock: own,
      newId: () => `replica ${++ids}`,
    });
  /** Time passes second by second, and everything that it sets off happens in it. */
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += SECOND) {
      clock.advance(SECOND);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const setAway = (away: boolean) => {
    isAway = away;
  };
  return { replica, values, clock, pass, setAway };
}

/** A replica that died in the middle of its task: for it, no time passes. */
const died = () => new ManualClock();
const forever = () => new Promise<never>(() => {});

describe('a task that every replica runs', () => {
  test('runs in one replica at a time, however long it takes', async () => {
    const { replica, clock, pass } = shared();
    let running = 0;
    let most = 0;
    const done: number[] = [];
    const work = (number: number) => async () => {
      running += 1;
      most = Math.max(most, running);
      await clock.sleep(5 * MINUTE);
      running -= 1;
      done.push(number);
    };
    const all = [1, 2, 3, 4].map((number) => replica().run('register', work(number)));
    await pass(21 * MINUTE);
    await Promise.all(all);
    expect(most).toBe(1);
    expect(done.toSorted()).toEqual([1, 2, 3, 4]);
    expect(clock.timers).toBe(0);
  });

  test('stays alone when a renewal fails', async () => {
    const { replica, clock, pass, setAway } = shared();
    const first = replica().run('register', () => clock.sleep(2 * MINUTE));
    await pass(15 * SECOND);
    setAway(true);
    await pass(20 * SECOND);
    setAway(false);
    let hasRun = false;
    const second = replica().run('register', async () => {
      hasRun = true;
    });
    await pass(80 * SECOND);
    expect(hasRun).toBe(false);
    await pass(10 * SECOND);
    await Promise.all([first, second]);
    expect(hasRun).toBe(true);
  });

  test('is free again when the task fails', async () => {
    const { replica } = shared();
    await expect(replica().run('register', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await replica().run('register', async () => 'done')).toBe('done');
  });

  test('is free again a minute after its replica died in the middle', async () => {
    const { replica, pass } = shared();
    void replica(died()).run('register', forever);
    const second = replica().run('register', async () => 'done');
    await pass(61 * SECOND);
    expect(await second).toBe('done');
  });

  test('does not wait for a task of another name, and reads any stored value', async () => {
    const { replica, values } = shared();
    values.set('lock:other', 'what is this');
    void replica().run('register', forever);
    expect(await replica().run('other', async () => 'done')).toBe('done');
  });
});
