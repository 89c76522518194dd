/** What becomes of an answer of which not a word came. */
import type { GatewayError } from '../gateway/errors.ts';
import type { AnswerWork } from '../work.ts';
import type { JobDependencies } from './dependencies.ts';
import { failSubmission } from './failure.ts';
import type { Job } from './job.ts';
import { mutate } from './record.ts';
import { sentenceFor } from './sentences.ts';

/** Asked again by itself only where the gateway surely did not take it; otherwise the person is told. */
export async function failAnswer(
  job: Job,
  work: AnswerWork,
  error: GatewayError,
  d: JobDependencies,
): Promise<'now' | number> {
  const isRefusedPreview = work.way?.type === 'thinking' && PREVIEW_REFUSALS.has(error.code);
  if (error.taken === 'no' && error.retryable && !isRefusedPreview) return failSubmission(job, error, d);
  const reference = d.newId();
  d.log.warn({ job: job.id, reference, err: error }, 'No answer came');
  const sentence = isRefusedPreview
    ? `The gateway refuses the thinking preview for “${work.request.model}”: it is a preview, and may change or end. Please choose another model.`
    : answerSentence(error);
  const failure = { code: error.code, sentence, reference, taken: error.taken };
  await mutate(d.storage, job.id, (current) =>
    current.state === 'submitting'
      ? { ...current, state: 'ready', end: 'failed', attempts: 0, failure }
      : current,
  );
  return 'now';
}

const PREVIEW_REFUSALS: ReadonlySet<GatewayError['code']> = new Set(['not-found', 'invalid', 'forbidden']);

/** Where nothing lasting could have been bought, the plain truth is better than doubts about it. */
function answerSentence({ code, taken }: GatewayError): string {
  switch (code) {
    case 'broken-stream':
      return 'The answer broke off before its first word. Press Again to ask anew.';
    case 'stalled':
      return 'The gateway took the question and then fell silent. Press Again to ask anew.';
    case 'nonsense':
      return 'The model answered with nothing. Press Again, or put it another way.';
    case 'network':
    case 'timeout':
    case 'unavailable':
      return taken === 'unknown'
        ? 'The connection to the gateway broke before an answer came. To be safe I did not ask twice; press Again if you want me to.'
        : sentenceFor(code);
    case 'too-long':
      return 'The question is too long for this model, even without what was said before. Please make it shorter, or choose another model.';
    case 'not-found':
      return 'The gateway does not offer this model on this route. Please choose another, or name its route, as in “msg:some-id”.';
    case 'credits':
    case 'rate':
    case 'auth':
    case 'forbidden':
    case 'invalid':
    case 'blocked':
    case 'exists':
    case 'maintenance':
    case 'aborted':
      return sentenceFor(code);
    default:
      return code satisfies never;
  }
}
