/** A schedule shared by several replicas with leases, as on Redis: a replica that is silent for too long loses its runs. */
import { EventEmitter } from 'node:events';
import {
  type NextRun,
  type RunTools,
  runJob,
  type Schedule,
  storeEnd,
  type WakeHandler,
} from '../../src/storage/schedule.ts';
import type { Process } from './kernel.ts';

interface Scheduled {
  readonly at: number | undefined;
  readonly failures: number;
  /** The replica that runs the job, and until when it counts as alive (by the storage's clock). */
  readonly lease: { readonly owner: Process; until: number } | undefined;
}

/** State that outlives every replica. */
export class LeasedJobs extends Map<string, Scheduled> {
  /** Emits `due` whenever a job may be due earlier. */
  readonly changes = new EventEmitter().setMaxListeners(0);
  /** Milliseconds since the epoch by the storage's clock, which leases use. */
  readonly now: () => number;

  constructor(now: () => number) {
    super();
    this.now = now;
  }

  /** The replica with a valid lease on the job. */
  holderOf(job: string): Process | undefined {
    const lease = this.get(job)?.lease;
    return lease && lease.until > this.now() ? lease.owner : undefined;
  }

  change(job: string, scheduled: Scheduled): void {
    this.set(job, scheduled);
    this.changes.emit('due');
  }
}

export interface LeasedScheduleOptions extends RunTools {
  readonly jobs: LeasedJobs;
  /** The replica that owns this schedule. */
  readonly owner: Process;
  /** Milliseconds without a renewal after which another replica takes over. */
  readonly leaseMs: number;
}

interface Running {
  readonly handler: WakeHandler;
  readonly concurrency: number;
  readonly stopping: AbortController;
}

export function leasedSchedule({ jobs, owner, leaseMs, ...tools }: LeasedScheduleOptions): Schedule {
  const { clock } = tools;
  const runs = new Map<string, Promise<void>>();
  let running: Running | undefined;
  let cancelTimer = () => {};
  const onChange = () => waitFor(0);
  const isHeld = (job: string) => jobs.holderOf(job) === owner;

  function waitFor(milliseconds: number): void {
    cancelTimer();
    cancelTimer = clock.after(milliseconds, poll);
  }

  function poll(): void {
    if (running === undefined) return;
    const { handler, concurrency, stopping } = running;
    for (const [job, { at = Number.POSITIVE_INFINITY, lease, failures }] of jobs) {
      const isDue = lease ? jobs.holderOf(job) === undefined : at <= clock.now();
      if (!isDue || runs.size >= concurrency) continue;
      jobs.set(job, { at: undefined, failures, lease: { owner, until: jobs.now() + leaseMs } });
      // It was silent for too long and gets a job that it still runs, so it joins that run.
      if (runs.has(job)) continue;
      const dueAt = Math.min(at, clock.now());
      const started = run(job, dueAt, failures + (lease ? 1 : 0), handler, stopping.signal);
      runs.set(job, started);
      void started.then(() => {
        runs.delete(job);
        if (running) waitFor(0);
      });
    }
    const pending = [...jobs.values()].flatMap(({ at, lease }) =>
      lease ? [lease.until - jobs.now()] : at === undefined ? [] : [at - clock.now()],
    );
    if (pending.length > 0) waitFor(Math.max(1, Math.min(...pending)));
  }

  async function run(
    job: string,
    dueAt: number,
    failures: number,
    handler: WakeHandler,
    signal: AbortSignal,
  ): Promise<void> {
    let cancelRenewal = clock.after(leaseMs / 2, renew);
    function renew() {
      const lease = jobs.get(job)?.lease;
      if (lease && isHeld(job)) lease.until = jobs.now() + leaseMs;
      cancelRenewal = clock.after(leaseMs / 2, renew);
    }
    const due = { job, failures, dueAt: async () => dueAt, isHeld: () => isHeld(job) };
    const next = await runJob(due, handler, signal, tools);
    await storeEnd(job, async () => end(job, next), signal, tools);
    cancelRenewal();
  }

  function end(job: string, { at, failures }: NextRun): void {
    const scheduled = jobs.get(job);
    // Otherwise another replica runs it, or will.
    if (scheduled?.lease?.owner !== owner) return;
    const next = [scheduled.at, at].filter((time) => time !== undefined);
    if (next.length === 0) jobs.delete(job);
    else jobs.change(job, { at: Math.min(...next), failures, lease: undefined });
  }

  return {
    async add(job, at) {
      if (!jobs.has(job)) jobs.change(job, { at, failures: 0, lease: undefined });
    },
    async wake(job) {
      const { at = clock.now(), failures = 0, lease } = jobs.get(job) ?? {};
      jobs.change(job, { at: Math.min(at, clock.now()), failures, lease });
    },
    unscheduled: async (ids) => ids.filter((id) => !jobs.has(id)),
    async start(handler, { concurrency }) {
      running = { handler, concurrency, stopping: new AbortController() };
      jobs.changes.on('due', onChange);
      waitFor(0);
    },
    async stop() {
      running?.stopping.abort();
      running = undefined;
      jobs.changes.off('due', onChange);
      cancelTimer();
      await Promise.all(runs.values());
    },
  };
}
