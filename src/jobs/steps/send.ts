/** Sends a job's request to the gateway once, and recovers jobs whose process died during the request. */
import { EMPTY_RESULT } from '../../core/job.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { MediaError } from '../../media/errors.ts';
import type { AnswerQuestion } from '../ask/answer.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import type { JobRun, Next } from '../runner/run.ts';
import { INTERRUPTED_SENTENCE, notStoredSentence, UNCERTAIN_SENTENCE } from '../sentences.ts';
import type { WatchForCancel } from './cancel-watch.ts';
import type { JobChannel } from './channel.ts';
import { type FailSubmission, waitForCallback } from './failure.ts';
import type { FinalMessage } from './message.ts';
import type { PaidWork, Submit, Submitted } from './submit.ts';

interface SendParts extends Pick<JobDependencies, 'now' | 'newId' | 'log'>, Pick<JobChannel, 'tryToShow'> {
  readonly submit: Submit;
  readonly answerQuestion: AnswerQuestion;
  readonly watchForCancel: WatchForCancel;
  readonly failSubmission: FailSubmission;
  readonly finalMessage: FinalMessage;
}

export function createSend({
  submit,
  answerQuestion,
  watchForCancel,
  failSubmission,
  finalMessage,
  tryToShow,
  now,
  newId,
  log,
}: SendParts) {
  /** Shows a cancellation immediately. The gateway's response decides later whether it is charged. Never rejects. */
  async function showCancelled(run: JobRun, by: string, shutdown: AbortSignal): Promise<void> {
    try {
      run.apply({ type: 'cancelRequested', by });
      run.apply({ type: 'cancelled' });
      await tryToShow(run, async () => (await finalMessage(run, shutdown)).message);
      await run.save();
    } catch (error) {
      log.warn(
        { job: run.job.id, err: error },
        "Could not show a cancellation; waiting for the gateway's answer",
      );
    }
  }

  /** Sends the request and watches for a cancellation. A shutdown doesn't abort the request, which may be nearly done. */
  async function submitWatched(run: JobRun, work: PaidWork, shutdown: AbortSignal): Promise<Submitted> {
    let cancelling: Promise<void> | undefined;
    const submitAndWatch = async () => {
      using _watch = await watchForCancel(run.job.id, shutdown, (by) => {
        cancelling = showCancelled(run, by, shutdown);
      });
      run.assertHeld();
      return await submit(run.job, work, AbortSignal.timeout(PLANS[work.route].deadlineMs));
    };
    return submitAndWatch().finally(() => cancelling);
  }

  /** Sends the request of a `submitting` job. */
  async function send(run: JobRun, signal: AbortSignal): Promise<Next> {
    const { id, work } = run.job;
    if (work.route === 'answer') return answerQuestion(run, work, signal);
    const { resultMode, deadlineMs } = PLANS[work.route];
    try {
      const submitted = await submitWatched(run, work, signal);
      const deadline = resultMode === 'direct' ? {} : { deadlineAt: now() + deadlineMs };
      run.apply({ type: 'submitted', ...submitted, ...deadline, at: now() });
      return 'now';
    } catch (error) {
      if (error instanceof GatewayError) return failSubmission(run, error);
      if (!(error instanceof MediaError)) throw error;
      // The result arrived but is lost. It is only paid for again if a person presses **Again**.
      const reference = newId();
      log.error({ job: id, reference, err: error }, "Could not store the gateway's result");
      return run.fail({ code: error.code, sentence: notStoredSentence(error), reference, taken: 'unknown' });
    }
  }

  /** Handles a job found in `submitting`: its process died, so the gateway may or may not have accepted the request. */
  function recover(run: JobRun): Next {
    const { id, work, result } = run.job;
    const reference = newId();
    log.warn({ job: id, reference }, 'Found an interrupted submission');
    const interrupted = { code: 'interrupted', reference, taken: 'unknown' } as const;
    const { resultMode } = PLANS[work.route];
    switch (resultMode) {
      case 'callback':
        waitForCallback(run, now());
        return 'now';
      case 'poll':
      case 'direct':
        return run.fail({ ...interrupted, sentence: UNCERTAIN_SENTENCE });
      case 'stream': {
        const answer = result?.answer;
        if (answer?.text || answer?.calls) {
          const broken = { ...answer, finish: { reason: 'broken' as const } };
          const fullResult = { ...(result ?? EMPTY_RESULT), answer: broken };
          run.apply({ type: 'completed', result: fullResult, at: now() });
          return 'now';
        }
        return run.fail({ ...interrupted, sentence: INTERRUPTED_SENTENCE });
      }
      default:
        return resultMode satisfies never;
    }
  }

  return { send, recover };
}
