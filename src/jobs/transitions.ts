/**
 * The state machine of a job: a table of states and events, in which each cell is a pure function. This is the only place that changes a
 * job's state. docs/architecture.md has a diagram.
 *
 * A job moves from `accepted` through `submitting` and `waiting` to `ready`, which means that its outcome is known but not delivered yet.
 * Delivery ends it as `delivered`, `failed`, `expired` or `cancelled`. Three rules explain most cells:
 *
 * - A paid request is sent only after `submitting` is stored, so a crash never leads to a second request.
 * - A result wins over every other outcome, even after the job has ended.
 * - Events may arrive twice, late or out of order. An event without a cell in the current state has no effect.
 */

import { hasMoreFiles, hasWholeResult, type Job, type JobState, mergeResults } from '../core/job.ts';
import { present } from '../core/util/present.ts';
import type { Result } from '../core/work.ts';
import type { MusicResult } from '../gateway/music/results.ts';
import type { EventOf, JobEvent, JobEventType } from './events.ts';

/** Returns the same object if the event has no effect. */
type Cell<Type extends JobEventType> = (job: Job, event: EventOf<Type>) => Job;
/** The effects of events in one state. */
type Row = { readonly [Type in JobEventType]?: Cell<Type> };

/** Clears `undelivered`, because the job is about to be delivered. */
function ready({ undelivered: _, ...job }: Job, end: NonNullable<Job['end']>): Job {
  return { ...job, state: 'ready', end, attempts: 0 };
}

const complete: Cell<'completed'> = (job, { taskId, result, at }) => {
  const { failure: _, ...rest } = acceptedByGateway(job, taskId);
  const merged = mergeResults(job.result, result);
  const isForeign = taskId !== undefined && job.taskId !== undefined && taskId !== job.taskId;
  // A repeated result changes nothing. One with more files replaces the delivered one.
  if (job.end === 'delivered' && (isForeign || !hasMoreFiles(merged, job.result)))
    return withTaskId(job, taskId);
  // The result of cancelled work is offered with a button, not posted: the requester no longer waits for it.
  const end = job.state === 'cancelled' || job.end === 'cancelled' ? 'cancelled' : 'delivered';
  return ready({ ...rest, result: merged, complete: true, endedAt: job.endedAt ?? at }, end);
};

const progress: Cell<'progressed'> = (job, { taskId, result, isUnreadable }) => {
  if (job.end === 'delivered') return withTaskId(job, taskId);
  return {
    ...acceptedByGateway(job, taskId),
    ...(result === undefined ? {} : { result: mergeResults(job.result, result), complete: false }),
    ...(isUnreadable ? { unreadable: true } : {}),
  };
};

const fail: Cell<'failed'> = (job, { failure }) => ready({ ...job, failure }, 'failed');

const cancel: Cell<'cancelled'> = (job) =>
  job.cancelRequestedBy === undefined ? job : ready(job, 'cancelled');

const requestCancel: Cell<'cancelRequested'> = (job, { by }) =>
  job.cancelRequestedBy === undefined ? { ...job, cancelRequestedBy: by } : job;

const sendAgain: Cell<'lyricsWritten'> = (job, { work }) => {
  if (job.lyrics !== 'sent') return job;
  const { taskId: _lyricsTask, deadlineAt: _lyricsDeadline, ...rest } = job;
  return { ...rest, work, lyrics: 'done', state: 'accepted', attempts: 0 };
};

const redirect: Cell<'redirected'> = (job, { address, person }) => {
  if (job.undelivered !== true || job.person.id !== person) return job;
  const { undelivered: _, posted: _posted, shown: _shown, held: _held, ...rest } = job;
  return { ...rest, address, state: 'ready', attempts: 0 };
};

function withoutRequest({ lyrics, submittedAt, ...job }: Job): Job {
  // Lyrics that are already written were paid for.
  return lyrics === 'done' ? { ...job, lyrics, submittedAt } : job;
}

/**
 * Handles the response to a request whose job has ended meanwhile: it was cancelled, or reported as lost while its run was suspended.
 * The request was paid for in either case, so a cancelled job offers the result, and a lost one delivers it.
 */
const keepLateAnswer: Cell<'submitted'> = (job, { taskId, result, deadlineAt, at }) => {
  const isLost = job.end === 'failed' && job.failure?.taken === 'unknown';
  if (job.end !== 'cancelled' && !isLost) return job;
  const answered = withAnswer(job, taskId, result);
  // The result of the task is polled later.
  if (deadlineAt !== undefined) return answered;
  const { failure: _, ...rest } = answered;
  return ready({ ...rest, complete: true, endedAt: at }, isLost ? 'delivered' : 'cancelled');
};

const overtake: Cell<'overtaken'> = (job, { posted }) => {
  const { shown: _, ...rest } = job;
  const strays = job.posted ? [posted] : [];
  return {
    ...rest,
    mayHavePosted: true,
    posted: job.posted ?? posted,
    overtaken: [...(job.overtaken ?? []), ...strays],
  };
};

type Holds = NonNullable<Job['held']>;

/** Keeps the later time of each: an overtaken run may report an earlier Retry-After than the run that took over. */
function mergeHolds({ held: current = {} }: Job, next: Holds): Holds {
  const later = (left = 0, right = 0) => Math.max(left, right);
  const asking = later(current.asking, next.asking);
  const showing = later(current.showing, next.showing);
  return { ...(asking > 0 && { asking }), ...(showing > 0 && { showing }) };
}

const repair: Cell<'repaired'> = (job) => {
  const { overtaken, ...rest } = job;
  return overtaken ? rest : job;
};

const restore: Cell<'restored'> = (job) => ({ ...job, restored: true, mayHavePosted: true });

/** Events with the same effect in every state. */
const EVERYWHERE = {
  recorded: (job, { fields }) => ({
    ...job,
    ...fields,
    ...(fields.held && { held: mergeHolds(job, fields.held) }),
  }),
  encoded: (job, { url, opus }) => ({ ...job, opus: { ...job.opus, [url]: opus } }),
  publicityKnown: (job, { channel, public: isPublic }) =>
    job.address.channel === channel ? { ...job, address: { ...job.address, public: isPublic } } : job,
  overtaken: overtake,
  repaired: repair,
  retried: (job, { held }) => ({
    ...job,
    attempts: job.attempts + 1,
    ...(held && { held: mergeHolds(job, held) }),
  }),
  progressed: progress,
  completed: complete,
} satisfies Row;

const ENDED = { ...EVERYWHERE, redirected: redirect } satisfies Row;
/** For ended jobs whose request may still get a response. */
const ENDED_UNANSWERED = { ...ENDED, submitted: keepLateAnswer } satisfies Row;

/** The table. An ended job only becomes `ready` again for a late result, or if the requester asks to see it. */
export const TRANSITIONS = {
  accepted: {
    ...EVERYWHERE,
    cancelRequested: requestCancel,
    cancelled: cancel,
    prepared: (job, { work }) => ({ ...job, work, attempts: 0 }),
    queued: (job, { position }) => ({ ...job, queuePosition: position }),
    started: ({ queuePosition: _, ...job }, { at }) => ({ ...job, startedAt: at }),
    submitting: (job, { work, at, lyrics }) =>
      job.cancelRequestedBy === undefined
        ? { ...job, work, state: 'submitting', submittedAt: at, ...(lyrics ? { lyrics: 'sent' } : {}) }
        : job,
    // A run that found the request interrupted knows less than the run that learned it was not accepted.
    failed: (job, event) => (event.failure.taken === 'unknown' ? job : fail(job, event)),
    // The request may have been sent after the backup was made.
    restored: (job, event) => fail(restore(job, event), { type: 'failed', failure: event.failure }),
  },
  submitting: {
    ...EVERYWHERE,
    cancelRequested: requestCancel,
    cancelled: cancel,
    submitted: (job, { taskId, result, deadlineAt, at }) => {
      const answered = withAnswer(job, taskId, result);
      if (deadlineAt !== undefined) return { ...answered, state: 'waiting', attempts: 0, deadlineAt };
      const end = job.cancelRequestedBy === undefined ? 'delivered' : 'cancelled';
      return ready({ ...answered, complete: true, endedAt: at }, end);
    },
    notTaken: ({ refusals = 0, ...job }, { until, work }) => ({
      ...withoutRequest(job),
      state: 'accepted',
      attempts: 0,
      ...(work ? { work } : { refusals: refusals + 1 }),
      ...(until === undefined ? {} : { held: mergeHolds(job, { asking: until }) }),
    }),
    uncertain: (job, { deadlineAt }) => ({
      ...job,
      state: 'waiting',
      attempts: 0,
      deadlineAt,
      uncertain: true,
    }),
    lyricsWritten: sendAgain,
    failed: fail,
    restored: restore,
  },
  waiting: {
    ...EVERYWHERE,
    cancelRequested: requestCancel,
    cancelled: cancel,
    lyricsWritten: sendAgain,
    polled: ({ unknownSince: _, ...job }, { unknownSince }) => ({
      ...job,
      polls: job.polls + 1,
      attempts: 0,
      ...present({ unknownSince }),
    }),
    failed: fail,
    expired: (job) => ready(job, 'expired'),
    restored: restore,
  },
  ready: {
    ...EVERYWHERE,
    submitted: keepLateAnswer,
    // A job that is cancelled during its request is closed only after the response, which decides what it cost.
    notTaken: (job) => (job.end === 'cancelled' ? withoutRequest(job) : job),
    restored: restore,
    closed: (job, { end, at, charge }) =>
      job.end === end
        ? {
            ...job,
            state: end ?? 'failed',
            finishedAt: at,
            attempts: 0,
            charged: charge !== 'no',
            chargeUncertain: charge === 'uncertain',
          }
        : job,
  },
  delivered: ENDED,
  failed: ENDED_UNANSWERED,
  expired: ENDED,
  cancelled: {
    ...ENDED_UNANSWERED,
    revealed: (job) => (hasWholeResult(job) ? ready(job, 'delivered') : job),
  },
} satisfies Record<JobState, Row>;

/** Returns the job after the event, or the same object if the event has no effect in its state. Pure. */
export function transition(job: Job, event: JobEvent): Job {
  const row: Row = TRANSITIONS[job.state];
  // Sound because each cell takes the event it is named after.
  const cell = row[event.type] as ((job: Job, event: JobEvent) => Job) | undefined;
  return cell?.(job, event) ?? job;
}

/** Creates a new job. */
export function acceptedJob(
  fields: Omit<Job, 'version' | 'state' | 'stored' | 'attempts' | 'polls' | 'inboxRead'>,
): Job {
  return { ...fields, version: 1, state: 'accepted', stored: {}, attempts: 0, polls: 0, inboxRead: 0 };
}

function withTaskId(job: Job, taskId: string | undefined): Job {
  return taskId === undefined || job.taskId !== undefined ? job : { ...job, taskId };
}

/** A callback proves that the gateway accepted the work. */
function acceptedByGateway(job: Job, taskId: string | undefined): Job {
  const identified = withTaskId(job, taskId);
  return job.uncertain ? { ...identified, uncertain: false } : identified;
}

function withAnswer(job: Job, taskId: string | undefined, answer: Result | undefined): Job {
  const result = answer ? mergeResults(job.result, answer) : job.result;
  return {
    ...job,
    ...present({ taskId }),
    ...(result === undefined ? {} : { result, complete: false }),
  };
}

/** Converts the output of the gateway's music parser into a result. */
export function fromMusic(music: MusicResult): Result {
  return {
    songs: music.songs,
    lyrics: music.lyrics,
    images: music.images.map((url) => ({ type: 'remote', url })),
    stems: music.stems,
    ...present({ wavUrl: music.wavUrl, videoUrl: music.videoUrl }),
  };
}
