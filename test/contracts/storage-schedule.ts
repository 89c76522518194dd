import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WakeHandler } from '../../src/storage/schedule.ts';
import type { StorageUnderTest } from './storage.ts';

const MINUTE = 60_000;

export function scheduleContract(current: StorageUnderTest): void {
  /** Records runs; `answer` decides the next run, by default never. */
  function recorder(answer: WakeHandler = async () => undefined) {
    const handled: { job: string; at: number; interrupted: boolean }[] = [];
    const handler: WakeHandler = (job, signal, lease) => {
      handled.push({ job, at: Date.now(), interrupted: lease.interrupted });
      return answer(job, signal, lease);
    };
    const runs = (job: string) => handled.filter((run) => run.job === job);
    return {
      handler,
      handled,
      times: (job: string) => runs(job).length,
      /** For each run of the job, whether the previous run was interrupted. */
      interrupted: (job: string) => runs(job).map((run) => run.interrupted),
    };
  }

  let isFinished = false;
  const releases: (() => void)[] = [];
  beforeEach(() => {
    isFinished = false;
  });
  // Closing a storage waits for its runs, so release those of a failed test.
  afterEach(() => {
    isFinished = true;
    for (const release of releases.splice(0)) release();
  });

  /** A handler that waits until it is released, at the latest at the end of its test. */
  function gate() {
    const waiting: { job: string; signal: AbortSignal; go: (next?: number) => void }[] = [];
    const handler: WakeHandler = (job, signal) =>
      new Promise((resolve) => {
        if (isFinished) resolve(undefined);
        releases.push(() => resolve(undefined));
        waiting.push({ job, signal, go: (next) => resolve(next) });
      });
    const release = async (next?: number) => {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      waiting.shift()?.go(next);
    };
    return { handler, waiting, release };
  }

  test('runs a woken job before one that is due later', async () => {
    const { handler, handled } = recorder();
    await current.storage.schedule.start(handler, { concurrency: 4 });
    // Later than any test runs.
    await current.storage.schedule.add('late', Date.now() + 10 * MINUTE);
    await current.storage.schedule.wake('a');
    await expect.poll(() => handled).toMatchObject([{ job: 'a' }]);
  });

  test('does not run a scheduled job before its time', async () => {
    const { handler, handled } = recorder();
    await current.storage.schedule.start(handler, { concurrency: 4 });
    const at = Date.now() + 400;
    await current.storage.schedule.add('a', at);
    await expect.poll(() => handled).toHaveLength(1);
    expect(handled[0]?.at).toBeGreaterThanOrEqual(at);
  });

  test('a job may be woken before the start', async () => {
    await current.storage.schedule.wake('a');
    const { handler, times } = recorder();
    await current.storage.schedule.start(handler, { concurrency: 4 });
    await expect.poll(() => times('a')).toBe(1);
  });

  test('runs a later job when it is woken, and keeps the time of a job that is added again', async () => {
    const { handler, handled, times } = recorder();
    await current.storage.schedule.start(handler, { concurrency: 4 });
    await current.storage.schedule.add('a', Date.now() + 10 * MINUTE);
    await current.storage.schedule.wake('a');
    const soon = Date.now() + 300;
    await current.storage.schedule.add('b', soon);
    await current.storage.schedule.add('b', Date.now());
    await expect.poll(() => [times('a'), times('b')]).toEqual([1, 1]);
    expect(handled.find(({ job }) => job === 'b')?.at).toBeGreaterThanOrEqual(soon);
  });

  test('a handler returns the time of the next run', async () => {
    const { handler, handled, times } = recorder(async () =>
      handled.length < 3 ? Date.now() + 100 : undefined,
    );
    await current.storage.schedule.start(handler, { concurrency: 4 });
    await current.storage.schedule.wake('a');
    await expect.poll(() => times('a')).toBe(3);
  });

  test('does not run a job again without a next time, even after a restart', async () => {
    const first = recorder();
    await current.storage.schedule.start(first.handler, { concurrency: 4 });
    await current.storage.schedule.wake('a');
    await expect.poll(() => first.times('a')).toBe(1);
    await current.reopen();
    const second = recorder();
    await current.storage.schedule.start(second.handler, { concurrency: 4 });
    // Any remaining run of "a" would come before this.
    await current.storage.schedule.wake('last');
    await expect.poll(() => second.times('last')).toBe(1);
    expect(second.times('a')).toBe(0);
  });

  test('runs a job once at a time, and once more after wakes during a run', async () => {
    const { handler, waiting, release } = gate();
    await current.storage.schedule.start(handler, { concurrency: 4 });
    await current.storage.schedule.wake('a');
    await expect.poll(() => waiting).toHaveLength(1);
    await Promise.all(Array.from({ length: 20 }, () => current.storage.schedule.wake('a')));
    await current.storage.schedule.wake('b');
    await expect.poll(() => waiting.map(({ job }) => job)).toEqual(['a', 'b']);
    await release();
    await release();
    await expect.poll(() => waiting.map(({ job }) => job)).toEqual(['a']);
    await release();
  });

  test('a wake during a run overrides the time the handler returns', async () => {
    const { handler, waiting, release } = gate();
    await current.storage.schedule.start(handler, { concurrency: 4 });
    await current.storage.schedule.wake('a');
    await expect.poll(() => waiting).toHaveLength(1);
    await current.storage.schedule.wake('a');
    await release(Date.now() + 10 * MINUTE);
    await expect.poll(() => waiting).toHaveLength(1);
    await release();
  });

  test('runs all jobs within the concurrency limit', async () => {
    let running = 0;
    let maximum = 0;
    const { handler, handled } = recorder(async () => {
      running += 1;
      maximum = Math.max(maximum, running);
      await new Promise(setImmediate);
      running -= 1;
      return undefined;
    });
    await current.storage.schedule.start(handler, { concurrency: 3 });
    const jobs = Array.from({ length: 60 }, (_, index) => `job${index}`);
    await Promise.all(jobs.map((job) => current.storage.schedule.wake(job)));
    await expect.poll(() => new Set(handled.map(({ job }) => job)).size).toBe(60);
    expect(maximum).toBeLessThanOrEqual(3);
    expect(handled).toHaveLength(60);
  });

  test('calls a failed handler again as interrupted, without delaying others', async () => {
    const { handler, times, interrupted } = recorder(async (job) => {
      if (job === 'broken' && times('broken') === 1) throw new Error('no luck');
      return undefined;
    });
    await current.storage.schedule.start(handler, { concurrency: 1 });
    await current.storage.schedule.wake('broken');
    await current.storage.schedule.wake('fine');
    await expect.poll(() => times('fine')).toBe(1);
    await expect.poll(() => times('broken')).toBe(2);
    await current.storage.schedule.wake('broken');
    await expect.poll(() => interrupted('broken')).toEqual([false, true, false]);
    expect(interrupted('fine')).toEqual([false]);
  });

  test('stop aborts handlers, waits for them and starts nothing new', async () => {
    const { handler, waiting } = gate();
    await current.storage.schedule.start(handler, { concurrency: 1 });
    await current.storage.schedule.wake('a');
    await expect.poll(() => waiting).toHaveLength(1);
    await current.storage.schedule.wake('b');
    let stopped = false;
    const stopping = current.storage.schedule.stop().then(() => {
      stopped = true;
    });
    await expect.poll(() => waiting[0]?.signal.aborted).toBe(true);
    await current.storage.check();
    expect(stopped).toBe(false);
    waiting[0]?.go();
    await stopping;
    expect(waiting).toHaveLength(1);
  });

  test('scheduled times survive stop, close and reopen', async () => {
    const { handler, waiting } = gate();
    await current.storage.schedule.start(handler, { concurrency: 1 });
    await current.storage.schedule.wake('handled');
    await expect.poll(() => waiting).toHaveLength(1);
    await current.storage.schedule.wake('waiting');
    await current.storage.schedule.wake('handled');
    const stopping = current.storage.schedule.stop();
    await current.storage.schedule.wake('late');
    waiting[0]?.go();
    await stopping;
    await current.reopen();
    const { handler: next, handled } = recorder();
    await current.storage.schedule.start(next, { concurrency: 4 });
    await expect.poll(() => handled.map(({ job }) => job).sort()).toEqual(['handled', 'late', 'waiting']);
  });

  test('calls an aborted handler again after the next start', async () => {
    let runs = 0;
    await current.storage.schedule.start(
      (_job, signal) =>
        new Promise((_resolve, reject) => {
          runs += 1;
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      { concurrency: 1 },
    );
    await current.storage.schedule.wake('a');
    await expect.poll(() => runs).toBe(1);
    await current.reopen();
    const { handler, interrupted } = recorder();
    await current.storage.schedule.start(handler, { concurrency: 1 });
    await expect.poll(() => interrupted('a')).toEqual([true]);
  });

  test('repeats the runs of a killed process as interrupted', async () => {
    await current.storage.schedule.wake('a');
    await current.storage.close();
    const replica = await current.startReplica();
    try {
      await replica.waitForLine('running a');
    } finally {
      await replica.kill();
    }
    await current.open();
    const { handler, interrupted } = recorder();
    await current.storage.schedule.start(handler, { concurrency: 1 });
    await expect.poll(() => interrupted('a')).toEqual([true]);
    await current.storage.schedule.wake('a');
    await expect.poll(() => interrupted('a')).toEqual([true, false]);
  });

  test('lists the jobs that would never run again', async () => {
    const { handler, waiting, release } = gate();
    await current.storage.schedule.start(handler, { concurrency: 4 });
    await current.storage.schedule.wake('handled');
    await current.storage.schedule.add('scheduled', Date.now() + 10 * MINUTE);
    await expect.poll(() => waiting).toHaveLength(1);
    const jobs = ['handled', 'unscheduled', 'scheduled', 'lost'];
    expect(await current.storage.schedule.unscheduled(jobs)).toEqual(['unscheduled', 'lost']);
    expect(await current.storage.schedule.unscheduled([])).toEqual([]);
    await release();
    await expect.poll(() => current.storage.schedule.unscheduled(jobs)).toContain('handled');
  });

  test('rejects an invalid time', async () => {
    await expect(current.storage.schedule.add('a', Number.NaN)).rejects.toThrow(RangeError);
    await expect(current.storage.schedule.add('a', Number.POSITIVE_INFINITY)).rejects.toThrow(RangeError);
  });
}
