/** Asks the gateway for a job's work, once, and knows what to make of a process that died while it asked. */
import { GatewayError } from '../gateway/errors.ts';
import { MediaError } from '../media/errors.ts';
import { streamAnswer } from './answer.ts';
import { deliver } from './deliver.ts';
import type { JobDependencies } from './dependencies.ts';
import { failSubmission, waitForCallback } from './failure.ts';
import type { Job, JobFailure } from './job.ts';
import { endAs, mutate } from './record.ts';
import { EMPTY_RESULT, mergeResults } from './result.ts';
import { ROUTES } from './routes.ts';
import { INTERRUPTED_SENTENCE, UNCERTAIN_SENTENCE, unkeptSentence } from './sentences.ts';
import { type Submitted, submit } from './submit.ts';

/** How often somebody's wish to cancel is looked for while the gateway is being asked. */
const LOOK_EVERY_MS = 1_000;

/** Sends a job in state `submitting`. Resolves to when to look again. */
export async function send(job: Job, signal: AbortSignal, d: JobDependencies): Promise<'now' | number> {
  const { work } = job;
  if (work.route === 'answer') return streamAnswer(job, work, signal, d);
  const answered = new AbortController();
  const watching = endWhenCancelled(job, answered.signal, signal, d);
  try {
    // Not ended by a shutdown: an answer that is nearly here would be lost, and whether it was taken with it.
    const submitted = await submit(work, {
      gateway: d.gateway,
      media: d.media,
      callBackUrl: d.callbackUrl(job.id),
      fileUrl: d.fileUrl,
      signal: AbortSignal.timeout(ROUTES[work.route].deadlineMs),
    }).finally(async () => {
      answered.abort();
      await watching;
    });
    await mutate(d.storage, job.id, (current) => withAnswer(current, submitted, d.now()));
    return 'now';
  } catch (error) {
    if (error instanceof GatewayError) return failSubmission(job, error, d);
    if (!(error instanceof MediaError)) throw error;
    // What came as bytes is in no other place: it is told, and made again only if somebody wants it.
    const reference = d.newId();
    d.log.error({ job: job.id, reference, err: error }, 'What the gateway made could not be kept');
    const failure: JobFailure = {
      code: error.code,
      sentence: unkeptSentence(error),
      reference,
      taken: 'unknown',
    };
    return endAs(job, { end: 'failed', failure }, d);
  }
}

/** The record with what the gateway answered. Cancelled meanwhile, it was paid for all the same, so it is kept. */
function withAnswer(current: Job, { taskId, result: answer }: Submitted, now: number): Job {
  const cancelled = current.state !== 'submitting';
  if (cancelled && current.end !== 'cancelled') return current;
  const result = answer ? mergeResults(current.result, answer) : current.result;
  const known: Job = {
    ...current,
    ...(taskId === undefined ? {} : { taskId }),
    ...(result === undefined ? {} : { result }),
  };
  const { comesBack, deadlineMs } = ROUTES[current.work.route];
  if (comesBack !== 'direct') {
    return cancelled ? known : { ...known, state: 'waiting', attempts: 0, deadlineAt: now + deadlineMs };
  }
  const end = current.cancelRequestedBy === undefined ? 'delivered' : 'cancelled';
  return { ...known, state: 'ready', end, attempts: 0 };
}

/** People who cancel are told at once, and not when the gateway has answered. Never rejects. */
async function endWhenCancelled(
  job: Job,
  answered: AbortSignal,
  shutdown: AbortSignal,
  d: JobDependencies,
): Promise<void> {
  try {
    for (;;) {
      await d.sleep(LOOK_EVERY_MS, answered);
      if (answered.aborted) return;
      const current = await d.storage.jobs.read(job.id);
      if (current?.state !== 'submitting') return;
      if (current.cancelRequestedBy === undefined) continue;
      await endAs(current, { end: 'cancelled' }, d);
      const ended = await d.storage.jobs.read(job.id);
      if (ended?.state === 'ready') await deliver(ended, shutdown, d);
      return;
    }
  } catch (error) {
    d.log.warn({ job: job.id, err: error }, 'Cancelling waits for the gateway’s answer');
  }
}

/** A job is found in `submitting` only when the process that sent it died: nobody knows whether the gateway took it. */
export async function recover(job: Job, d: JobDependencies): Promise<'now'> {
  const reference = d.newId();
  d.log.warn({ job: job.id, reference }, 'Found a submission that was interrupted');
  const { comesBack } = ROUTES[job.work.route];
  switch (comesBack) {
    case 'callback':
      await waitForCallback(job, d);
      return 'now';
    case 'poll':
    case 'direct':
      return endAs(job, { end: 'failed', failure: uncertain(UNCERTAIN_SENTENCE, reference) }, d);
    case 'stream': {
      const answer = job.result?.answer;
      if (!answer?.text && !answer?.calls)
        return endAs(job, { end: 'failed', failure: uncertain(INTERRUPTED_SENTENCE, reference) }, d);
      const broken = { ...answer, finish: { reason: 'broken' as const } };
      const result = { ...(job.result ?? EMPTY_RESULT), answer: broken };
      return endAs(job, { end: 'delivered', result }, d);
    }
    default:
      return comesBack satisfies never;
  }
}

function uncertain(sentence: string, reference: string): JobFailure {
  return { code: 'interrupted', sentence, reference, taken: 'unknown' };
}
