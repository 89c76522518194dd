/** What becomes of a job whose submission threw: tried again, waited for, or told. */
import type { GatewayError } from '../gateway/errors.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate, pauseBefore } from './record.ts';
import { ROUTES } from './routes.ts';
import { sentenceFor, UNCERTAIN_SENTENCE } from './sentences.ts';

/** Submissions that the gateway surely did not take are tried this often in all. */
const SUBMISSION_TRIES = 5;

/**
 * Moves a job out of `submitting`. Work is sent again only when the gateway surely did not take it; when that is not
 * known, a callback may still come and is waited for, and other work ends with a sentence.
 */
export async function failSubmission(
  job: Job,
  error: GatewayError,
  d: Pick<JobDependencies, 'storage' | 'now' | 'random' | 'newId' | 'log'>,
): Promise<'now' | number> {
  const reference = d.newId();
  d.log.warn({ job: job.id, reference, err: error }, 'The gateway did not take the work');
  if (error.taken === 'no' && error.retryable && job.attempts + 1 < SUBMISSION_TRIES) {
    await mutate(d.storage, job.id, (current) =>
      current.state === 'submitting'
        ? { ...current, state: 'accepted', attempts: current.attempts + 1 }
        : current,
    );
    return d.now() + pauseBefore(job.attempts + 1, d.random, error.retryAfterMs);
  }
  const plan = ROUTES[job.work.route];
  if (error.taken === 'unknown' && plan.comesBack === 'callback') {
    await waitForCallback(job, d);
    return 'now';
  }
  const sentence = error.taken === 'unknown' ? UNCERTAIN_SENTENCE : sentenceFor(error.code, job.work);
  await mutate(d.storage, job.id, (current) =>
    current.state === 'submitting'
      ? {
          ...current,
          state: 'ready',
          end: 'failed',
          attempts: 0,
          failure: { code: error.code, sentence, reference, taken: error.taken },
        }
      : current,
  );
  return 'now';
}

/** It is unknown whether the gateway took the work: its callback decides, until the deadline. */
export async function waitForCallback(job: Job, d: Pick<JobDependencies, 'storage' | 'now'>): Promise<void> {
  await mutate(d.storage, job.id, (current) =>
    current.state === 'submitting'
      ? {
          ...current,
          state: 'waiting',
          attempts: 0,
          deadlineAt: d.now() + ROUTES[current.work.route].deadlineMs,
        }
      : current,
  );
}
