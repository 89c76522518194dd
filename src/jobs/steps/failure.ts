/** Handles failed requests to the gateway: retries, waits for a callback, or fails the job. */
import type { GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { pauseBefore } from '../runner/retries.ts';
import type { JobRun, Next } from '../runner/run.ts';
import { retryLaterSentence, sentenceFor, uncertainSentence } from '../sentences.ts';

/** Tries in total, for requests that the gateway definitely did not accept. */
const SUBMISSION_TRIES = 5;
/** Longest automatic wait. For a longer Retry-After, the message says when to try again. */
const LONGEST_WAIT_MS = 60_000;

export type FailSubmission = (run: JobRun, error: GatewayError) => Next;

/**
 * Moves a job out of `submitting`. A request is only repeated if the gateway definitely did not accept it. If that is unknown, the job
 * waits for a callback, or fails if its work has none.
 */
export function createFailSubmission({
  now,
  random,
  newId,
  log,
}: Pick<JobDependencies, 'now' | 'random' | 'newId' | 'log'>): FailSubmission {
  return (run, error) => {
    const { job } = run;
    const reference = newId();
    log.warn({ job: job.id, reference, err: error }, 'Submission to the gateway failed');
    // Cancelled during the request, and the requester already knows.
    if (error.taken === 'no' && job.end === 'cancelled') {
      run.apply({ type: 'notTaken' });
      return 'now';
    }
    const { refusals = 0 } = job;
    const { retryAfterMs } = error;
    const isLong = (retryAfterMs ?? 0) > LONGEST_WAIT_MS;
    if (error.taken === 'no' && error.retryable && !isLong && refusals + 1 < SUBMISSION_TRIES) {
      const retryAt = now() + pauseBefore(refusals + 1, random, retryAfterMs);
      run.apply({ type: 'notTaken', ...(retryAfterMs === undefined ? {} : { until: retryAt }) });
      return retryAfterMs === undefined ? retryAt : 'now';
    }
    if (error.taken === 'unknown' && PLANS[job.work.route].resultMode === 'callback') {
      waitForCallback(run, now());
      return 'now';
    }
    const sentence =
      error.taken === 'unknown'
        ? uncertainSentence(error.code)
        : error.retryable && retryAfterMs !== undefined && isLong
          ? retryLaterSentence(error.code, retryAfterMs, now())
          : sentenceFor(error.code, job.work);
    return run.fail({ code: error.code, sentence, reference, taken: error.taken });
  };
}

/** Waits until the deadline for a callback that shows whether the gateway accepted the work. */
export function waitForCallback(run: JobRun, now: number): void {
  run.apply({ type: 'uncertain', deadlineAt: now + PLANS[run.job.work.route].deadlineMs });
}
