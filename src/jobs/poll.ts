/** Asks about a video task, and decides when to ask again. */
import { GatewayError } from '../gateway/errors.ts';
import type { VideoTask } from '../gateway/media.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate, pauseBefore } from './record.ts';
import { EMPTY_RESULT } from './result.ts';
import { sentenceFor } from './sentences.ts';

type PollDependencies = Pick<
  JobDependencies,
  'storage' | 'gateway' | 'pollPace' | 'now' | 'random' | 'newId' | 'log'
>;

const SECOND = 1_000;

/** Videos take 1 to 5 minutes and 15 s is the official advice: fast while a short one may be done, slower later. */
export function pollPause(polls: number, random: () => number): number {
  const pause = polls < 5 ? 2 * SECOND : polls < 20 ? 5 * SECOND : 15 * SECOND;
  return pause * (0.9 + random() * 0.2);
}

/** Polls once. Resolves to when to look again, in milliseconds since the epoch; `now` when the record moved on. */
export async function poll(
  job: Job,
  taskId: string,
  signal: AbortSignal,
  d: PollDependencies,
): Promise<'now' | number> {
  const wait = d.pollPace.turn();
  if (wait > 0) return d.now() + wait;
  let task: VideoTask;
  try {
    task = await d.gateway.media.queryVideo(taskId, { signal });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (!error.retryable && error.code === 'not-found') return fail(job, error.code, d, error);
    d.log.warn({ job: job.id, err: error }, 'The video task could not be asked about');
    const asked = await mutate(d.storage, job.id, (current) => ({
      ...current,
      attempts: current.attempts + 1,
    }));
    return d.now() + pauseBefore((asked ?? job).attempts, d.random, error.retryAfterMs);
  }
  switch (task.status) {
    case 'succeeded':
      if (task.videoUrl !== undefined) return finish(job, task.videoUrl, d);
      // Finished without its URL: it may follow; the deadline bounds the wait.
      return again(job, d);
    case 'failed':
    case 'cancelled':
      return fail(job, task.failure?.code ?? 'nonsense', d, task);
    case 'pending':
    case 'running':
    case 'unknown':
      return again(job, d);
    default:
      return task.status satisfies never;
  }
}

async function again(job: Job, d: PollDependencies): Promise<number> {
  const asked = await mutate(d.storage, job.id, (current) => ({
    ...current,
    polls: current.polls + 1,
    attempts: 0,
  }));
  return d.now() + pollPause((asked ?? job).polls, d.random);
}

async function finish(job: Job, videoUrl: string, d: PollDependencies): Promise<'now'> {
  await mutate(d.storage, job.id, (current) => {
    if (current.end === 'delivered') return current;
    return {
      ...current,
      state: 'ready',
      end: 'delivered',
      attempts: 0,
      result: { ...(current.result ?? EMPTY_RESULT), videoUrl },
    };
  });
  return 'now';
}

async function fail(
  job: Job,
  code: GatewayError['code'],
  d: PollDependencies,
  cause: GatewayError | VideoTask,
): Promise<'now'> {
  const reference = d.newId();
  d.log.warn({ job: job.id, reference, cause }, 'The video task failed');
  await mutate(d.storage, job.id, (current) => {
    if (current.state !== 'waiting') return current;
    return {
      ...current,
      state: 'ready',
      end: 'failed',
      attempts: 0,
      failure: { code, sentence: sentenceFor(code), reference, taken: 'no' },
    };
  });
  return 'now';
}
