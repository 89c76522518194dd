/**
 * The reconcile step: looks at a job's record, does the next thing, stores the new record, and says when to look again.
 * A restart, a duplicate, a late callback and a lost timer are all the same case: look again.
 */
import { MediaError } from '../media/errors.ts';
import { PlatformError } from '../platforms/platform.ts';
import { absorb } from './absorb.ts';
import { attachmentFailure } from './attachments.ts';
import { deliver } from './deliver.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { keepMedia, withKeptMedia } from './keep.ts';
import { isLate, lookForLate, poll, whenToPollFirst } from './poll.ts';
import { polishStyle, writeLyrics } from './prelude.ts';
import { keepsPlaceUntil, leaveQueue, lookAgainInQueue, queued } from './queue.ts';
import { endAs, mutate, pauseBefore, viewOf } from './record.ts';
import { ROUTES } from './routes.ts';
import { recover, send } from './send.ts';
import { TOO_LATE_SENTENCE } from './sentences.ts';
import { progressMessage, show } from './show.ts';

/** `now`: the record moved on, look at once. A number: look then, in milliseconds since the epoch. */
type Next = 'now' | number | undefined;

/** Advances a job as far as it goes. Only one call for a job may run at a time: the wake-ups see to that. */
export async function advance(
  id: string,
  signal: AbortSignal,
  d: JobDependencies,
): Promise<number | undefined> {
  for (;;) {
    const job = await absorb(id, d);
    if (!job) return undefined;
    const next = await step(job, signal, d);
    if (next !== 'now') return next;
    // Handed over to the next start, or to another replica.
    if (signal.aborted) return d.now();
  }
}

async function step(job: Job, signal: AbortSignal, d: JobDependencies): Promise<Next> {
  switch (job.state) {
    case 'accepted':
      return job.cancelRequestedBy === undefined
        ? begin(job, signal, d)
        : endAs(job, { end: 'cancelled' }, d);
    case 'submitting':
      return recover(job, d);
    case 'waiting':
      return job.cancelRequestedBy === undefined ? wait(job, signal, d) : endAs(job, { end: 'cancelled' }, d);
    case 'ready':
      return finish(job, signal, d);
    case 'delivered':
    case 'failed':
      return undefined;
    case 'expired':
    case 'cancelled':
      return lookForLate(job, signal, d);
    default:
      return job.state satisfies never;
  }
}

/** Shows the end. The gateway has done its part, so the next in line may ask it. */
async function finish(job: Job, signal: AbortSignal, d: JobDependencies): Promise<Next> {
  // Later tries come after a first one, which left.
  if (job.attempts === 0) await leaveQueue(job, d);
  const again = await deliver(job, signal, d);
  if (again !== undefined) return again;
  return isLate(job) ? 'now' : undefined;
}

/** Nothing is spent before the person can see that it is under way. */
async function begin(accepted: Job, signal: AbortSignal, d: JobDependencies): Promise<Next> {
  if (d.now() - accepted.createdAt > BEGINS_WITHIN_MS) {
    const failure = {
      code: 'too-late',
      sentence: TOO_LATE_SENTENCE,
      reference: d.newId(),
      taken: 'no' as const,
    };
    return endAs(accepted, { end: 'failed', failure }, d);
  }
  const job = await queued(await estimated(accepted, d), d);
  const stage = job.queuePlace === undefined ? ROUTES[accepted.work.route].stage : QUEUED_STAGE;
  try {
    await show(job, progressMessage(job, stage, d), d);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    // While its platform is away it keeps nobody else from the gateway.
    await leaveQueue(job, d);
    return refusedPlace(job, error, d);
  }
  if (job.queuePlace !== undefined) return lookAgainInQueue(job, d);
  const failure = await attachmentFailure(job, d);
  if (failure) return endAs(job, { end: 'failed', failure }, d);
  const polished = await polishStyle(job, signal, d);
  if (signal.aborted) return d.now();
  if ('lyricsAbout' in polished && polished.lyricsAbout !== undefined && job.lyrics === undefined) {
    return writeLyrics(job, polished, polished.lyricsAbout, d);
  }
  const submitting = await mutate(d.storage, job.id, (current) =>
    current.state === 'accepted' && current.cancelRequestedBy === undefined
      ? { ...current, work: polished, state: 'submitting', submittedAt: d.now() }
      : current,
  );
  if (submitting?.state !== 'submitting') return 'now';
  return send(submitting, signal, d);
}

/** Below this nobody wonders how long it takes. */
const SHORTEST_ESTIMATE_MS = 5_000;

/** Nobody wants to be charged for a wish of yesterday. */
const BEGINS_WITHIN_MS = 24 * 60 * 60_000;

const QUEUED_STAGE = 'Waiting for its turn';

/** Enough of them that one slow song does not make people expect another. */
const DURATIONS_COMPARED = 20;

/** Tells the person how long it may take, where there is history to tell from: the median of the latest. */
async function estimated(job: Job, { storage }: JobDependencies): Promise<Job> {
  if (job.estimateMs !== undefined || job.posted) return job;
  const durations = await storage.jobs.recentDurations(job.work.route, DURATIONS_COMPARED);
  const estimateMs = durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)];
  if (estimateMs === undefined || estimateMs < SHORTEST_ESTIMATE_MS) return job;
  return (await mutate(storage, job.id, (current) => ({ ...current, estimateMs }))) ?? job;
}

async function wait(job: Job, signal: AbortSignal, d: JobDependencies): Promise<Next> {
  const deadlineAt = job.deadlineAt ?? job.createdAt + ROUTES[job.work.route].deadlineMs;
  if (d.now() >= deadlineAt) return endAs(job, { end: 'expired' }, d);
  await showEarly(job, signal, d);
  const placeUntil = keepsPlaceUntil(job);
  if (d.now() >= placeUntil) await leaveQueue(job, d);
  const lookAt = d.now() < placeUntil ? Math.min(placeUntil, deadlineAt) : deadlineAt;
  if (ROUTES[job.work.route].comesBack !== 'poll' || job.taskId === undefined) return lookAt;
  if (job.polls === 0 && job.attempts === 0) {
    await mutate(d.storage, job.id, (current) => ({ ...current, polls: current.polls + 1 }));
    return Math.min(deadlineAt, whenToPollFirst(job, d));
  }
  const next = await poll(job, job.taskId, signal, d);
  return next === 'now' ? next : Math.min(deadlineAt, next);
}

/** Early stages show lyrics and a first listen. A failure here is no reason to fail the work: the end is shown anyway. */
async function showEarly(job: Job, signal: AbortSignal, d: JobDependencies): Promise<void> {
  const early = job.result && d.command(job.command)?.early?.(viewOf(job));
  if (!early) return;
  try {
    const keeping = await keepMedia(job, early, { signal }, d);
    const { message } = withKeptMedia(progressMessage(job, ROUTES[job.work.route].stage, d), keeping.job);
    await show(job, message, d);
  } catch (error) {
    if (!(error instanceof PlatformError) && !(error instanceof MediaError)) throw error;
    d.log.warn({ job: job.id, err: error }, 'Early results could not be shown');
  }
}

/** The progress could not be posted, so nothing is spent: later again, or a sentence to the person alone. */
async function refusedPlace(job: Job, error: PlatformError, d: JobDependencies): Promise<Next> {
  d.log.warn({ job: job.id, err: error }, 'The platform did not take the progress message');
  if (error.code === 'unavailable') {
    const stored = await mutate(d.storage, job.id, (current) => ({
      ...current,
      attempts: current.attempts + 1,
    }));
    return d.now() + pauseBefore((stored ?? job).attempts, d.random, error.retryAfterMs);
  }
  const reference = d.newId();
  const sentence =
    error.advice ?? 'I may not write in that channel, so I have not started. Nothing was spent.';
  return endAs(job, { end: 'failed', failure: { code: error.code, sentence, reference, taken: 'no' } }, d);
}
