/**
 * The storage port. Every implementation passes the contract suite `test/contracts/storage.ts`. Every method rejects with
 * StorageError if storage fails. A write that rejects as `unavailable` may still have been done.
 */
import { OperatorError } from '../core/errors.ts';
import type { Address } from '../core/invocation.ts';
import type { Job } from '../core/job.ts';
import type { Schedule } from './schedule.ts';
import type { Ceiling, LimitRefusal, Reservation, UsageStore } from './usage.ts';

/** Selects jobs of similar duration: those of one route, and of one model where the duration depends on it. */
export interface Alike {
  readonly route: string;
  readonly model?: string;
}

export interface JobStore {
  /**
   * Resolves to false, without writing, if a job with this id or invocation exists. An id has letters, digits and dashes, and is
   * not a number.
   */
  create(job: Job): Promise<boolean>;
  /** Rejects as `schema` for an unreadable record. Lists log and skip such a job. */
  read(id: string): Promise<Job | undefined>;
  /** Returns the job of an invocation. Throws like {@link JobStore.read}. */
  ofInvocation(invocation: string): Promise<Job | undefined>;
  /**
   * Compare-and-set: writes `job` with `version + 1` if the stored version is still `job.version`. Resolves to the written job,
   * or to undefined if another write was first.
   */
  replace(job: Job): Promise<Job | undefined>;
  /** Returns the person's open jobs on a platform or in one channel, oldest first. */
  running(
    where: Pick<Address, 'platform'> & Partial<Pick<Address, 'channel'>>,
    person: string,
  ): Promise<Job[]>;
  /**
   * Returns the newest jobs of a channel with songs in their result, newest first: `ready` jobs and those that ended in any way.
   * Leaves out hidden jobs.
   */
  recentSongs(where: Pick<Address, 'platform' | 'channel'>, limit: number): Promise<Job[]>;
  /** Like {@link recentSongs}, for all channels of a server, without direct messages. */
  recentServerSongs(where: Pick<Address, 'platform'> & { guild: string }, limit: number): Promise<Job[]>;
  /** Yields the ids of all open jobs. */
  open(): AsyncIterable<string>;
  /** Counts the open jobs, for metrics. Unordered. */
  openCounts(): Promise<OpenCount[]>;
  /** Returns a person's newest jobs that could not be shown anywhere, newest first. */
  undelivered(platform: string, person: string, limit: number): Promise<Job[]>;
  /** Yields every readable job, unordered. Other work runs in between, as in the two methods below. */
  all(): AsyncIterable<Job>;
  /** Yields every readable job of a person, unordered. */
  ofPerson(platform: string, person: string): AsyncIterable<Job>;
  /** Yields readable jobs that ended before `at` (milliseconds since the epoch), unordered. */
  endedBefore(at: number): AsyncIterable<Job>;
  /** Yields every stored record, unordered. */
  records(): AsyncIterable<JobText>;
  /** Erases a job and everything stored for it. With `version`, resolves to false unless that version is stored. */
  erase(id: string, version?: number): Promise<boolean>;
  /** Returns the durations in milliseconds, from submission to the end, of the last similar jobs delivered, newest first. */
  recentDurations(alike: Alike, limit: number): Promise<number[]>;
}

/** The open jobs of one route in one state. */
export interface OpenCount {
  readonly route: string;
  readonly state: string;
  readonly count: number;
  /** Jobs waiting in the queue for the gateway. */
  readonly queued: number;
  /** Acceptance of the oldest job, in milliseconds since the epoch. */
  readonly oldestAt: number;
}

/** A stored job as JSON. */
export interface JobText {
  readonly id: string;
  readonly record: string;
}

/** Capacity of a job's inbox, far more than any gateway sends. */
export const INBOX_LIMIT = 1_000;

/** Retention of an inbox after its job ended, in milliseconds. */
export const INBOX_KEPT = 30 * 24 * 3_600_000;

/** A received callback. */
export interface InboxEntry {
  /** Increases within a job, from 1. */
  readonly sequence: number;
  readonly receivedAt: number;
  /** The body, as text. */
  readonly body: string;
}

export interface Callback {
  readonly job: string;
  /** The body, as text. */
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

export type Received = 'stored' | 'unknown-job';

export interface Inbox {
  /** Returns the callbacks stored by {@link Storage.receive} after `sequence`, in order. */
  read(job: string, sequence: number): Promise<InboxEntry[]>;
}

/** The part of Keyv's store interface that settings need. Only storage imports Keyv. */
export interface SettingsStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Writes the result of `change` for the newest value. No edit is lost: `change` is called again if another edit was first. If it
   * returns its argument, nothing is written. Resolves to the stored value.
   */
  update(key: string, change: (value: unknown) => unknown): Promise<unknown>;
  /** Yields the keys that begin with `start`, unordered. Reads all keys of the storage. */
  keys(start?: string): AsyncIterable<string>;
}

/** Notifies every replica that a job changed. A notification may be lost, but the job's record has the change. */
export interface Notifications {
  publish(job: string): Promise<void>;
  /** Calls the listener for each notification of this job, including this process's own. Returns the function that unsubscribes. */
  subscribe(job: string, listener: () => void): () => void;
}

/**
 * The port for bounded concurrency: a semaphore for each queue, first come, first served. A slot belongs to a job and not to a
 * process, so a crash does not free it: the job acquires it again.
 */
export interface Semaphores {
  /**
   * Acquires a slot for the job, or queues the job. Resolves to 0 if it has a slot (even if the limit was lowered since), else to
   * its queue position from 1, at most {@link QUEUE_COUNTED}. Safe to repeat.
   */
  acquire(queue: string, job: string, limit: number): Promise<number>;
  /** Releases the job's slot or queue position. Resolves to the jobs to wake, because a slot is free for them. */
  release(queue: string, job: string, limit: number): Promise<string[]>;
  /** Returns the jobs that have a slot, and the first ones in the queue. */
  holdersAndNext(queue: string, limit: number): Promise<string[]>;
}

/** Bounds the cost of a queue position in a long queue. */
export const QUEUE_COUNTED = 1_000;

/** The port for leases: exclusive rights of one replica for a limited time. */
export interface Leases {
  /** Takes a free lease, or extends the holder's own, for `milliseconds` from now. Resolves to whether the holder has it. */
  take(name: string, holder: string, milliseconds: number): Promise<boolean>;
  /** Frees the lease if this holder has it. */
  release(name: string, holder: string): Promise<void>;
}

/** A new job and its reservation. All times are milliseconds since the epoch. */
export interface Acceptance {
  readonly job: Job;
  readonly reservation: Reservation;
  readonly ceilings: readonly Ceiling[];
  /** The first run, unless the job is woken earlier. */
  readonly at: number;
  readonly now: number;
}

export type Accepted =
  | { readonly type: 'accepted' }
  /** A job with this invocation or id exists. */
  | { readonly type: 'known'; readonly job: string }
  | LimitRefusal;

export interface Storage {
  /**
   * Reserves the usage if no ceiling is exceeded, stores the job and schedules it: all or nothing. `known` and `refused`
   * change nothing. A reservation id counts once.
   */
  accept(acceptance: Acceptance): Promise<Accepted>;
  /**
   * Stores the callback in the inbox of its job and wakes the job. Durable when it resolves. A repeated body is stored once, and
   * wakes the job again. Callbacks are deleted 30 days after the job ended. A full inbox drops new ones.
   */
  receive(callback: Callback): Promise<Received>;
  readonly jobs: JobStore;
  readonly inbox: Inbox;
  readonly schedule: Schedule;
  readonly notifications: Notifications;
  readonly settings: SettingsStore;
  readonly semaphores: Semaphores;
  readonly usage: UsageStore;
  readonly leases: Leases;
  /** Returns the secret of this name. The first caller's `make` sets it permanently for all replicas. */
  secret(name: string, make: () => string): Promise<string>;
  /** Returns all secrets with their names, unordered. */
  secrets(): Promise<(readonly [name: string, value: string])[]>;
  /** Throws StorageError if storage cannot be read or written. */
  check(): Promise<void>;
  /** Removes erased data from the storage files. On Redis, asks to rewrite the append-only file. */
  scrub(): Promise<void>;
  /** Stops the schedule, then closes. Safe to call twice. */
  close(): Promise<void>;
}

export type StorageErrorCode =
  /** The disk is full. */
  | 'full'
  /** Another process uses the file. */
  | 'locked'
  /** Storage cannot be reached. */
  | 'unavailable'
  /** This version cannot read the stored data. */
  | 'schema'
  /** Another replica may be running the job, so this run must not do anything that cannot be repeated. */
  | 'lease';

export class StorageError extends OperatorError {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
