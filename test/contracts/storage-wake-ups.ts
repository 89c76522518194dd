import { expect, test, vi } from 'vitest';
import type { WakeHandler } from '../../src/storage/storage.ts';
import { type Replica, startReplica } from '../storage/replica-process.ts';
import type { StorageUnderTest } from './storage.ts';

const MINUTE = 60_000;

export function wakeUpContract(current: StorageUnderTest): void {
  /** Handles and remembers; `answer` is what the handler says, by default never again. */
  function recorder(answer: WakeHandler = async () => undefined) {
    const handled: { job: string; at: number }[] = [];
    const handler: WakeHandler = (job, signal) => {
      handled.push({ job, at: Date.now() });
      return answer(job, signal);
    };
    return { handler, handled, times: (job: string) => handled.filter((one) => one.job === job).length };
  }

  /** A handler that waits until it is let go. */
  function gate() {
    const waiting: { job: string; signal: AbortSignal; go: (next?: number) => void }[] = [];
    const handler: WakeHandler = (job, signal) =>
      new Promise((resolve) => {
        waiting.push({ job, signal, go: (next) => resolve(next) });
      });
    const letGo = async (next?: number) => {
      await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(0), 10_000);
      waiting.shift()?.go(next);
    };
    return { handler, waiting, letGo };
  }

  test('a wish of now is handled at once', async () => {
    const { handler, handled } = recorder();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    const wished = Date.now();
    await current.storage.wakeUps.wake('a', wished);
    await vi.waitFor(() => expect(handled).toHaveLength(1), { interval: 5, timeout: 10_000 });
    expect((handled[0]?.at ?? 0) - wished).toBeLessThan(2_000);
  });

  test('a wish for later is not handled before its time', async () => {
    const { handler, handled } = recorder();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    const at = Date.now() + 400;
    await current.storage.wakeUps.wake('a', at);
    await vi.waitFor(() => expect(handled).toHaveLength(1), 10_000);
    expect(handled[0]?.at).toBeGreaterThanOrEqual(at);
  });

  test('a job may be woken while nobody handles yet', async () => {
    await current.storage.wakeUps.wake('a', Date.now());
    const { handler, times } = recorder();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await vi.waitFor(() => expect(times('a')).toBe(1), 10_000);
  });

  test('the earliest wish wins, whichever came first', async () => {
    const { handler, handled, times } = recorder();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await current.storage.wakeUps.wake('a', Date.now() + 10 * MINUTE);
    await current.storage.wakeUps.wake('a', Date.now());
    const soon = Date.now() + 300;
    await current.storage.wakeUps.wake('b', soon);
    await current.storage.wakeUps.wake('b', soon + 10 * MINUTE);
    await vi.waitFor(() => expect([times('a'), times('b')]).toEqual([1, 1]), 10_000);
    expect(handled.find(({ job }) => job === 'b')?.at).toBeGreaterThanOrEqual(soon);
  });

  test('many wishes at the same time: the earliest of them wins', async () => {
    const { handler, times } = recorder();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        current.storage.wakeUps.wake('a', Date.now() + (index === 20 ? 50 : 10 * MINUTE + index)),
      ),
    );
    await vi.waitFor(() => expect(times('a')).toBe(1), 10_000);
  });

  test('a handler says when to look again', async () => {
    const { handler, handled, times } = recorder(async () =>
      handled.length < 3 ? Date.now() + 100 : undefined,
    );
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await current.storage.wakeUps.wake('a', Date.now());
    await vi.waitFor(() => expect(times('a')).toBe(3), 10_000);
  });

  test('a handler that says never is not called again, not even after a restart', async () => {
    const first = recorder();
    await current.storage.wakeUps.start(first.handler, { concurrency: 4 });
    await current.storage.wakeUps.wake('a', Date.now());
    await vi.waitFor(() => expect(first.times('a')).toBe(1), 10_000);
    await current.reopen();
    const second = recorder();
    await current.storage.wakeUps.start(second.handler, { concurrency: 4 });
    // Whatever was left of "a" would come before this.
    await current.storage.wakeUps.wake('last', Date.now());
    await vi.waitFor(() => expect(second.times('last')).toBe(1), 10_000);
    expect(second.times('a')).toBe(0);
  });

  test('one handler a job at a time, however often it is woken; the wish is kept for after', async () => {
    const { handler, waiting, letGo } = gate();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await current.storage.wakeUps.wake('a', Date.now());
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    await Promise.all(Array.from({ length: 20 }, () => current.storage.wakeUps.wake('a', Date.now())));
    await current.storage.wakeUps.wake('b', Date.now());
    await vi.waitFor(() => expect(waiting.map(({ job }) => job)).toEqual(['a', 'b']), 10_000);
    await letGo();
    await letGo();
    await vi.waitFor(() => expect(waiting.map(({ job }) => job)).toEqual(['a']), 10_000);
    await letGo();
  });

  test('a wish for later made during handling is kept, also when the handler says never', async () => {
    const { handler, waiting, letGo } = gate();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await current.storage.wakeUps.wake('a', Date.now());
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    const at = Date.now() + 400;
    await current.storage.wakeUps.wake('a', at);
    await letGo();
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    expect(Date.now()).toBeGreaterThanOrEqual(at);
    await letGo();
  });

  test('a wish made during handling counts when it is earlier than what the handler says', async () => {
    const { handler, waiting, letGo } = gate();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await current.storage.wakeUps.wake('a', Date.now());
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    await current.storage.wakeUps.wake('a', Date.now());
    await letGo(Date.now() + 10 * MINUTE);
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    await letGo();
  });

  test('no more handlers at once than allowed, and all jobs get their turn', async () => {
    let running = 0;
    let most = 0;
    const { handler, handled } = recorder(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return undefined;
    });
    await current.storage.wakeUps.start(handler, { concurrency: 3 });
    const jobs = Array.from({ length: 60 }, (_, index) => `job${index}`);
    await Promise.all(jobs.map((job) => current.storage.wakeUps.wake(job, Date.now())));
    await vi.waitFor(() => expect(new Set(handled.map(({ job }) => job)).size).toBe(60), 10_000);
    expect(most).toBeLessThanOrEqual(3);
    expect(handled).toHaveLength(60);
  });

  test('a handler that throws is called again, and does not hold up the others', async () => {
    const { handler, times } = recorder(async (job) => {
      if (job === 'broken' && times('broken') === 1) throw new Error('no luck');
      return undefined;
    });
    await current.storage.wakeUps.start(handler, { concurrency: 1 });
    await current.storage.wakeUps.wake('broken', Date.now());
    await current.storage.wakeUps.wake('fine', Date.now());
    await vi.waitFor(() => expect(times('fine')).toBe(1), 10_000);
    await vi.waitFor(() => expect(times('broken')).toBe(2), 10_000);
  });

  test('stop tells handlers, waits for their end, and starts nothing new', async () => {
    const { handler, waiting } = gate();
    await current.storage.wakeUps.start(handler, { concurrency: 1 });
    await current.storage.wakeUps.wake('a', Date.now());
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    await current.storage.wakeUps.wake('b', Date.now());
    let stopped = false;
    const stopping = current.storage.wakeUps.stop().then(() => {
      stopped = true;
    });
    await vi.waitFor(() => expect(waiting[0]?.signal.aborted).toBe(true), 10_000);
    await current.storage.check();
    expect(stopped).toBe(false);
    waiting[0]?.go();
    await stopping;
    expect(waiting).toHaveLength(1);
  });

  test('wishes outlive stop, close and reopen', async () => {
    const { handler, waiting } = gate();
    await current.storage.wakeUps.start(handler, { concurrency: 1 });
    await current.storage.wakeUps.wake('handled', Date.now());
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    await current.storage.wakeUps.wake('waiting', Date.now());
    await current.storage.wakeUps.wake('handled', Date.now());
    const stopping = current.storage.wakeUps.stop();
    await current.storage.wakeUps.wake('late', Date.now());
    waiting[0]?.go();
    await stopping;
    await current.reopen();
    const { handler: next, handled } = recorder();
    await current.storage.wakeUps.start(next, { concurrency: 4 });
    await vi.waitFor(
      () => expect(handled.map(({ job }) => job).sort()).toEqual(['handled', 'late', 'waiting']),
      10_000,
    );
  });

  test('a handler that gives up because of the stop is called again after the start', async () => {
    await current.storage.wakeUps.start(
      (_job, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { concurrency: 1 },
    );
    await current.storage.wakeUps.wake('a', Date.now());
    await current.reopen();
    const { handler, times } = recorder();
    await current.storage.wakeUps.start(handler, { concurrency: 1 });
    await vi.waitFor(() => expect(times('a')).toBe(1), 10_000);
  });

  test('what a killed process was handling is handled again', async () => {
    await current.storage.wakeUps.wake('a', Date.now());
    await current.storage.close();
    const replica: Replica = await startReplica(current.place, 'hang');
    try {
      await replica.said('handling a');
    } finally {
      await replica.kill();
    }
    await current.open();
    const { handler, times } = recorder();
    await current.storage.wakeUps.start(handler, { concurrency: 1 });
    await vi.waitFor(() => expect(times('a')).toBe(1), 15_000);
  });

  test('tells the jobs that nobody would ever look at', async () => {
    const { handler, waiting, letGo } = gate();
    await current.storage.wakeUps.start(handler, { concurrency: 4 });
    await current.storage.wakeUps.wake('handled', Date.now());
    await current.storage.wakeUps.wake('wished', Date.now() + 10 * MINUTE);
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);
    const jobs = ['handled', 'forgotten', 'wished', 'lost'];
    expect(await current.storage.wakeUps.forgotten(jobs)).toEqual(['forgotten', 'lost']);
    expect(await current.storage.wakeUps.forgotten([])).toEqual([]);
    await letGo();
    await vi.waitFor(
      async () => expect(await current.storage.wakeUps.forgotten(jobs)).toContain('handled'),
      10_000,
    );
  });

  test('a time that never comes is refused', async () => {
    await expect(current.storage.wakeUps.wake('a', Number.NaN)).rejects.toThrow(RangeError);
    await expect(current.storage.wakeUps.wake('a', Number.POSITIVE_INFINITY)).rejects.toThrow(RangeError);
  });
}
