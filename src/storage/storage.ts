/**
 * The storage port. One contract suite, `test/contracts/storage.ts`, holds for every implementation. Every method
 * rejects with StorageError when storage fails; a write that rejects as `unavailable` may still have been done.
 */
import { OperatorError } from '../core/errors.ts';
import type { Address } from '../core/invocation.ts';
import type { Job } from '../core/job.ts';
import type { Schedule } from './schedule.ts';
import type { Ceiling, LimitRefusal, Reservation, UsageStore } from './usage.ts';

/** Jobs that take about equally long: those of one route, and of one model if the model decides how long. */
export interface Alike {
  readonly route: string;
  readonly model?: string;
}

export interface JobStore {
  /**
   * False, and nothing is written, when a job with this id or of the same invocation exists. An id is letters, digits and dashes, and
   * no number.
   */
  create(job: Job): Promise<boolean>;
  /** Rejects as `schema` for a record that cannot be read; lists leave such a job out and log it. */
  read(id: string): Promise<Job | undefined>;
  /** The job of an invocation; as {@link JobStore.read}. */
  ofInvocation(invocation: string): Promise<Job | undefined>;
  /**
   * Compare-and-set: writes `job` with `version + 1` if the stored version is still `job.version`, and returns what it
   * wrote; undefined if another write was first.
   */
  replace(job: Job): Promise<Job | undefined>;
  /** The person's open jobs on a platform, or in one of its channels, oldest first. */
  running(
    where: Pick<Address, 'platform'> & Partial<Pick<Address, 'channel'>>,
    person: string,
  ): Promise<Job[]>;
  /** The newest jobs of a channel whose result holds songs, newest first: `ready` ones and those that ended, however. */
  recentSongs(where: Pick<Address, 'platform' | 'channel'>, limit: number): Promise<Job[]>;
  /** As {@link recentSongs}, of all channels of a server, without direct messages. */
  recentServerSongs(where: Pick<Address, 'platform'> & { guild: string }, limit: number): Promise<Job[]>;
  /** Ids of all open jobs. */
  open(): AsyncIterable<string>;
  /** How many open jobs there are, for operators, in no order. */
  openCounts(): Promise<OpenCount[]>;
  /** The newest jobs of a person that could be shown nowhere, newest first. */
  undelivered(platform: string, person: string, limit: number): Promise<Job[]>;
  /** Every job that can be read, in no order. Other work runs in between, here as in the two walks below. */
  all(): AsyncIterable<Job>;
  /** Every job of a person that can be read, in no order. */
  ofPerson(platform: string, person: string): AsyncIterable<Job>;
  /** Jobs that can be read and ended before then, in milliseconds since the epoch, in no order. */
  endedBefore(at: number): AsyncIterable<Job>;
  /** Every record as it is stored, in no order. */
  records(): AsyncIterable<JobText>;
  /** Erases a job with everything that is stored for it, with `version` only while that is the stored one; false if not. */
  erase(id: string, version?: number): Promise<boolean>;
  /** Durations in milliseconds, from submission to the end, of the last delivered jobs that are alike, newest first. */
  recentDurations(alike: Alike, limit: number): Promise<number[]>;
}

/** The open jobs of one route in one state. */
export interface OpenCount {
  readonly route: string;
  readonly state: string;
  readonly count: number;
  /** How many of them wait in line for the gateway. */
  readonly queued: number;
  /** When the oldest was accepted, in milliseconds since the epoch. */
  readonly oldestAt: number;
}

/** A job as it is stored: JSON. */
export interface JobText {
  readonly id: string;
  readonly record: string;
}

/** Entries that a job's inbox holds, far more than any gateway sends. */
export const INBOX_MOST = 1_000;

/** Milliseconds that an inbox is kept after its job ended: only a late callback reads it then. */
export const INBOX_KEPT = 30 * 24 * 3_600_000;

/** A callback as it came. */
export interface InboxEntry {
  /** Counts up within a job, from 1. */
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
  /** What {@link Storage.receive} put in after `sequence`, in order. */
  read(job: string, sequence: number): Promise<InboxEntry[]>;
}

/** The part of Keyv's store interface that settings need; Keyv itself stays in its folders. */
export interface SettingsStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Writes what `change` makes of the newest value. No edit is lost: `change` is called again when another edit was first. It returns the very value it was given to write nothing. Resolves to what is stored now.
   */
  update(key: string, change: (value: unknown) => unknown): Promise<unknown>;
  /** The keys that begin like this, in no order. Reads all keys of the storage. */
  keys(start?: string): AsyncIterable<string>;
}

/** Notifications to every replica that something about a job changed. One may be lost: the job's record has the change. */
export interface Notifications {
  publish(job: string): Promise<void>;
  /** Calls the listener at each notification of this job, this process's own too. Returns the function that ends it. */
  subscribe(job: string, listener: () => void): () => void;
}

/**
 * The port for bounded concurrency: a semaphore for each queue, with its slots given in the order of asking. A slot
 * belongs to a job and not to a process, so a crash frees none: the job asks for it again.
 */
export interface Semaphores {
  /**
   * Acquires a slot for the job, or keeps the job in the queue. Resolves to 0 when it has a slot (whatever the limit is
   * by now), else to its queue position, from 1; past {@link QUEUE_COUNTED} it is not counted further. Safe to repeat.
   */
  acquire(queue: string, job: string, limit: number): Promise<number>;
  /** Releases the job's slot or queue position. Resolves to the jobs that can have a slot now: wake them. */
  release(queue: string, job: string, limit: number): Promise<string[]>;
  /** The jobs that have a slot, and the first of the queue: the jobs that others wait for. */
  holdersAndNext(queue: string, limit: number): Promise<string[]>;
}

/** Bounds the cost of a queue position in a long queue. */
export const QUEUE_COUNTED = 1_000;

/** The port for leases: what one replica has alone, for some time. */
export interface Leases {
  /** Whether the holder has the lease for so many milliseconds from now on: it is taken where it is free, and extended where it is theirs. */
  take(name: string, holder: string, milliseconds: number): Promise<boolean>;
  /** Frees it where it is this holder's. */
  release(name: string, holder: string): Promise<void>;
}

/** A new job with what it reserves. All times are milliseconds since the epoch. */
export interface Acceptance {
  readonly job: Job;
  readonly reservation: Reservation;
  readonly ceilings: readonly Ceiling[];
  /** When the job runs first, unless it is woken before. */
  readonly at: number;
  readonly now: number;
}

export type Accepted =
  | { readonly type: 'accepted' }
  /** A job of this invocation or id exists: its id. */
  | { readonly type: 'known'; readonly job: string }
  | LimitRefusal;

export interface Storage {
  /**
   * Reserves the usage when no ceiling is passed, stores the job and schedules it: all or nothing. `known` and `refused`
   * change nothing. A reservation whose id was counted before counts once.
   */
  accept(acceptance: Acceptance): Promise<Accepted>;
  /**
   * Puts the callback into the inbox of its job and wakes the job. Durable when it resolves. The same body again is kept once,
   * and wakes the job again. It is kept until 30 days after the job ended; what comes when the inbox is full is dropped.
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
  /** The secret of this name; the first caller's `make` decides it, for all replicas and for ever. */
  secret(name: string, make: () => string): Promise<string>;
  /** Every secret with its name, in no order. */
  secrets(): Promise<(readonly [name: string, value: string])[]>;
  /** Throws StorageError when it cannot be read or written now. */
  check(): Promise<void>;
  /** Removes erased data from the files of the storage too. On Redis, the append-only file is rewritten soon. */
  scrub(): Promise<void>;
  /** Stops the schedule first. May be called twice. */
  close(): Promise<void>;
}

export type StorageErrorCode =
  /** The disk is full. */
  | 'full'
  /** Another process holds the file. */
  | 'locked'
  /** Not reachable now. */
  | 'unavailable'
  /** What is stored cannot be read by this version. */
  | 'schema'
  /** Another replica may run the job by now, so this run must do nothing more that cannot be repeated. */
  | 'lease';

export class StorageError extends OperatorError {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
