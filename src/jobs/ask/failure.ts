/** Handles questions that failed before anything of an answer arrived. */

import type { Job } from '../../core/job.ts';
import { nextModel } from '../../core/models/answer-plans.ts';
import type { AnswerWork } from '../../core/work.ts';
import { ERROR_CODES, type GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun, Next } from '../runner/run.ts';
import { sentenceFor, uncertainSentence } from '../sentences.ts';
import type { FailSubmission } from '../steps/failure.ts';

export type FailAnswer = (
  run: JobRun,
  work: AnswerWork,
  ended: { readonly failure: GatewayError; readonly isTaken: boolean },
) => Next;

/**
 * Asks the next model, or repeats the question, only if the gateway definitely accepted none of its requests; otherwise fails the
 * job. With tools, a request may be refused after others were accepted.
 */
export function createFailAnswer({
  failSubmission,
  newId,
  log,
}: Pick<JobDependencies, 'newId' | 'log'> & { readonly failSubmission: FailSubmission }): FailAnswer {
  return (run, work, { failure: error, isTaken }) => {
    const isRefusedPreview = work.way?.type === 'thinking' && PREVIEW_REFUSALS.has(error.code);
    const taken = isTaken ? 'unknown' : error.taken;
    const next = taken === 'no' ? nextModel(work) : undefined;
    if (next && cannotAnswer(run.job, error)) {
      log.warn({ job: run.job.id, model: work.request.model, err: error }, 'Asking the next model instead');
      run.apply({ type: 'notTaken', work: next });
      return 'now';
    }
    if (taken === 'no' && error.retryable && !isRefusedPreview) return failSubmission(run, error);
    const reference = newId();
    log.warn({ job: run.job.id, reference, err: error }, 'No answer received');
    const sentence = isRefusedPreview
      ? `The service rejected “${work.request.model}”. This model is a preview that may change or end. Choose another model.`
      : answerSentence(error);
    return run.fail({ code: error.code, sentence, reference, taken });
  };
}

/** Failures of a model or its service. Another model would refuse the content, too. */
const MODEL_FAILURES: ReadonlySet<GatewayError['code']> = new Set([
  'unavailable',
  'maintenance',
  'network',
  'rate',
  'credits',
  'not-found',
  'no-service',
]);
/** A rate limit that ends sooner is waited for, once. */
const LONGEST_RATE_WAIT_MS = 10_000;

function cannotAnswer({ refusals = 0 }: Pick<Job, 'refusals'>, error: GatewayError): boolean {
  const { code, retryable, retryAfterMs } = error;
  const endsSoon = code === 'rate' && retryAfterMs !== undefined && retryAfterMs <= LONGEST_RATE_WAIT_MS;
  if (endsSoon && refusals === 0) return false;
  // An unexplained failure may have cost credits if it is not retryable.
  return MODEL_FAILURES.has(code) && (retryable || ERROR_CODES[code].refuses);
}

const PREVIEW_REFUSALS: ReadonlySet<GatewayError['code']> = new Set(['not-found', 'invalid', 'forbidden']);

/** More specific messages than for other work: a failed answer has no paid result that could still arrive. */
function answerSentence({ code, taken }: GatewayError): string {
  switch (code) {
    case 'broken-stream':
      return 'The answer was cut off before the first word. Press Again to retry.';
    case 'stalled':
      return 'The service accepted the question, then stopped responding. Press Again to retry.';
    case 'nonsense':
      return "The model's answer was empty. Press Again, or rephrase your question.";
    case 'network':
    case 'timeout':
    case 'unavailable':
      return taken === 'unknown' ? uncertainSentence(code) : sentenceFor(code);
    case 'too-long':
      return 'The question is too long for this model, even without the earlier messages. Shorten it, or choose another model.';
    case 'not-found':
      return "The service doesn't offer this model through this interface. Choose another model, or put “msg:” or “gen:” before this one's ID, as in “msg:some-id”.";
    case 'credits':
    case 'rate':
    case 'auth':
    case 'forbidden':
    case 'invalid':
    case 'blocked':
    case 'copyright':
    case 'artist':
    case 'exists':
    case 'no-images':
    case 'maintenance':
    case 'unfetched':
    case 'unread':
    case 'not-made':
    case 'refunded':
    case 'cancelled':
    case 'no-api':
    case 'no-service':
    case 'aborted':
      return sentenceFor(code);
    default:
      return code satisfies never;
  }
}
