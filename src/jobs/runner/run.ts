/** A run of a job: the newest record, and the events that are not written yet. */
import { isDeepStrictEqual } from 'node:util';
import type { Job, JobFailure } from '../../core/job.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobEvent, RecordedFields } from '../events.ts';
import { checkWrite } from '../invariants.ts';
import { transition } from '../transitions.ts';
import { isPost, rebaseEvents } from './overtaken.ts';
import { pauseBeforeRewrite, type RunOptions } from './retries.ts';

/** When to run again: `now` after a change, a time in milliseconds since the epoch, or undefined for never. */
export type Next = 'now' | number | undefined;

/** A step of a job, which applies events to the run. The signal aborts when the process stops. */
export type Step = (run: JobRun, signal: AbortSignal) => Promise<Next>;

interface WriteTools extends Pick<JobDependencies, 'measure' | 'log'> {
  readonly storage: { readonly jobs: Pick<Storage['jobs'], 'read' | 'replace'> };
}

/** A failed write that may have been done anyway. */
interface UnansweredWrite {
  readonly job: Job;
  /** Number of events included in the record. */
  readonly events: number;
}

export class JobRun {
  readonly #tools: WriteTools;
  /** The record as last read or written. */
  #stored: Job;
  #job: Job;
  #events: readonly JobEvent[] = [];
  #saving: Promise<void> = Promise.resolve();
  #unanswered: UnansweredWrite | undefined;
  readonly #options: RunOptions | undefined;

  private constructor(job: Job, tools: WriteTools, options: RunOptions | undefined) {
    this.#stored = job;
    this.#job = job;
    this.#tools = tools;
    this.#options = options;
  }

  /** Undefined if there is no such job. Throws StorageError. */
  static async load(id: string, tools: WriteTools, options?: RunOptions): Promise<JobRun | undefined> {
    const job = await tools.storage.jobs.read(id);
    return job && new JobRun(job, tools, options);
  }

  /** The record with all events of this run, written or not. */
  get job(): Job {
    return this.#job;
  }

  /** Throws StorageError if another replica may have taken over while this one was suspended. Call it right before irreversible steps. */
  assertHeld(): void {
    if (!this.#isHeld()) throw new StorageError('lease', 'Another replica may have taken over this job.');
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

  /** Updates fields without changing the state. */
  record(fields: RecordedFields): void {
    this.apply({ type: 'recorded', fields });
  }

  /** Fails the job. The failure is shown next. */
  fail(failure: JobFailure): 'now' {
    this.apply({ type: 'failed', failure });
    return 'now';
  }

  /**
   * Writes an event and all pending ones before a paid request. False if this run must not send the request: the event has no effect in the
   * job's state, or the record was changed by someone else. Then only the pending events are kept. Throws StorageError.
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
      // The request is not sent, so the claim is dropped. Recorded messages must still be stored.
      this.#events = before;
      this.#job = before.reduce(transition, this.#stored);
      if (before.some(isPost)) await this.save();
      throw error;
    }
    if (isWritten) this.assertHeld();
    return isWritten;
  }

  /**
   * Writes all pending events at once. If the record was changed meanwhile, applies them to the newest version; an erased job stays
   * erased. Retries posted messages and responses of the gateway during storage outages, because no later run can learn them. Throws
   * StorageError.
   */
  async save(): Promise<void> {
    // A posted message may have to be stored while an earlier write is still running.
    const saving = this.#saving.then(() => this.#writeWithTries());
    this.#saving = saving.catch(() => undefined);
    await saving;
  }

  async #writeWithTries(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#writeAll();
      } catch (error) {
        const failedWrite = { error, attempt, events: this.#events };
        if (!this.#options || !(await pauseBeforeRewrite(failedWrite, this.#options))) throw error;
      }
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#events.length > 0) {
      if (await this.#write()) return;
      await this.#catchUp();
    }
  }

  /** False if the record was changed by someone else. */
  async #write(): Promise<boolean> {
    const write = { job: this.#job, events: this.#events.length };
    try {
      const stored = await this.#tools.storage.jobs.replace(write.job);
      if (stored) this.#setStored(stored, write.events);
      return stored !== undefined;
    } catch (error) {
      this.#unanswered = write;
      throw error;
    }
  }

  #setStored(stored: Job, events: number): void {
    checkWrite(this.#stored, stored, this.#tools);
    this.#stored = stored;
    this.#events = this.#events.slice(events);
    this.#job = this.#events.reduce(transition, stored);
    this.#unanswered = undefined;
  }

  /** Applies the pending events to the newest record. */
  async #catchUp(): Promise<void> {
    const newest = await this.#tools.storage.jobs.read(this.#job.id);
    if (!newest) {
      this.#events = [];
      return;
    }
    const { job, events } = this.#unanswered ?? {};
    if (job && isDeepStrictEqual(newest, { ...job, version: newest.version })) {
      this.#setStored(newest, events ?? 0);
      return;
    }
    this.#events = rebaseEvents(this.#events, this.#stored, newest);
    this.#stored = newest;
    this.#job = this.#events.reduce(transition, newest);
  }
}

/** Applies one event to a job outside of a run. Resolves to the stored job. Throws StorageError. */
export async function applyEvent(id: string, event: JobEvent, tools: WriteTools): Promise<Job | undefined> {
  const run = await JobRun.load(id, tools);
  run?.apply(event);
  await run?.save();
  return run?.job;
}
