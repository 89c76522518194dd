/** Storage shared by several replicas, as on Redis: records in one SQLite, and a schedule with leases. */
import { EventEmitter } from 'node:events';
import type { RunTools } from '../../src/storage/schedule.ts';
import { sqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { ReusedDatabase } from './databases.ts';
import type { Process } from './kernel.ts';
import { LeasedJobs, leasedSchedule } from './leased-schedule.ts';

/** Milliseconds after which a suspended replica loses its runs. */
const LEASE_MS = 15_000;

export class SharedStorage {
  readonly jobs: LeasedJobs;
  readonly #database: ReusedDatabase;
  readonly #listeners = new EventEmitter().setMaxListeners(0);

  constructor(database: ReusedDatabase, now: () => number) {
    this.#database = database;
    this.jobs = new LeasedJobs(now);
  }

  /** The storage of one replica. */
  of(owner: Process, tools: RunTools): Storage {
    const inner = sqliteStorage(this.#database, tools);
    const schedule = leasedSchedule({ ...tools, jobs: this.jobs, owner, leaseMs: LEASE_MS });
    return {
      ...inner,
      schedule,
      async accept(acceptance) {
        const accepted = await inner.accept(acceptance);
        if (accepted.type === 'accepted') await schedule.add(acceptance.job.id, acceptance.at);
        return accepted;
      },
      async receive(callback) {
        const received = await inner.receive(callback);
        if (received === 'stored') await schedule.wake(callback.job);
        return received;
      },
      notifications: {
        publish: async (job) => void this.#listeners.emit(job),
        subscribe: (job, listener) => {
          this.#listeners.on(job, listener);
          return () => this.#listeners.off(job, listener);
        },
      },
    };
  }

  /** Deletes the timers of open jobs without a current run. */
  loseTimers(): void {
    for (const [job, { lease }] of this.jobs) if (!lease && this.#database.isOpen(job)) this.jobs.delete(job);
  }
}
