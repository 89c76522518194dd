import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { HeldLock } from '../../src/core/util/lock.ts';
import { createLocks, localLeases } from '../../src/storage/locks.ts';
import { StorageError } from '../../src/storage/storage.ts';
import { ManualClock } from './manual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Leases shared by several replicas, and their clock. */
function shared() {
  const clock = new ManualClock();
  const leases = localLeases(clock.elapsed);
  const topics = new EventEmitter();
  let ids = 0;
  let isAway = false;
  const replica = (own = clock) =>
    createLocks({
      leases: {
        take: async (...request) => {
          if (isAway) throw new StorageError('unavailable', 'away');
          return await leases.take(...request);
        },
        release: leases.release,
      },
      notifications: {
        publish: async (topic) => void topics.emit(topic),
        subscribe: (topic, listener) => {
          topics.on(topic, listener);
          return () => topics.off(topic, listener);
        },
      },
      clock: own,
      newId: () => `replica ${++ids}`,
    });
  /** Advances the time in seconds, and runs everything that becomes due. */
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += SECOND) {
      clock.advance(SECOND);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const setAway = (away: boolean) => {
    isAway = away;
  };
  return { replica, clock, pass, setAway };
}

/** A replica that crashed during its task, so its timers never fire. */
const died = () => new ManualClock();
const forever = () => new Promise<never>(() => {});

describe('a task of every replica', () => {
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
    const all = [1, 2, 3, 4].map((number) => replica()('register', work(number)));
    await pass(21 * MINUTE);
    await Promise.all(all);
    expect(most).toBe(1);
    expect(done.toSorted()).toEqual([1, 2, 3, 4]);
    expect(clock.timers).toBe(0);
  });

  test('keeps its lock if a renewal fails', async () => {
    const { replica, clock, pass, setAway } = shared();
    const first = replica()('register', () => clock.sleep(2 * MINUTE));
    await pass(15 * SECOND);
    setAway(true);
    await pass(20 * SECOND);
    setAway(false);
    let hasRun = false;
    const second = replica()('register', async () => {
      hasRun = true;
    });
    await pass(80 * SECOND);
    expect(hasRun).toBe(false);
    await pass(10 * SECOND);
    await Promise.all([first, second]);
    expect(hasRun).toBe(true);
  });

  test('releases its lock immediately when it ends or fails', async () => {
    const { replica } = shared();
    const work = Promise.withResolvers<void>();
    const first = replica()('register', () => work.promise);
    const waits = Promise.withResolvers<void>();
    const second = replica()('register', async () => 'done', { onWaiting: waits.resolve });
    await waits.promise;
    work.resolve();
    await first;
    expect(await second).toBe('done');
    await expect(replica()('register', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await replica()('register', async () => 'done')).toBe('done');
  });

  test('can run elsewhere when the lock of a crashed replica expires', async () => {
    const { replica, pass } = shared();
    void replica(died())('register', forever);
    const second = replica()('register', async () => 'done');
    await pass(61 * SECOND);
    expect(await second).toBe('done');
    void replica(died())('brief', forever, { lockMs: 5 * SECOND });
    const soon = replica()('brief', async () => 'soon', { lockMs: 5 * SECOND });
    await pass(6 * SECOND);
    expect(await soon).toBe('soon');
  });

  test('reports a lost lock after a long outage of storage', async () => {
    const { replica, clock, pass, setAway } = shared();
    let lock: HeldLock | undefined;
    const first = replica()('register', async (held) => {
      lock = held;
      await clock.sleep(10 * MINUTE, held.lost);
    });
    await pass(15 * SECOND);
    expect([lock?.isHeld(), lock?.lost.aborted]).toEqual([true, false]);
    setAway(true);
    await pass(MINUTE + SECOND);
    expect([lock?.isHeld(), lock?.lost.aborted]).toEqual([false, true]);
    setAway(false);
    await first;
    expect(await replica()('register', async () => 'done')).toBe('done');
  });

  test('reports a lost lock after its process was suspended, before any timer runs', async () => {
    const { replica, pass } = shared();
    const suspended = died();
    let lock: HeldLock | undefined;
    void replica(suspended)('register', (held) => {
      lock = held;
      return forever();
    });
    void replica()('register', forever);
    await pass(61 * SECOND);
    suspended.advance(MINUTE);
    expect(lock?.isHeld()).toBe(false);
    await expect.poll(() => lock?.lost.aborted).toBe(true);
  });

  test('does not wait for other tasks, or after it is aborted', async () => {
    const { replica, pass } = shared();
    void replica()('register', forever);
    expect(await replica()('other', async () => 'done')).toBe('done');
    const ending = new AbortController();
    const waiting = replica()('register', forever, { signal: ending.signal });
    const end = expect(waiting).rejects.toThrow('enough');
    await pass(SECOND);
    ending.abort(new Error('enough'));
    await end;
  });
});
