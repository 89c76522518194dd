/** Asks about a video task, and decides when to ask again. */
import { GatewayError } from '../gateway/errors.ts';
import type { VideoTask } from '../gateway/media.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate, pauseBefore } from './record.ts';
import { EMPTY_RESULT } from './result.ts';
import { ROUTES } from './routes.ts';
import { LOST_TASK_SENTENCE, sentenceFor } from './sentences.ts';

type PollDependencies = Pick<
  JobDependencies,
  'storage' | 'gateway' | 'pollPace' | 'now' | 'random' | 'newId' | 'log'
>;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SHORTEST_PAUSE_MS = 2 * SECOND;
/** The public API's own advice (https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference). */
const LONGEST_PAUSE_MS = 15 * SECOND;
/** Where nothing is known yet: a short video may be there within seconds. */
const TYPICAL_MS = 30 * SECOND;
/** UNKNOWN is what the public API says of ids that it does not have. For a moment that may be the task's beginning. */
const UNKNOWN_FOR_MS = 5 * MINUTE;
/** After the person was told that it takes too long, or cancelled: what was paid for may still come. */
const LATE_FIRST_MS = 30 * SECOND;
const LATE_LONGEST_MS = 10 * MINUTE;
/** The public API knows a task for 24 hours. */
const KNOWN_FOR_MS = 24 * 60 * MINUTE;

/**
 * Milliseconds until a task is asked about again: rarely while such tasks never end yet, often around the time when they
 * mostly do (`typicalMs`, from submission), and rarely again after that. Give or take a tenth.
 */
export function pollPause(
  { elapsedMs, typicalMs = TYPICAL_MS }: { elapsedMs: number; typicalMs?: number | undefined },
  random: () => number,
): number {
  const away = Math.abs(typicalMs - elapsedMs) / 4;
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, away)) * (0.9 + random() * 0.2);
}

/** When a task that was just submitted is asked about first. */
export function whenToPollFirst(job: Job, d: Pick<PollDependencies, 'now' | 'random'>): number {
  return d.now() + pollPause(progressOf(job, d.now()), d.random);
}

/** Polls once. Resolves to when to look again, in milliseconds since the epoch; `now` when the record moved on. */
export async function poll(
  job: Job,
  taskId: string,
  signal: AbortSignal,
  d: PollDependencies,
): Promise<'now' | number> {
  const turn = d.pollPace.turn(job.id);
  if (turn > 0) return d.now() + turn;
  const task = await ask(job, taskId, signal, d);
  if (task === 'lost') return fail(job, { code: 'not-found', sentence: LOST_TASK_SENTENCE }, d);
  if (typeof task === 'number') return task;
  switch (task.status) {
    case 'succeeded':
      if (task.videoUrl !== undefined) return finish(job, task.videoUrl, d);
      // Finished without its URL: it may follow; the deadline bounds the wait.
      return again(job, d);
    case 'failed':
    case 'cancelled': {
      const code = task.failure?.code ?? 'nonsense';
      return fail(job, { code, sentence: sentenceFor(code) }, d, task);
    }
    case 'unknown':
      if (d.now() - (job.unknownSince ?? d.now()) >= UNKNOWN_FOR_MS)
        return fail(job, { code: 'not-found', sentence: LOST_TASK_SENTENCE }, d, task);
      return again({ ...job, unknownSince: job.unknownSince ?? d.now() }, d);
    case 'pending':
    case 'running':
      return again(without(job, 'unknownSince'), d);
    default:
      return task.status satisfies never;
  }
}

/** Whether a job that ended without its result may still get it by asking. */
export function isLate({ end, taskId, work }: Job): boolean {
  return (
    (end === 'expired' || end === 'cancelled') &&
    taskId !== undefined &&
    ROUTES[work.route].comesBack === 'poll'
  );
}

/** Asks on, ever more rarely, for as long as the gateway knows the task. */
export async function lookForLate(
  job: Job,
  signal: AbortSignal,
  d: PollDependencies,
): Promise<'now' | number | undefined> {
  const { taskId } = job;
  const elapsed = d.now() - (job.submittedAt ?? job.createdAt);
  if (!isLate(job) || taskId === undefined || job.result?.videoUrl !== undefined || elapsed > KNOWN_FOR_MS)
    return undefined;
  const pause = Math.min(LATE_LONGEST_MS, Math.max(LATE_FIRST_MS, elapsed / 4)) * (0.9 + d.random() * 0.2);
  // Told a moment ago, so the last answer is not older than that.
  if (d.now() - (job.finishedAt ?? 0) < LATE_FIRST_MS / 2) return d.now() + pause;
  const turn = d.pollPace.turn(job.id);
  if (turn > 0) return d.now() + turn;
  const task = await ask(job, taskId, signal, d);
  if (task === 'lost') return undefined;
  if (typeof task === 'number') return task;
  if (task.videoUrl !== undefined) return finish(job, task.videoUrl, d);
  return task.status === 'failed' || task.status === 'cancelled' || task.status === 'unknown'
    ? undefined
    : d.now() + pause;
}

/** The task; `lost` if the gateway has none of that id; when to ask again if it could not tell. */
async function ask(
  job: Job,
  taskId: string,
  signal: AbortSignal,
  d: PollDependencies,
): Promise<VideoTask | 'lost' | number> {
  try {
    return await d.gateway.media.queryVideo(taskId, { signal });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    d.log.warn({ job: job.id, err: error }, 'The video task could not be asked about');
    if (!error.retryable && error.code === 'not-found') return 'lost';
    // What one poll is told holds for all of them.
    if (error.retryAfterMs !== undefined) d.pollPace.hold(error.retryAfterMs);
    const asked = await mutate(d.storage, job.id, (current) => ({
      ...current,
      attempts: current.attempts + 1,
    }));
    const attempts = Math.min((asked ?? job).attempts, MOST_DOUBLINGS);
    return d.now() + pauseBefore(attempts, d.random, error.retryAfterMs);
  }
}

/** A gateway that was away for long is asked again within a minute or so of its return. */
const MOST_DOUBLINGS = 6;

async function again(seen: Job, d: PollDependencies): Promise<number> {
  const asked = await mutate(d.storage, seen.id, (current) => ({
    ...without(current, 'unknownSince'),
    ...(seen.unknownSince === undefined ? {} : { unknownSince: seen.unknownSince }),
    polls: current.polls + 1,
    attempts: 0,
  }));
  return d.now() + pollPause(progressOf(asked ?? seen, d.now()), d.random);
}

function progressOf({ submittedAt, createdAt, estimateMs }: Job, now: number) {
  return { elapsedMs: now - (submittedAt ?? createdAt), typicalMs: estimateMs };
}

function without(job: Job, field: 'unknownSince'): Job {
  const { [field]: _, ...rest } = job;
  return rest;
}

async function finish(job: Job, videoUrl: string, d: PollDependencies): Promise<'now'> {
  await mutate(d.storage, job.id, (current) => {
    if (current.end === 'delivered') return current;
    return {
      ...current,
      state: 'ready',
      // Cancelled work that is finished anyway is kept and offered.
      end: current.end === 'cancelled' ? 'cancelled' : 'delivered',
      attempts: 0,
      result: { ...(current.result ?? EMPTY_RESULT), videoUrl },
    };
  });
  return 'now';
}

async function fail(
  job: Job,
  { code, sentence }: { code: GatewayError['code']; sentence: string },
  d: PollDependencies,
  cause?: VideoTask,
): Promise<'now'> {
  const reference = d.newId();
  d.log.warn({ job: job.id, reference, code, cause }, 'The video task failed');
  await mutate(d.storage, job.id, (current) => {
    if (current.state !== 'waiting') return current;
    const failure = { code, sentence, reference, taken: 'no' as const };
    return { ...current, state: 'ready', end: 'failed', attempts: 0, failure };
  });
  return 'now';
}
