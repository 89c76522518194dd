/** What becomes of a job whose submission failed: tried again, waited for, or told. */
import type { GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { pauseBefore } from '../runner/retries.ts';
import type { JobRun, Next } from '../runner/run.ts';
import { askLaterSentence, sentenceFor, uncertainSentence } from '../sentences.ts';

/** Submissions that the gateway surely did not take are tried this often in all. */
const SUBMISSION_TRIES = 5;
/** A person waits no longer than this. After that they read when to ask again. */
const LONGEST_WAIT_MS = 60_000;

export type FailSubmission = (run: JobRun, error: GatewayError) => Next;

/**
 * Moves a job out of `submitting`. Work is sent again only when the gateway surely did not take it; when that is not
 * known, a callback may still come and is waited for, and other work ends with a sentence.
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
    // Its person was told while the gateway was asked.
    if (error.taken === 'no' && job.end === 'cancelled') {
      run.apply({ type: 'notTaken' });
      return 'now';
    }
    const { refusals = 0 } = job;
    const { retryAfterMs } = error;
    const isLong = (retryAfterMs ?? 0) > LONGEST_WAIT_MS;
    if (error.taken === 'no' && error.retryable && !isLong && refusals + 1 < SUBMISSION_TRIES) {
      const again = now() + pauseBefore(refusals + 1, random, retryAfterMs);
      run.apply({ type: 'notTaken', ...(retryAfterMs === undefined ? {} : { until: again }) });
      return retryAfterMs === undefined ? again : 'now';
    }
    if (error.taken === 'unknown' && PLANS[job.work.route].comesBack === 'callback') {
      waitForCallback(run, now());
      return 'now';
    }
    const sentence =
      error.taken === 'unknown'
        ? uncertainSentence(error.code)
        : error.retryable && retryAfterMs !== undefined && isLong
          ? askLaterSentence(error.code, retryAfterMs, now())
          : sentenceFor(error.code, job.work);
    return run.fail({ code: error.code, sentence, reference, taken: error.taken });
  };
}

/** It is unknown whether the gateway took the work: its callback decides, until the deadline. `now`: since the epoch. */
export function waitForCallback(run: JobRun, now: number): void {
  run.apply({ type: 'uncertain', deadlineAt: now + PLANS[run.job.work.route].deadlineMs });
}
