/** Events of a job. src/jobs/transitions.ts defines the effect of each event in each state. */
import type { Address } from '../core/invocation.ts';
import type { Charge, Job, JobFailure } from '../core/job.ts';
import type { MediaFile } from '../core/message.ts';
import type { AnswerWork, Result, Work } from '../core/work.ts';
import type { PostState } from '../platforms/platform.ts';

/** Fields that a step updates without changing the state. The newest value of each wins. */
export type RecordedFields = Partial<
  Pick<
    Job,
    | 'posted'
    | 'held'
    | 'mayHavePosted'
    | 'shown'
    | 'stored'
    | 'lost'
    | 'tagged'
    | 'archives'
    | 'estimateMs'
    | 'polishSent'
    | 'inboxRead'
    | 'undelivered'
    | 'pageWithdrawn'
    | 'hidden'
    | 'result'
  >
>;

/** Fields of each event. Times are in milliseconds since the epoch. */
interface EventFields {
  /** Fields changed, but not the state. */
  readonly recorded: { readonly fields: RecordedFields };
  /** A song was encoded for voice channels. */
  readonly encoded: { readonly url: string; readonly opus: MediaFile };
  /** The platform reported whether everyone in the server can read the channel. */
  readonly publicityKnown: { readonly channel: string; readonly public: boolean };
  /** A run posted after another run had taken over. `posted` is its own view of the message. */
  readonly overtaken: { readonly posted: PostState };
  /** The extra messages of two runs are deleted, and the remaining message is up to date. */
  readonly repaired: object;
  /** A person requested cancellation. */
  readonly cancelRequested: { readonly by: string };
  /** The requested cancellation took effect. */
  readonly cancelled: object;
  /** The files and messages that the work refers to were fetched. */
  readonly prepared: { readonly work: Work };
  /** The job waits in the queue for the gateway. Positions count from 1. */
  readonly queued: { readonly position: number };
  /** The job got a slot after waiting in the queue. */
  readonly started: { readonly at: number };
  /** Written before a paid request is sent. `lyrics`: the request is for the lyrics of a song. */
  readonly submitting: { readonly work: Work; readonly at: number; readonly lyrics?: boolean };
  /** The gateway accepted the request. Without `deadlineAt`, its response is the complete result. */
  readonly submitted: {
    readonly taskId?: string | undefined;
    readonly result?: Result | undefined;
    readonly deadlineAt?: number;
    readonly at: number;
  };
  /** The gateway definitely did not accept the request, so it may be sent again, not before `until`. `work` asks another model. */
  readonly notTaken: { readonly until?: number; readonly work?: AnswerWork };
  /** The gateway may or may not have accepted the request. The job waits for a callback until the deadline. */
  readonly uncertain: { readonly deadlineAt: number };
  /** The lyrics of a song arrived. The song is requested next. */
  readonly lyricsWritten: { readonly work: Work };
  /** The task was polled. `unknownSince` is set while the gateway reports it as unknown. */
  readonly polled: { readonly unknownSince?: number | undefined };
  /** A step failed and will be retried, not before `held`. */
  readonly retried: { readonly held?: NonNullable<Job['held']> };
  /** A partial result arrived, or a callback that could not be parsed. */
  readonly progressed: {
    readonly taskId?: string | undefined;
    readonly result?: Result;
    readonly isUnreadable?: boolean;
  };
  /** The complete result arrived, possibly after the job had ended. */
  readonly completed: { readonly taskId?: string | undefined; readonly result: Result; readonly at: number };
  /** The work failed. */
  readonly failed: { readonly failure: JobFailure };
  /** The deadline passed without a result. */
  readonly expired: object;
  /** The record was restored from a backup, so no request may be repeated. `failure` ends a job that had not been submitted. */
  readonly restored: { readonly failure: JobFailure };
  /** The final message was delivered, or delivery was given up. */
  readonly closed: { readonly end: Job['end']; readonly at: number; readonly charge: Charge };
  /** A person wants the result of a cancelled job that was finished anyway. */
  readonly revealed: object;
  /** The requester wants an undelivered result at another address. */
  readonly redirected: { readonly address: Address; readonly person: string };
}

export type JobEventType = keyof EventFields;
export type EventOf<Type extends JobEventType> = { readonly type: Type } & EventFields[Type];
export type JobEvent = { [Type in JobEventType]: EventOf<Type> }[JobEventType];
