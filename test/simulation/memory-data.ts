/** What outlives every replica of a storage in memory. */
import { EventEmitter } from 'node:events';
import type { KeyvStoreAdapter } from 'keyv';
import { isOpen, type Job } from '../../src/core/job.ts';
import type { AtomicStore } from '../../src/storage/keyv-settings.ts';
import { localLeases } from '../../src/storage/leases.ts';
import type { SqliteDatabase } from '../../src/storage/sqlite/database.ts';
import { type SqliteUsage, sqliteUsage } from '../../src/storage/sqlite/usage.ts';
import type { InboxEntry } from '../../src/storage/storage.ts';
import type { Process } from './kernel.ts';

/** Runs an operation of the storage in one go, or rejects with StorageError once it is closed. */
export type Atomically = <Value>(operation: () => Value) => Promise<Value>;

export interface Scheduled {
  at: number | undefined;
  failures: number;
  /** Who runs it, and until when (by the storage's own clock) that replica counts as alive. */
  lease: { readonly owner: Process; until: number } | undefined;
}

export interface Queue {
  readonly held: Set<string>;
  readonly waiting: string[];
}

export class MemoryData {
  /** Records as text: no object is shared with the storage. */
  readonly records = new Map<string, string>();
  readonly invocations = new Map<string, string>();
  readonly inboxes = new Map<string, (InboxEntry & { readonly kind: string | undefined })[]>();
  readonly schedule = new Map<string, Scheduled>();
  readonly queues = new Map<string, Queue>();
  readonly settings: KeyvStoreAdapter & AtomicStore;
  readonly secrets = new Map<string, string>();
  /** In SQLite's memory: its rules are many, and not what is simulated. */
  readonly usage: SqliteUsage;
  readonly leases = localLeases(() => this.now());
  readonly notifications = new EventEmitter().setMaxListeners(0);
  /** Emits `due` whenever a job may have become due earlier. */
  readonly changes = new EventEmitter().setMaxListeners(0);
  /** Milliseconds since the epoch by the storage's own clock, which leases go by. */
  readonly now: () => number;

  /** @param database in which usage is counted */
  constructor(now: () => number, database: SqliteDatabase) {
    this.now = now;
    this.settings = textStore();
    this.usage = sqliteUsage(database);
  }

  /** Whose lease on the job is not over. */
  holderOf(job: string): Process | undefined {
    const lease = this.schedule.get(job)?.lease;
    return lease && lease.until > this.now() ? lease.owner : undefined;
  }

  /** Loses the timers of open jobs that nothing runs under. */
  loseTimers(): void {
    for (const [id, { lease }] of this.schedule) {
      const job = this.job(id);
      if (!lease && job && isOpen(job)) this.schedule.delete(id);
    }
  }

  job(id: string): Job | undefined {
    const record = this.records.get(id);
    // Only the storage writes records, from jobs.
    return record === undefined ? undefined : (JSON.parse(record) as Job);
  }

  jobs(): Job[] {
    return [...this.records.keys()].flatMap((id) => this.job(id) ?? []);
  }

  wake(job: string, at: number): void {
    const known = this.schedule.get(job) ?? { at: undefined, failures: 0, lease: undefined };
    this.schedule.set(job, { ...known, at: Math.min(at, known.at ?? at) });
    this.changes.emit('due');
  }
}

function textStore(): KeyvStoreAdapter & AtomicStore {
  const texts = new Map<string, string>();
  return {
    opts: {},
    get: async <Value>(key: string) => texts.get(key) as Value | undefined,
    set: async (key, value: string) => {
      texts.set(key, value);
      return true;
    },
    delete: async (key) => texts.delete(key),
    clear: async () => texts.clear(),
    on() {
      return this;
    },
    compareAndSet: async (key, before, after) => {
      if (texts.get(key) !== before) return false;
      texts.set(key, after);
      return true;
    },
    list: async () => [...texts],
  };
}
