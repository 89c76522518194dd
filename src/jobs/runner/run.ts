/** One run of a job: its newest record, and the events that are not written yet. */
import { isDeepStrictEqual } from 'node:util';
import type { Job, JobFailure } from '../../core/job.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import type { JobEvent, RecordedFields } from '../events.ts';
import { transition } from '../transitions.ts';
import { afterOvertaking, isPost } from './overtaken.ts';
import { pauseToStoreAgain, type RunOptions } from './retries.ts';

/** `now`: the record moved on, run at once. A number: run then, in milliseconds since the epoch. Undefined: never. */
export type Next = 'now' | number | undefined;

/** Does what is next for a job, as events of its run. The signal hands the work over: the process stops. */
export type Step = (run: JobRun, signal: AbortSignal) => Promise<Next>;

type JobRecords = Pick<Storage['jobs'], 'read' | 'replace'>;

/** A write that failed, though it may have been done: the record, and how many events it holds. */
interface UnansweredWrite {
  readonly job: Job;
  readonly events: number;
}

export class JobRun {
  readonly #records: JobRecords;
  /** The record as it was read or written last. */
  #stored: Job;
  #job: Job;
  #events: readonly JobEvent[] = [];
  #saving: Promise<void> = Promise.resolve();
  #unanswered: UnansweredWrite | undefined;
  readonly #options: RunOptions | undefined;

  private constructor(job: Job, records: JobRecords, options: RunOptions | undefined) {
    this.#stored = job;
    this.#job = job;
    this.#records = records;
    this.#options = options;
  }

  /** Undefined where there is no such job. Throws StorageError. */
  static async load(
    id: string,
    { jobs }: Pick<Storage, 'jobs'>,
    options?: RunOptions,
  ): Promise<JobRun | undefined> {
    const job = await jobs.read(id);
    return job && new JobRun(job, jobs, options);
  }

  /** The record with every event of this run, written or not. */
  get job(): Job {
    return this.#job;
  }

  /**
   * Throws StorageError if another replica may run the job by now. Called right before a step that cannot be undone, so that
   * a process that was suspended learns this before it sends anything.
   */
  assertHeld(): void {
    if (!this.#isHeld()) throw new StorageError('lease', 'Another replica may have taken over.');
  }

  #isHeld(): boolean {
    return this.#options?.isHeld() ?? true;
  }

  apply(event: JobEvent): void {
    const next = transition(this.#job, event);
    if (next === this.#job) return;
    this.#job = next;
    this.#events = [...this.#events, event];
  }

  /** What was learned that changes no state. */
  record(fields: RecordedFields): void {
    this.apply({ type: 'recorded', fields });
  }

  /** The work failed; its person is told next. */
  fail(failure: JobFailure): 'now' {
    this.apply({ type: 'failed', failure });
    return 'now';
  }

  /**
   * Writes an event ahead of a paid request, with all that is not written yet. False when this run may not send: the event
   * means nothing in the job's state, or somebody else wrote first, and then only the rest is kept. Throws StorageError.
   */
  async claim(event: JobEvent): Promise<boolean> {
    const before = this.#events;
    this.apply(event);
    if (this.#events === before) return false;
    let isWritten: boolean;
    try {
      isWritten = await this.#write();
      if (!isWritten) {
        this.#events = before;
        await this.#catchUp();
      }
    } catch (error) {
      // Not sent, so not claimed; what was posted before is.
      this.#events = before;
      this.#job = before.reduce(transition, this.#stored);
      if (before.some(isPost)) await this.save();
      throw error;
    }
    if (isWritten) this.assertHeld();
    return isWritten;
  }

  /**
   * Writes once what has happened since the last time, if anything has. Events are applied again to the newest record
   * where somebody else wrote meanwhile; a job that was erased stays erased. What was posted, and what the gateway answered,
   * is tried again while storage is away: no later run can learn it. Throws StorageError.
   */
  async save(): Promise<void> {
    // A message to a chat may have to be stored while an earlier write is still running.
    const saving = this.#saving.then(() => this.#writeWithTries());
    this.#saving = saving.catch(() => undefined);
    await saving;
  }

  async #writeWithTries(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#writeAll();
      } catch (error) {
        const failed = { error, attempt, events: this.#events };
        if (!this.#options || !(await pauseToStoreAgain(failed, this.#options))) throw error;
      }
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#events.length > 0) {
      if (await this.#write()) return;
      await this.#catchUp();
    }
  }

  /** False when somebody else wrote first. */
  async #write(): Promise<boolean> {
    const writing = { job: this.#job, events: this.#events.length };
    try {
      const written = await this.#records.replace(writing.job);
      if (written) this.#wrote(written, writing.events);
      return written !== undefined;
    } catch (error) {
      this.#unanswered = writing;
      throw error;
    }
  }

  #wrote(written: Job, events: number): void {
    this.#stored = written;
    this.#events = this.#events.slice(events);
    this.#job = this.#events.reduce(transition, written);
    this.#unanswered = undefined;
  }

  /** Applies to the newest record what is not written yet. */
  async #catchUp(): Promise<void> {
    const newest = await this.#records.read(this.#job.id);
    if (!newest) {
      this.#events = [];
      return;
    }
    const { job, events } = this.#unanswered ?? {};
    if (job && isDeepStrictEqual(newest, { ...job, version: newest.version })) {
      this.#wrote(newest, events ?? 0);
      return;
    }
    this.#events = afterOvertaking(this.#events, this.#stored, newest);
    this.#stored = newest;
    this.#job = this.#events.reduce(transition, newest);
  }
}

/** Applies one event to a job outside of its run. Resolves to the job as it is stored now. Throws StorageError. */
export async function applyEvent(
  id: string,
  event: JobEvent,
  storage: Pick<Storage, 'jobs'>,
): Promise<Job | undefined> {
  const run = await JobRun.load(id, storage);
  run?.apply(event);
  await run?.save();
  return run?.job;
}
