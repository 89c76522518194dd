/**
 * The reconcile step: looks at a job's record, does the next thing, stores the new record, and says when to look again.
 * A restart, a duplicate, a late callback and a lost timer are all the same case: look again.
 */
import { GatewayError } from '../gateway/errors.ts';
import { MediaError } from '../media/errors.ts';
import { PlatformError } from '../platforms/platform.ts';
import { absorb } from './absorb.ts';
import { streamAnswer } from './answer.ts';
import { attachmentFailure } from './attachments.ts';
import { deliver } from './deliver.ts';
import type { JobDependencies } from './dependencies.ts';
import { failSubmission, waitForCallback } from './failure.ts';
import type { Job, JobFailure } from './job.ts';
import { keepMedia, withKeptMedia } from './keep.ts';
import { poll, pollPause } from './poll.ts';
import { polishStyle, writeLyrics } from './prelude.ts';
import { mutate, pauseBefore, viewOf } from './record.ts';
import { mergeResults } from './result.ts';
import { ROUTES } from './routes.ts';
import { INTERRUPTED_SENTENCE, UNCERTAIN_SENTENCE, unkeptSentence } from './sentences.ts';
import { progressMessage, show } from './show.ts';
import { submit } from './submit.ts';

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
      return job.cancelRequestedBy === undefined ? begin(job, signal, d) : end(job, { end: 'cancelled' }, d);
    case 'submitting':
      return recover(job, d);
    case 'waiting':
      return job.cancelRequestedBy === undefined ? wait(job, signal, d) : end(job, { end: 'cancelled' }, d);
    case 'ready':
      return deliver(job, signal, d);
    case 'delivered':
    case 'failed':
    case 'expired':
    case 'cancelled':
      return undefined;
    default:
      return job.state satisfies never;
  }
}

/** Nothing is spent before the person can see that it is under way. */
async function begin(accepted: Job, signal: AbortSignal, d: JobDependencies): Promise<Next> {
  const { stage } = ROUTES[accepted.work.route];
  const job = await estimated(accepted, d);
  try {
    await show(job, progressMessage(job, stage, d), d);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return refusedPlace(job, error, d);
  }
  const failure = await attachmentFailure(job, d);
  if (failure) return end(job, { end: 'failed', failure }, d);
  const polished = await polishStyle(job, signal, d);
  if (signal.aborted) return d.now();
  if (polished.route === 'music.generate' && polished.lyricsAbout !== undefined && job.lyrics === undefined) {
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

async function send(job: Job, signal: AbortSignal, d: JobDependencies): Promise<Next> {
  try {
    if (job.work.route === 'answer') return await streamAnswer(job, job.work, signal, d);
    // Not ended by a shutdown: an answer that is nearly here would be lost, and whether it was taken with it.
    const submitted = await submit(job.work, {
      gateway: d.gateway,
      media: d.media,
      callBackUrl: d.callbackUrl(job.id),
      fileUrl: d.fileUrl,
      signal: AbortSignal.timeout(ROUTES[job.work.route].deadlineMs),
    });
    const { comesBack, deadlineMs } = ROUTES[job.work.route];
    await mutate(d.storage, job.id, (current) => {
      if (current.state !== 'submitting') return current;
      const result = submitted.result ? mergeResults(current.result, submitted.result) : current.result;
      return {
        ...current,
        ...(submitted.taskId === undefined ? {} : { taskId: submitted.taskId }),
        ...(result === undefined ? {} : { result }),
        ...(comesBack === 'direct' ? { state: 'ready', end: 'delivered' } : { state: 'waiting' }),
        attempts: 0,
        deadlineAt: d.now() + deadlineMs,
      };
    });
    return 'now';
  } catch (error) {
    if (error instanceof GatewayError) return failSubmission(job, error, d);
    if (!(error instanceof MediaError)) throw error;
    // What came as bytes is in no other place: it is told, and made again only if somebody wants it.
    const reference = d.newId();
    d.log.error({ job: job.id, reference, err: error }, 'What the gateway made could not be kept');
    const sentence = unkeptSentence(error);
    return end(
      job,
      { end: 'failed', failure: { code: error.code, sentence, reference, taken: 'unknown' } },
      d,
    );
  }
}

/** A job is found in `submitting` only when the process that sent it died: nobody knows whether the gateway took it. */
async function recover(job: Job, d: JobDependencies): Promise<Next> {
  const reference = d.newId();
  d.log.warn({ job: job.id, reference }, 'Found a submission that was interrupted');
  const { comesBack } = ROUTES[job.work.route];
  switch (comesBack) {
    case 'callback':
      await waitForCallback(job, d);
      return 'now';
    case 'poll':
    case 'direct':
      return end(job, { end: 'failed', failure: uncertain(UNCERTAIN_SENTENCE, reference) }, d);
    case 'stream': {
      const answer = job.result?.answer;
      if (!answer?.text)
        return end(job, { end: 'failed', failure: uncertain(INTERRUPTED_SENTENCE, reference) }, d);
      const result = { ...job.result, answer: { ...answer, finish: { reason: 'broken' as const } } };
      return end(
        job,
        {
          end: 'delivered',
          result: mergeResults(job.result, { songs: [], lyrics: [], images: [], stems: [], ...result }),
        },
        d,
      );
    }
    default:
      return comesBack satisfies never;
  }
}

function uncertain(sentence: string, reference: string): JobFailure {
  return { code: 'interrupted', sentence, reference, taken: 'unknown' };
}

async function wait(job: Job, signal: AbortSignal, d: JobDependencies): Promise<Next> {
  const deadlineAt = job.deadlineAt ?? job.createdAt + ROUTES[job.work.route].deadlineMs;
  if (d.now() >= deadlineAt) return end(job, { end: 'expired' }, d);
  await showEarly(job, signal, d);
  if (ROUTES[job.work.route].comesBack !== 'poll' || job.taskId === undefined) return deadlineAt;
  if (job.polls === 0 && job.attempts === 0) {
    await mutate(d.storage, job.id, (current) => ({ ...current, polls: current.polls + 1 }));
    return Math.min(deadlineAt, d.now() + pollPause(0, d.random));
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

/** Moves an open job to `ready` with its end. Nothing happens if it got there before. */
async function end(
  job: Job,
  how: Pick<Job, 'end'> & Partial<Pick<Job, 'failure' | 'result'>>,
  d: Pick<JobDependencies, 'storage'>,
): Promise<'now'> {
  await mutate(d.storage, job.id, (current) =>
    current.state === job.state ? { ...current, ...how, state: 'ready', attempts: 0 } : current,
  );
  return 'now';
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
  return end(job, { end: 'failed', failure: { code: error.code, sentence, reference, taken: 'no' } }, d);
}
