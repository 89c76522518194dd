/** Everything that can happen to a job, as data. src/jobs/transitions.ts says what each event means in each state. */
import type { Address } from '../core/invocation.ts';
import type { Charge, Job, JobFailure } from '../core/job.ts';
import type { KeptFile } from '../core/message.ts';
import type { Result, Work } from '../core/work.ts';
import type { Posted } from '../platforms/platform.ts';

/** What a step learned that changes no state: the newest value of each field. */
export type RecordedFields = Partial<
  Pick<
    Job,
    | 'posted'
    | 'held'
    | 'mayHavePosted'
    | 'shown'
    | 'kept'
    | 'lost'
    | 'tagged'
    | 'archives'
    | 'estimateMs'
    | 'polishSent'
    | 'inboxRead'
    | 'undelivered'
    | 'pageWithdrawn'
    | 'result'
  >
>;

interface EventFields {
  /** A fact that changes no state. */
  readonly recorded: { readonly fields: RecordedFields };
  /** The sound of a song was encoded for voice channels. */
  readonly encoded: { readonly url: string; readonly opus: KeptFile };
  /** The platform told whether everybody can read in the channel. */
  readonly publicityKnown: { readonly channel: string; readonly public: boolean };
  /** A run posted although another run had overtaken it: `posted` is what it knows. */
  readonly overtaken: { readonly posted: Posted };
  /** Only one message is left, and it says what it should. */
  readonly repaired: object;
  /** Somebody asked to end it. */
  readonly cancelRequested: { readonly by: string };
  /** The request to end it took effect. */
  readonly cancelled: object;
  /** What the work named was fetched. */
  readonly prepared: { readonly work: Work };
  /** It waits in line for the gateway; positions count from 1. */
  readonly queued: { readonly position: number };
  /** It waited in line, and got a slot. Milliseconds since the epoch. */
  readonly started: { readonly at: number };
  /** Written ahead of a paid request: `lyrics` asks for the words first. */
  readonly submitting: { readonly work: Work; readonly at: number; readonly lyrics?: boolean };
  /** The gateway took it. Without `deadlineAt` its answer is the whole result. */
  readonly submitted: {
    readonly taskId?: string | undefined;
    readonly result?: Result | undefined;
    readonly deadlineAt?: number;
    readonly at: number;
  };
  /** The gateway surely did not take it. Unless it was cancelled, it is asked again; not before `until`, if it named a time. */
  readonly notTaken: { readonly until?: number };
  /** It is unknown whether the gateway took it: its callback decides, until the deadline. */
  readonly uncertain: { readonly deadlineAt: number };
  /** The words that a song waited for are there: the song is asked for next. */
  readonly lyricsWritten: { readonly work: Work };
  /** The gateway was asked about the task. Milliseconds since the epoch, while it does not know the task. */
  readonly polled: { readonly unknownSince?: number | undefined };
  /** A step failed and is tried again; `held`: not before then. */
  readonly retried: { readonly held?: NonNullable<Job['held']> };
  /** Part of the result is there, or the gateway called back with what could not be read. */
  readonly progressed: {
    readonly taskId?: string | undefined;
    readonly result?: Result;
    readonly isUnreadable?: boolean;
  };
  /** The whole result is there, however late. Milliseconds since the epoch. */
  readonly completed: { readonly taskId?: string | undefined; readonly result: Result; readonly at: number };
  readonly failed: { readonly failure: JobFailure };
  /** The deadline passed without a result. */
  readonly expired: object;
  /** The record comes from a backup: nothing of it is paid for again. `failure` is that of work that had not begun. */
  readonly restored: { readonly failure: JobFailure };
  /** The person was told the end. */
  readonly closed: { readonly end: Job['end']; readonly at: number; readonly charge: Charge };
  /** Somebody wants to see what was finished although it had been cancelled. */
  readonly revealed: object;
  /** It could be shown nowhere, and its person wants it at another address. */
  readonly redirected: { readonly address: Address; readonly person: string };
}

export type JobEventType = keyof EventFields;
export type EventOf<Type extends JobEventType> = { readonly type: Type } & EventFields[Type];
export type JobEvent = { [Type in JobEventType]: EventOf<Type> }[JobEventType];
