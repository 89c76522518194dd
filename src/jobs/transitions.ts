/**
 * Everything that can happen to a job: states down, events across, each cell a pure function. Only this file writes a
 * job's state. docs/architecture.md draws it.
 */

import { hasWholeResult, holdsMore, type Job, type JobState, mergeResults } from '../core/job.ts';
import { present } from '../core/util/present.ts';
import type { Result } from '../core/work.ts';
import type { MusicResult } from '../gateway/music/results.ts';
import type { EventOf, JobEvent, JobEventType } from './events.ts';

/** Returns the same object if the event means nothing. */
type Cell<Type extends JobEventType> = (job: Job, event: EventOf<Type>) => Job;
/** An event that a row does not name means nothing in its state. */
type Row = { readonly [Type in JobEventType]?: Cell<Type> };

/** What was shown nowhere before is shown now. */
function ready({ undelivered: _, ...job }: Job, end: NonNullable<Job['end']>): Job {
  return { ...job, state: 'ready', end, attempts: 0 };
}

const complete: Cell<'completed'> = (job, { taskId, result, at }) => {
  const { failure: _told, ...rest } = calledBack(job, taskId);
  const merged = mergeResults(job.result, result);
  const isForeign = taskId !== undefined && job.taskId !== undefined && taskId !== job.taskId;
  // The same again changes nothing; what holds more replaces what was shown.
  if (job.end === 'delivered' && (isForeign || !holdsMore(merged, job.result))) return named(job, taskId);
  // Cancelled work that is finished anyway is kept and offered, not pushed: the person does not wait for it any more.
  const end = job.state === 'cancelled' || job.end === 'cancelled' ? 'cancelled' : 'delivered';
  return ready({ ...rest, result: merged, complete: true, endedAt: job.endedAt ?? at }, end);
};

const progress: Cell<'progressed'> = (job, { taskId, result, isUnreadable }) => {
  if (job.end === 'delivered') return named(job, taskId);
  return {
    ...calledBack(job, taskId),
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
  // Words that were written before are paid for.
  return lyrics === 'done' ? { ...job, lyrics, submittedAt } : job;
}

/**
 * The answer to a request that was cancelled while it ran, or that was told as lost while its run stood still: it was paid
 * for all the same. Cancelled work is kept and offered; who was told of a loss gets what they waited for.
 */
const keepLateAnswer: Cell<'submitted'> = (job, { taskId, result, deadlineAt, at }) => {
  const isLost = job.end === 'failed' && job.failure?.taken === 'unknown';
  if (job.end !== 'cancelled' && !isLost) return job;
  const known = withAnswer(job, taskId, result);
  // A task is asked about later.
  if (deadlineAt !== undefined) return known;
  const { failure: _told, ...rest } = known;
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

type Held = NonNullable<Job['held']>;

/** A run that was overtaken may tell of an earlier Retry-After than the run that overtook it. */
function heldLonger({ held: known = {} }: Job, told: Held): Held {
  const later = (one = 0, other = 0) => Math.max(one, other);
  const asking = later(known.asking, told.asking);
  const showing = later(known.showing, told.showing);
  return { ...(asking > 0 && { asking }), ...(showing > 0 && { showing }) };
}

const repair: Cell<'repaired'> = (job) => {
  const { overtaken, ...rest } = job;
  return overtaken ? rest : job;
};

const restore: Cell<'restored'> = (job) => ({ ...job, restored: true, mayHavePosted: true });

/** What happens the same in every state. */
const EVERYWHERE = {
  recorded: (job, { fields }) => ({
    ...job,
    ...fields,
    ...(fields.held && { held: heldLonger(job, fields.held) }),
  }),
  encoded: (job, { url, opus }) => ({ ...job, opus: { ...job.opus, [url]: opus } }),
  publicityKnown: (job, { channel, public: isPublic }) =>
    job.address.channel === channel ? { ...job, address: { ...job.address, public: isPublic } } : job,
  overtaken: overtake,
  repaired: repair,
  retried: (job, { held }) => ({
    ...job,
    attempts: job.attempts + 1,
    ...(held && { held: heldLonger(job, held) }),
  }),
  progressed: progress,
  completed: complete,
} satisfies Row;

const ENDED = { ...EVERYWHERE, redirected: redirect } satisfies Row;
/** Its request may still be answered. */
const ENDED_UNANSWERED = { ...ENDED, submitted: keepLateAnswer } satisfies Row;

/** A job that ended is left only by a result that came late, and where its person asks to see it. */
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
    // Who found the request interrupted knew less than who was told that it was not taken.
    failed: (job, event) => (event.failure.taken === 'unknown' ? job : fail(job, event)),
    // It may have been asked for after the copy was made.
    restored: (job, event) => fail(restore(job, event), { type: 'failed', failure: event.failure }),
  },
  submitting: {
    ...EVERYWHERE,
    cancelRequested: requestCancel,
    cancelled: cancel,
    submitted: (job, { taskId, result, deadlineAt, at }) => {
      const known = withAnswer(job, taskId, result);
      if (deadlineAt !== undefined) return { ...known, state: 'waiting', attempts: 0, deadlineAt };
      const end = job.cancelRequestedBy === undefined ? 'delivered' : 'cancelled';
      return ready({ ...known, complete: true, endedAt: at }, end);
    },
    notTaken: (job, { until }) => ({
      ...withoutRequest(job),
      state: 'accepted',
      attempts: 0,
      refusals: (job.refusals ?? 0) + 1,
      ...(until === undefined ? {} : { held: heldLonger(job, { asking: until }) }),
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
    // Told as cancelled while the gateway was asked, it is closed only when that is answered: then it is known what it cost.
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

/** The job after the event. Pure; the same object if the event means nothing in this state. */
export function transition(job: Job, event: JobEvent): Job {
  const row: Row = TRANSITIONS[job.state];
  // Sound because a row's cell takes the event of its own name.
  const cell = row[event.type] as ((job: Job, event: JobEvent) => Job) | undefined;
  return cell?.(job, event) ?? job;
}

/** A job as it begins. */
export function acceptedJob(
  fields: Omit<Job, 'version' | 'state' | 'kept' | 'attempts' | 'polls' | 'inboxRead'>,
): Job {
  return { ...fields, version: 1, state: 'accepted', kept: {}, attempts: 0, polls: 0, inboxRead: 0 };
}

function named(job: Job, taskId: string | undefined): Job {
  return taskId === undefined || job.taskId !== undefined ? job : { ...job, taskId };
}

/** The gateway called back, so it took the work. */
function calledBack(job: Job, taskId: string | undefined): Job {
  const task = named(job, taskId);
  return job.uncertain ? { ...task, uncertain: false } : task;
}

function withAnswer(job: Job, taskId: string | undefined, answer: Result | undefined): Job {
  const result = answer ? mergeResults(job.result, answer) : job.result;
  return {
    ...job,
    ...present({ taskId }),
    ...(result === undefined ? {} : { result, complete: false }),
  };
}

/** What the gateway's music reader found, as a result. */
export function fromMusic(music: MusicResult): Result {
  return {
    songs: music.songs,
    lyrics: music.lyrics,
    images: music.images.map((url) => ({ type: 'remote', url })),
    stems: music.stems,
    ...present({ wavUrl: music.wavUrl, videoUrl: music.videoUrl }),
  };
}
