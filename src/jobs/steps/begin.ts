/** Everything before the gateway is asked: the queue, the progress message, what was attached. */
import { isNamed } from '../../core/attachments.ts';
import { toMessage, UserError } from '../../core/errors.ts';
import type { Job, JobFailure } from '../../core/job.ts';
import type { KeptFile } from '../../core/message.ts';
import type { Work } from '../../core/work.ts';
import { filesDeadline } from '../../media/attachments.ts';
import { MediaError } from '../../media/errors.ts';
import { PlatformError } from '../../platforms/platform.ts';
import { alikeOf } from '../../storage/job-record.ts';
import { StorageError } from '../../storage/storage.ts';
import { watchForCancel } from '../ask/cancel-watch.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { isUnreadableRecord, type JobRun, type Next, retryShowing } from '../runner/run.ts';
import { TOO_LATE_SENTENCE } from '../sentences.ts';
import { isPrepared, prepareWork } from './attachments.ts';
import { progressMessage, showInChannel } from './message.ts';
import { polishStyle, requestLyrics } from './prepare.ts';
import { sendWork } from './send.ts';

/** Shorter waits need no estimate. */
const SHORTEST_ESTIMATE_MS = 5_000;
/** People do not want to be charged for a request of yesterday. */
const BEGINS_WITHIN_MS = 24 * 60 * 60_000;
const QUEUED_STAGE = 'Waiting for its turn';
/** Enough of them that one slow song does not make people expect another. */
const DURATIONS_COMPARED = 20;

/** Nothing is spent before the person can see that the work has begun. */
export async function begin(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  if (deps.now() - run.job.createdAt > BEGINS_WITHIN_MS) {
    return failBeforeAsking(run, { code: 'too-late', sentence: TOO_LATE_SENTENCE, reference: deps.newId() });
  }
  await estimate(run, deps);
  if (!isPrepared(run.job.work)) return prepare(run, signal, deps);
  await acquireSlot(run, deps);
  const isQueued = run.job.queuePosition !== undefined;
  try {
    const stage = isQueued ? QUEUED_STAGE : PLANS[run.job.work.route].stage;
    await showInChannel(run, progressMessage(run.job, stage, deps), deps);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    // While its platform is away, the others may ask the gateway.
    await releaseSlot(run.job, deps);
    return progressRefused(run, error, deps);
  }
  if (isQueued) return whenToAskForSlot(run.job, deps);
  const failure = await attachmentFailure(run.job, deps);
  if (failure) return failBeforeAsking(run, failure);
  const { work, lyrics } = run.job;
  const polished = 'roughStyle' in work ? await polishStyle(run, signal, deps) : work;
  if (polished === undefined) return 'now';
  if (signal.aborted) return deps.now();
  if ('lyricsAbout' in polished && polished.lyricsAbout !== undefined && lyrics === undefined) {
    return requestLyrics(run, polished, polished.lyricsAbout, deps);
  }
  // Written ahead: after a crash it is known that the gateway may have been asked.
  const isOurs = await run.claim({ type: 'submitting', work: polished, at: deps.now() });
  return isOurs ? sendWork(run, signal, deps) : 'now';
}

/** Fetches what the work names. It takes no slot meanwhile, so that slow files hold nobody up. */
async function prepare(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<Next> {
  using watch = await watchForCancel(run.job.id, signal, deps);
  try {
    await showInChannel(run, progressMessage(run.job, PLANS[run.job.work.route].stage, deps), deps);
    const work = await prepareWork(run.job, AbortSignal.any([watch.signal, filesDeadline()]), deps);
    run.apply({ type: 'prepared', work });
    return 'now';
  } catch (error) {
    if (error instanceof StorageError) throw error;
    if (signal.aborted) return deps.now();
    if (watch.cancelledBy === undefined) return progressRefused(run, error, deps);
    run.apply({ type: 'cancelRequested', by: watch.cancelledBy });
    return 'now';
  }
}

/** Tells the person how long it may take, where there is history to tell from: the median of the latest. */
async function estimate(run: JobRun, { storage }: JobDependencies): Promise<void> {
  const { estimateMs, posted, work } = run.job;
  if (estimateMs !== undefined || posted) return;
  const durations = await storage.jobs.recentDurations(alikeOf(work), DURATIONS_COMPARED);
  const median = durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)];
  if (median !== undefined && median >= SHORTEST_ESTIMATE_MS)
    run.apply({ type: 'recorded', fields: { estimateMs: median } });
}

/** The work cannot be shown or prepared, so nothing is spent: later again, or a sentence. */
function progressRefused(run: JobRun, error: unknown, deps: JobDependencies): Next {
  if (!(error instanceof PlatformError)) {
    const reference = deps.newId();
    const { text: sentence } = toMessage(error, { log: deps.log, reference });
    const code = error instanceof UserError ? 'attachment' : 'broken';
    return failBeforeAsking(run, { code, sentence, reference });
  }
  deps.log.warn({ job: run.job.id, err: error }, 'The platform did not take the progress message');
  if (error.code === 'unavailable') {
    return retryShowing(run, error.retryAfterMs, deps);
  }
  const sentence =
    error.advice ?? 'I may not write in that channel, so I have not started. Nothing was spent.';
  return failBeforeAsking(run, { code: error.code, sentence, reference: deps.newId() });
}

function failBeforeAsking(run: JobRun, failure: Omit<JobFailure, 'taken'>): 'now' {
  run.apply({ type: 'failed', failure: { ...failure, taken: 'no' } });
  return 'now';
}

/**
 * Why the work cannot be asked for: a file that it needs is not kept any more, or cannot be read now. Months may lie
 * between a job and its `Again`.
 */
async function attachmentFailure(
  job: Job,
  { media, newId, log }: Pick<JobDependencies, 'media' | 'newId' | 'log'>,
): Promise<Omit<JobFailure, 'taken'> | undefined> {
  const fail = (code: string, sentence: string, cause?: MediaError) => {
    const reference = newId();
    log.warn({ job: job.id, reference, code, err: cause }, 'What was attached cannot be used');
    return { code, sentence, reference };
  };
  try {
    const found = await Promise.all(attachedFiles(job.work).map(({ name }) => media.stat(name)));
    if (found.every((file) => file !== undefined)) return undefined;
    return fail('missing', 'What was attached is not kept any more. Please ask again and attach it anew.');
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return fail(
      error.code,
      'I cannot reach the files I keep right now, so I have not started. Nothing was spent; please press Again soon.',
      error,
    );
  }
}

/** Files without which the work cannot be done. Pictures of a conversation can: a note replaces them. */
function attachedFiles(work: Work): KeptFile[] {
  const image = 'image' in work ? work.image : undefined;
  const audio = 'audio' in work ? work.audio : undefined;
  return [image, audio].flatMap((file) => (file === undefined || isNamed(file) ? [] : [file]));
}

type QueueDependencies = Pick<JobDependencies, 'storage' | 'concurrency' | 'familyOf' | 'now' | 'random'>;

/** The first in line ask this often, those behind them more rarely, so that a long line costs little. */
const ASK_AGAIN_MS = 10_000;
const LONGEST_PAUSE_MS = 30 * 60_000;
/** Songs end upstream after 10 minutes at the latest, finished or failed; videos take 1 to 5. */
const SLOT_MS = 10 * 60_000;
/** If it is unknown whether the gateway took the work: the time that most work takes. */
const UNCERTAIN_SLOT_MS = 3 * 60_000;

/**
 * Gives the job a slot, or its position in line. It keeps what it has until {@link releaseSlot}, through crashes too.
 * Throws StorageError.
 */
async function acquireSlot(run: JobRun, deps: QueueDependencies): Promise<void> {
  const { queue, limit } = queueOf(run.job, deps);
  const position = await deps.storage.semaphores.acquire(queue, run.job.id, limit);
  if (position === (run.job.queuePosition ?? 0)) return;
  run.apply(position === 0 ? { type: 'started', at: deps.now() } : { type: 'queued', position });
}

/** When a job that waits in line asks again by itself, in milliseconds since the epoch; a free slot wakes it before. */
function whenToAskForSlot(job: Job, deps: QueueDependencies): number {
  const rounds = Math.max(1, (job.queuePosition ?? 1) / queueOf(job, deps).limit);
  return deps.now() + Math.min(ASK_AGAIN_MS * rounds, LONGEST_PAUSE_MS) * (0.9 + deps.random() * 0.2);
}

/**
 * Until when a job that waits for the gateway keeps its slot, in milliseconds since the epoch. After that it is
 * still waited for, but hardly any work is done for it.
 */
export function slotHeldUntil({ submittedAt, createdAt, taskId }: Job): number {
  return (submittedAt ?? createdAt) + (taskId === undefined ? UNCERTAIN_SLOT_MS : SLOT_MS);
}

/** Gives the slot up and wakes those who are next. Safe to repeat. Throws StorageError. */
export async function releaseSlot(job: Pick<Job, 'id' | 'work'>, deps: QueueDependencies): Promise<void> {
  const { queue, limit } = queueOf(job, deps);
  await release(queue, job.id, limit, deps);
}

/** Frees the slots of jobs that are over, were erased or cannot be read. Throws StorageError. */
export async function reclaimSlots(deps: QueueDependencies): Promise<void> {
  for (const [queue, limit] of Object.entries(deps.concurrency)) {
    for (const id of await deps.storage.semaphores.holdersAndNext(queue, limit)) {
      if (!(await needsSlot(id, deps))) await release(queue, id, limit, deps);
    }
  }
}

async function needsSlot(id: string, { storage }: QueueDependencies): Promise<boolean> {
  try {
    const state = (await storage.jobs.read(id))?.state;
    return state === 'accepted' || state === 'submitting' || state === 'waiting';
  } catch (error) {
    if (!isUnreadableRecord(error)) throw error;
    return false;
  }
}

async function release(queue: string, job: string, limit: number, deps: QueueDependencies): Promise<void> {
  for (const next of await deps.storage.semaphores.release(queue, job, limit)) {
    await deps.storage.schedule.wake(next);
  }
}

function queueOf({ work }: Pick<Job, 'work'>, { concurrency, familyOf }: QueueDependencies) {
  const queue = familyOf(work);
  return { queue, limit: concurrency[queue] };
}
