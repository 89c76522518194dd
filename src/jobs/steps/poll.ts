/** Polls video tasks: first after most of the typical duration, then every 3 to 15 seconds. */

import { EMPTY_RESULT, type Job, type JobFailure, mergeResults } from '../../core/job.ts';
import { jitter } from '../../core/util/backoff.ts';
import type { VideoTask } from '../../gateway/media/responses.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { pauseBefore } from '../runner/retries.ts';
import type { JobRun, Next } from '../runner/run.ts';
import { LOST_TASK_SENTENCE, sentenceFor } from '../sentences.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The public API reports unknown ids as UNKNOWN, and for a moment also new tasks. */
const UNKNOWN_FOR_MS = 5 * MINUTE;
/** Pauses after the job expired or was cancelled, because the paid result may still arrive. */
const LATE_FIRST_MS = 30 * SECOND;
const LATE_LONGEST_MS = 10 * MINUTE;
/** The public API stores a task for 24 hours. */
const KNOWN_FOR_MS = 24 * 60 * MINUTE;
/** Limits a Retry-After for polls. */
const LONGEST_HOLD_MS = 10 * MINUTE;
/** Limits the backoff, so that polls resume within about a minute after an outage of the gateway. */
const MOST_DOUBLINGS = 6;

/** Share of the typical duration before the first poll. */
const FIRST_PART = 0.8;

/** Pauses between polls by elapsed time. The public API recommends 15 seconds. */
const PAUSES = [
  { untilMs: MINUTE, pauseMs: 3 * SECOND },
  { untilMs: 3 * MINUTE, pauseMs: 5 * SECOND },
  { untilMs: 10 * MINUTE, pauseMs: 10 * SECOND },
  { untilMs: Number.POSITIVE_INFINITY, pauseMs: 15 * SECOND },
] as const;

interface PollTiming {
  /** Time since the video was submitted. */
  readonly elapsedMs: number;
  /** Median duration of recent videos of the same model, if any. */
  readonly typicalMs?: number | undefined;
}

export type Poll = ReturnType<typeof createPoll>;

export function createPoll({
  gateway,
  now,
  random,
  newId,
  log,
}: Pick<JobDependencies, 'gateway' | 'now' | 'random' | 'newId' | 'log'>) {
  /** Time of the next poll after a submission or poll, in milliseconds since the epoch. */
  function nextPollAt({ submittedAt, createdAt, estimateMs }: Job): number {
    const elapsedMs = now() - (submittedAt ?? createdAt);
    return now() + pollPause({ elapsedMs, typicalMs: estimateMs }, random);
  }

  /** Polls once, unless a Retry-After is pending; then no event is applied. Resolves to the time of the next run. */
  async function poll(run: JobRun, taskId: string, signal: AbortSignal): Promise<'now' | number> {
    const notBefore = retryAfterEnd(run.job);
    if (notBefore > now()) return notBefore;
    const task = await query(run, taskId, signal);
    if (typeof task === 'number') return task;
    const { videoUrl, failure, status } = task;
    const { unknownSince = now() } = run.job;
    switch (status) {
      case 'succeeded':
        if (videoUrl !== undefined) return complete(run, videoUrl);
        // The URL may follow. The deadline limits the wait.
        run.apply({ type: 'polled', unknownSince: run.job.unknownSince });
        break;
      case 'failed':
      case 'cancelled': {
        const code = failure?.code ?? 'nonsense';
        return fail(run, { code, sentence: sentenceFor(code, run.job.work), taken: 'no' }, task);
      }
      case 'unknown':
        if (now() - unknownSince >= UNKNOWN_FOR_MS) {
          const lost = { code: 'not-found', sentence: LOST_TASK_SENTENCE, taken: 'unknown' } as const;
          return fail(run, lost, task);
        }
        run.apply({ type: 'polled', unknownSince });
        break;
      case 'pending':
      case 'running':
        run.apply({ type: 'polled' });
        break;
      default:
        return status satisfies never;
    }
    return nextPollAt(run.job);
  }

  /** Keeps polling at growing intervals after the job has ended, while the gateway knows the task. */
  async function pollLate(run: JobRun, signal: AbortSignal): Promise<Next> {
    const { job } = run;
    const { taskId } = job;
    const elapsed = now() - (job.submittedAt ?? job.createdAt);
    const isOver = job.result?.videoUrl !== undefined || elapsed > KNOWN_FOR_MS;
    if (!mayArriveLate(job) || taskId === undefined || isOver) return undefined;
    const pause = jitter(Math.min(LATE_LONGEST_MS, Math.max(LATE_FIRST_MS, elapsed / 4)), random);
    // The job has just ended, so the last poll is recent.
    if (now() - (job.finishedAt ?? 0) < LATE_FIRST_MS / 2) return now() + pause;
    const notBefore = retryAfterEnd(job);
    if (notBefore > now()) return notBefore;
    const task = await query(run, taskId, signal);
    if (typeof task === 'number') return task;
    if (task.videoUrl !== undefined) return complete(run, task.videoUrl);
    return task.status === 'failed' || task.status === 'cancelled' ? undefined : now() + pause;
  }

  /** Requests a fresh URL of a finished video, because URLs are temporary. Resolves to whether the gateway returned another one. */
  async function refreshVideoUrl(run: JobRun, signal: AbortSignal): Promise<boolean> {
    const { job } = run;
    if (PLANS[job.work.route].resultMode !== 'poll' || job.taskId === undefined) return false;
    if (retryAfterEnd(job) > now()) return false;
    try {
      const { videoUrl } = await gateway.media.queryVideo(job.taskId, { signal });
      if (videoUrl === undefined || videoUrl === job.result?.videoUrl) return false;
      const result = mergeResults(job.result, { ...EMPTY_RESULT, videoUrl });
      run.record({ result });
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      log.warn({ job: job.id, err: error }, 'Could not get a fresh URL for the video');
      const retryAfterMs = limitedRetryAfter(error);
      if (retryAfterMs !== undefined) run.record({ held: { asking: now() + retryAfterMs } });
      return false;
    }
  }

  /** Resolves to the task (`unknown` if the gateway doesn't know it), or to the time of the next try after an error. */
  async function query(run: JobRun, taskId: string, signal: AbortSignal): Promise<VideoTask | number> {
    try {
      return await gateway.media.queryVideo(taskId, { signal });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      log.warn({ job: run.job.id, err: error }, 'Could not query the video task');
      if (error.code === 'not-found') return { status: 'unknown' };
      const retryAfterMs = limitedRetryAfter(error);
      const attempts = Math.min(run.job.attempts + 1, MOST_DOUBLINGS);
      const retryAt = now() + pauseBefore(attempts, random, retryAfterMs);
      run.apply({ type: 'retried', ...(retryAfterMs === undefined ? {} : { held: { asking: retryAt } }) });
      return retryAt;
    }
  }

  function complete(run: JobRun, videoUrl: string): 'now' {
    run.apply({ type: 'completed', result: { ...EMPTY_RESULT, videoUrl }, at: now() });
    return 'now';
  }

  function fail(run: JobRun, failure: Omit<JobFailure, 'reference'>, task: VideoTask): 'now' {
    const reference = newId();
    // The gateway's message is not logged, because it may quote the prompt.
    const { gatewayCode } = task.failure ?? {};
    const fields = { job: run.job.id, reference, code: failure.code, status: task.status, gatewayCode };
    log.warn(fields, 'The video task failed');
    return run.fail({ ...failure, reference });
  }

  return { nextPollAt, poll, pollLate, refreshVideoUrl };
}

/** Milliseconds until the next poll. Jitter keeps replicas from polling at the same moment. */
export function pollPause({ elapsedMs, typicalMs = 0 }: PollTiming, random: () => number): number {
  const { pauseMs } = PAUSES.find(({ untilMs }) => elapsedMs < untilMs) ?? PAUSES[3];
  const first = FIRST_PART * typicalMs - elapsedMs;
  return Math.max(first, pauseMs) * (0.95 + random() / 10);
}

/** The Retry-After of an error in milliseconds, up to {@link LONGEST_HOLD_MS}. */
function limitedRetryAfter({ retryAfterMs }: GatewayError): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, LONGEST_HOLD_MS);
}

/** End of the gateway's Retry-After, in milliseconds since the epoch. */
function retryAfterEnd({ held }: Job): number {
  return held?.asking ?? 0;
}

/** True if polling may still find the result of an ended job. */
export function mayArriveLate({ end, failure, taskId, work }: Job): boolean {
  const isLost = end === 'failed' && failure?.taken === 'unknown';
  return (
    (end === 'expired' || end === 'cancelled' || isLost) &&
    taskId !== undefined &&
    PLANS[work.route].resultMode === 'poll'
  );
}
