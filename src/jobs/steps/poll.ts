/** Asks about a video task, and decides when to ask again: first after most of the usual time, then every 3 to 15 seconds. */

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
/** UNKNOWN is what the public API says of ids that it does not have. For a moment that may be the task's beginning. */
const UNKNOWN_FOR_MS = 5 * MINUTE;
/** After the person was told that it takes too long, or cancelled: what was paid for may still come. */
const LATE_FIRST_MS = 30 * SECOND;
const LATE_LONGEST_MS = 10 * MINUTE;
/** The public API knows a task for 24 hours. */
const KNOWN_FOR_MS = 24 * 60 * MINUTE;
/** A task is asked about again after this long, even if Retry-After says longer. */
const LONGEST_HOLD_MS = 10 * MINUTE;
/** A gateway that was away for long is asked again within a minute or so of its return. */
const MOST_DOUBLINGS = 6;

/** Of the median of recent videos of the same model. */
const FIRST_PART = 0.8;

/** The pause between two polls, by how long the video has taken. The public API advises 15 seconds. */
const PAUSES = [
  { untilMs: MINUTE, pauseMs: 3 * SECOND },
  { untilMs: 3 * MINUTE, pauseMs: 5 * SECOND },
  { untilMs: 10 * MINUTE, pauseMs: 10 * SECOND },
  { untilMs: Number.POSITIVE_INFINITY, pauseMs: 15 * SECOND },
] as const;

interface Waited {
  /** Since the video was submitted. */
  readonly elapsedMs: number;
  /** The median of recent videos of the same model, where there are any. */
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
  /** When a task that was submitted, or asked about, just now is asked about next, in milliseconds since the epoch. */
  function whenToPoll({ submittedAt, createdAt, estimateMs }: Job): number {
    const elapsedMs = now() - (submittedAt ?? createdAt);
    return now() + pollPause({ elapsedMs, typicalMs: estimateMs }, random);
  }

  /** Polls once, unless the gateway asked for patience. Resolves to when to run again; a run that applied no event has not asked. */
  async function poll(run: JobRun, taskId: string, signal: AbortSignal): Promise<'now' | number> {
    const notBefore = whenToAsk(run.job);
    if (notBefore > now()) return notBefore;
    const task = await query(run, taskId, signal);
    if (typeof task === 'number') return task;
    const { videoUrl, failure, status } = task;
    const { unknownSince = now() } = run.job;
    switch (status) {
      case 'succeeded':
        if (videoUrl !== undefined) return complete(run, videoUrl);
        // Finished without its URL: it may follow; the deadline bounds the wait.
        run.apply({ type: 'polled', unknownSince: run.job.unknownSince });
        break;
      case 'failed':
      case 'cancelled': {
        const code = failure?.code ?? 'nonsense';
        return fail(run, { code, sentence: sentenceFor(code), taken: 'no' }, task);
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
    return whenToPoll(run.job);
  }

  /** Asks on, ever more rarely, for as long as the gateway knows the task. */
  async function pollLate(run: JobRun, signal: AbortSignal): Promise<Next> {
    const { job } = run;
    const { taskId } = job;
    const elapsed = now() - (job.submittedAt ?? job.createdAt);
    const isOver = job.result?.videoUrl !== undefined || elapsed > KNOWN_FOR_MS;
    if (!mayComeLate(job) || taskId === undefined || isOver) return undefined;
    const pause = jitter(Math.min(LATE_LONGEST_MS, Math.max(LATE_FIRST_MS, elapsed / 4)), random);
    // Told a moment ago, so the last answer is not older than that.
    if (now() - (job.finishedAt ?? 0) < LATE_FIRST_MS / 2) return now() + pause;
    const notBefore = whenToAsk(job);
    if (notBefore > now()) return notBefore;
    const task = await query(run, taskId, signal);
    if (typeof task === 'number') return task;
    if (task.videoUrl !== undefined) return complete(run, task.videoUrl);
    return task.status === 'failed' || task.status === 'cancelled' ? undefined : now() + pause;
  }

  /**
   * Asks a finished task for its video's address again: addresses are temporary, and one that no longer answers may have a
   * successor. The known address stays where the gateway does not tell.
   */
  async function refreshVideoUrl(run: JobRun, signal: AbortSignal): Promise<void> {
    const { job } = run;
    if (PLANS[job.work.route].comesBack !== 'poll' || job.taskId === undefined) return;
    if (whenToAsk(job) > now()) return;
    try {
      const { videoUrl } = await gateway.media.queryVideo(job.taskId, { signal });
      if (videoUrl === undefined) return;
      const result = mergeResults(job.result, { ...EMPTY_RESULT, videoUrl });
      run.record({ result });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      log.warn({ job: job.id, err: error }, 'Could not get a fresh URL for the video');
      const retryAfterMs = patienceOf(error);
      if (retryAfterMs !== undefined) run.record({ held: { asking: now() + retryAfterMs } });
    }
  }

  /** The task, `unknown` if the gateway has none of that id; when to ask again if it could not tell. */
  async function query(run: JobRun, taskId: string, signal: AbortSignal): Promise<VideoTask | number> {
    try {
      return await gateway.media.queryVideo(taskId, { signal });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      log.warn({ job: run.job.id, err: error }, 'Could not query the video task');
      if (error.code === 'not-found') return { status: 'unknown' };
      const retryAfterMs = patienceOf(error);
      const attempts = Math.min(run.job.attempts + 1, MOST_DOUBLINGS);
      const again = now() + pauseBefore(attempts, random, retryAfterMs);
      run.apply({ type: 'retried', ...(retryAfterMs === undefined ? {} : { held: { asking: again } }) });
      return again;
    }
  }

  function complete(run: JobRun, videoUrl: string): 'now' {
    run.apply({ type: 'completed', result: { ...EMPTY_RESULT, videoUrl }, at: now() });
    return 'now';
  }

  function fail(run: JobRun, failure: Omit<JobFailure, 'reference'>, task: VideoTask): 'now' {
    const reference = newId();
    // The gateway's own words stay out of the log.
    const { gatewayCode } = task.failure ?? {};
    const fields = { job: run.job.id, reference, code: failure.code, status: task.status, gatewayCode };
    log.warn(fields, 'The video task failed');
    return run.fail({ ...failure, reference });
  }

  return { whenToPoll, poll, pollLate, refreshVideoUrl };
}

/** Milliseconds until a video is asked about again. Jitter keeps replicas apart. */
export function pollPause({ elapsedMs, typicalMs = 0 }: Waited, random: () => number): number {
  const { pauseMs } = PAUSES.find(({ untilMs }) => elapsedMs < untilMs) ?? PAUSES[3];
  const first = FIRST_PART * typicalMs - elapsedMs;
  return Math.max(first, pauseMs) * (0.95 + random() / 10);
}

/** How long the gateway wants to be left alone, in milliseconds, up to {@link LONGEST_HOLD_MS}. */
function patienceOf({ retryAfterMs }: GatewayError): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, LONGEST_HOLD_MS);
}

/** When the gateway's Retry-After for this task is over, in milliseconds since the epoch. */
function whenToAsk({ held }: Job): number {
  return held?.asking ?? 0;
}

/** Whether a job that ended without its result may still get it by asking. */
export function mayComeLate({ end, failure, taskId, work }: Job): boolean {
  const isLost = end === 'failed' && failure?.taken === 'unknown';
  return (
    (end === 'expired' || end === 'cancelled' || isLost) &&
    taskId !== undefined &&
    PLANS[work.route].comesBack === 'poll'
  );
}
