/**
 * The storage port. One contract suite, `test/contracts/storage.ts`, holds for every implementation. Every method
 * rejects with StorageError when storage fails; a write that rejects as `unavailable` may still have been done.
 */
import type { Address } from '../command.ts';
import type { Job } from '../jobs/job.ts';
import type { Places } from './places.ts';
import type { UsageStore } from './usage.ts';

export interface JobStore {
  /** False, and nothing is written, when a job with this id or of the same invocation exists. */
  create(job: Job): Promise<boolean>;
  /** Rejects as `schema` for a record that cannot be read; lists leave such a job out and log it. */
  read(id: string): Promise<Job | undefined>;
  /**
   * Compare-and-set: writes `job` with `version + 1` if the stored version is still `job.version`, and returns what it
   * wrote; undefined if somebody else was first.
   */
  replace(job: Job): Promise<Job | undefined>;
  /** The person's open jobs in a channel, oldest first. */
  running(where: Pick<Address, 'platform' | 'channel'>, person: string): Promise<Job[]>;
  /** The newest jobs of a channel whose result holds songs, newest first: `ready` ones and those that ended, however. */
  recentSongs(where: Pick<Address, 'platform' | 'channel'>, limit: number): Promise<Job[]>;
  /** Ids of all open jobs. */
  open(): AsyncIterable<string>;
  /** The newest jobs of a person that could be shown nowhere, newest first. */
  unplaced(platform: string, person: string, limit: number): Promise<Job[]>;
  /** Every job that can be read, in no order. */
  all(): AsyncIterable<Job>;
  /** Erases a job with everything that is stored for it. */
  erase(id: string): Promise<void>;
  /** Durations in milliseconds, from submission to the end, of the last delivered jobs of a route, newest first. */
  recentDurations(route: string, limit: number): Promise<number[]>;
}

/** Entries a job's inbox holds. */
export const INBOX_LIMIT = 64;

/** Milliseconds that an inbox is kept after its job ended: nobody reads it then but a callback that comes late. */
export const INBOX_KEPT = 30 * 24 * 3_600_000;

/** A callback as it came. */
export interface InboxEntry {
  /** Counts up within a job, from 1. */
  readonly sequence: number;
  readonly receivedAt: number;
  /** The body, as text. */
  readonly body: string;
}

export interface Inbox {
  /**
   * Durable when it resolves. The same body for the same job is kept once, and true again. Kept until 30 days after the
   * job ended. At most 64 entries a job; false past that.
   */
  put(job: string, body: string, receivedAt: number): Promise<boolean>;
  /** Entries after `sequence`, in order. */
  read(job: string, sequence: number): Promise<InboxEntry[]>;
}

/** Looks at a job and says when to look again (milliseconds since the epoch), or undefined for never. */
export type WakeHandler = (job: string, signal: AbortSignal) => Promise<number | undefined>;

export interface WakeUps {
  /** Durable when it resolves. The earliest wish wins; a wish made while the job is being handled is kept for after. */
  wake(job: string, at: number): Promise<void>;
  /** Those of the jobs for which there is neither a wish nor a handling: nobody would ever look at them again. */
  forgotten(jobs: readonly string[]): Promise<string[]>;
  /**
   * Begins to handle. A job is handled by one replica at a time, and again by another if that one dies: at its start on
   * SQLite, within about 25 s on Redis. A handler that throws is called again after 1 s, doubling to a minute, or when
   * somebody wishes. A replica cut off from Redis for longer may handle a job while another does: writes compare.
   */
  start(handler: WakeHandler, options: { concurrency: number }): Promise<void>;
  /**
   * Starts nothing new, tells running handlers by their signal, and resolves when they ended, however long they take.
   * Wishes are kept; a handler that throws after the signal is called again by the next start.
   */
  stop(): Promise<void>;
}

/** Throws RangeError for a time that would never come. */
export function checkWish(at: number): void {
  if (!Number.isFinite(at)) throw new RangeError(`Cannot wake at ${at}: not a time.`);
}

/** The part of Keyv's store interface that settings need; Keyv itself stays in its rooms. */
export interface SettingsStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Writes what `change` makes of the newest value, and nobody's edit is lost: `change` is called again when somebody was
   * first. It returns the very value it was given to write nothing. Resolves to what is stored now.
   */
  update(key: string, change: (value: unknown) => unknown): Promise<unknown>;
  /** Everything that is stored, in no order. */
  entries(): Promise<(readonly [key: string, value: unknown])[]>;
}

/**
 * Word that something about a job changed, for whoever is at it in any replica. A notice may be lost: what it tells of
 * stands in the job's record.
 */
export interface Notices {
  tell(job: string): Promise<void>;
  /** Calls `heard` at each notice of this job, the process's own too. Returns what ends that. */
  listen(job: string, heard: () => void): () => void;
}

export interface Storage {
  readonly jobs: JobStore;
  readonly inbox: Inbox;
  readonly wakeUps: WakeUps;
  readonly notices: Notices;
  readonly settings: SettingsStore;
  readonly places: Places;
  readonly usage: UsageStore;
  /** The secret of this name; the first caller's `make` decides it, for all replicas and for ever. */
  secret(name: string, make: () => string): Promise<string>;
  /** Every secret with its name, in no order. */
  secrets(): Promise<(readonly [name: string, value: string])[]>;
  /** Throws StorageError when it cannot be read or written now. */
  check(): Promise<void>;
  /** Stops wake-ups first. May be called twice. */
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
  | 'schema';

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
