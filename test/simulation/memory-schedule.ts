import {
  checkTime,
  type DueJob,
  type RunTools,
  runJob,
  type Schedule,
  type WakeHandler,
} from '../../src/storage/schedule.ts';
import type { Process } from './kernel.ts';
import type { Atomically, MemoryData } from './memory-data.ts';

export interface MemoryScheduleOptions extends RunTools {
  readonly data: MemoryData;
  /** The replica whose storage this is. */
  readonly owner: Process;
  /** Milliseconds without a renewal after which another replica takes over the runs of this one. */
  readonly leaseMs: number;
}

interface Running {
  readonly handler: WakeHandler;
  readonly concurrency: number;
  readonly stopping: AbortController;
}

/** Runs under leases, as on Redis: a replica that is silent for too long loses its runs to another one. */
export function memorySchedule(
  { data, owner, leaseMs, ...tools }: MemoryScheduleOptions,
  atomically: Atomically,
): Schedule {
  const { clock } = tools;
  const runs = new Map<string, Promise<void>>();
  let running: Running | undefined;
  let cancelTimer = () => {};
  const onChange = () => waitFor(0);

  const isLeased = ({ until }: { until: number }) => until > data.now();

  function waitFor(milliseconds: number): void {
    cancelTimer();
    cancelTimer = clock.after(milliseconds, poll);
  }

  function poll(): void {
    if (running === undefined) return;
    const { handler, concurrency, stopping } = running;
    for (const [job, scheduled] of data.schedule) {
      if (scheduled.lease && isLeased(scheduled.lease)) continue;
      const { at = Number.POSITIVE_INFINITY, lease, failures } = scheduled;
      const isDue = lease !== undefined || at <= clock.now();
      if (!isDue || runs.size >= concurrency) continue;
      const died = lease === undefined ? 0 : 1;
      data.schedule.set(job, { at: undefined, failures, lease: { owner, until: data.now() + leaseMs } });
      // It was silent for too long, and gets a job that it still runs: it joins that run.
      if (runs.has(job)) continue;
      const started = run(
        { job, at: Math.min(at, clock.now()), failures: failures + died },
        handler,
        stopping.signal,
      );
      runs.set(job, started);
      void started.then(() => {
        runs.delete(job);
        if (running) waitFor(0);
      });
    }
    const pending = [...data.schedule.values()].flatMap(({ at, lease }) =>
      lease ? [lease.until - data.now()] : at === undefined ? [] : [at - clock.now()],
    );
    if (pending.length > 0) waitFor(Math.max(1, Math.min(...pending)));
  }

  async function run(due: DueJob, handler: WakeHandler, signal: AbortSignal): Promise<void> {
    const { job } = due;
    let cancelRenewal = clock.after(leaseMs / 2, renew);
    function renew() {
      const lease = data.schedule.get(job)?.lease;
      if (lease?.owner === owner && isLeased(lease)) lease.until = data.now() + leaseMs;
      cancelRenewal = clock.after(leaseMs / 2, renew);
    }
    const isHeld = () => {
      const lease = data.schedule.get(job)?.lease;
      return lease?.owner === owner && isLeased(lease);
    };
    await runJob(
      { ...due, isHeld },
      handler,
      (at, failures) => atomically(() => end(job, at, failures)),
      signal,
      tools,
    );
    cancelRenewal();
  }

  function end(job: string, at: number | undefined, failures: number): void {
    const scheduled = data.schedule.get(job);
    if (scheduled?.lease?.owner === owner) {
      const next = [scheduled.at, at].filter((time) => time !== undefined);
      if (next.length === 0) data.schedule.delete(job);
      else data.schedule.set(job, { at: Math.min(...next), failures, lease: undefined });
      data.changes.emit('due');
    } else if (at !== undefined) {
      // Another replica has it by now, or has ended it.
      data.wake(job, at);
      const next = data.schedule.get(job);
      if (next && failures > 0) next.failures = failures;
    }
  }

  return {
    wake: async (job, at) => {
      checkTime(at);
      await atomically(() => data.wake(job, at));
    },
    unscheduled: (jobs) => atomically(() => jobs.filter((job) => !data.schedule.has(job))),
    start: (handler, { concurrency }) =>
      atomically(() => {
        if (running !== undefined) throw new Error('The schedule runs already.');
        running = { handler, concurrency, stopping: new AbortController() };
        data.changes.on('due', onChange);
        waitFor(0);
      }),
    async stop() {
      running?.stopping.abort();
      running = undefined;
      data.changes.off('due', onChange);
      cancelTimer();
      await Promise.all(runs.values());
    },
  };
}
