/** Asks a language model and streams the answer into the channel. */
import { secondsBetween } from '../../core/telemetry/series.ts';
import type { AnswerWork } from '../../core/work.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun, Next } from '../runner/run.ts';
import { INTERRUPTED_SENTENCE } from '../sentences.ts';
import type { CancelWatch, WatchForCancel } from '../steps/cancel-watch.ts';
import { type JobChannel, messageDigest, recordShown, showOptions } from '../steps/channel.ts';
import type { FinalMessage } from '../steps/message.ts';
import type { AnswerParts } from './dialects.ts';
import { type AnswerDraft, createAnswerDraft } from './draft.ts';
import type { FailAnswer } from './failure.ts';

/** How often a partial answer is stored, so that a crash loses little of it. */
const SAVE_EVERY_MS = 3_000;

interface AnswerRun {
  readonly draft: AnswerDraft;
  readonly watch: CancelWatch;
  readonly update: () => void;
  readonly shutdown: AbortSignal;
}

interface StreamEnd {
  /** The gateway accepted at least one request: part of an answer arrived. */
  readonly isTaken: boolean;
  /** The error that ended the stream early. */
  readonly failure?: GatewayError;
}

interface AnswerQuestionParts
  extends Pick<JobDependencies, 'platform' | 'media' | 'measure' | 'now' | 'newId' | 'log'>,
    Pick<JobChannel, 'progressMessage'> {
  readonly answerParts: AnswerParts;
  readonly failAnswer: FailAnswer;
  readonly finalMessage: FinalMessage;
  readonly watchForCancel: WatchForCancel;
}

/**
 * Streams the answer of a `submitting` job. The job becomes `ready` with the complete answer, with the part that arrived before the
 * answer was stopped or broke, or with a failure if nothing arrived. On shutdown, a partial answer is stored as broken, and a question
 * that was not sent yet is asked at the next start.
 */
export type AnswerQuestion = (run: JobRun, work: AnswerWork, shutdown: AbortSignal) => Promise<Next>;

export function createAnswerQuestion({
  platform,
  media,
  answerParts,
  failAnswer,
  progressMessage,
  finalMessage,
  watchForCancel,
  measure,
  now,
  newId,
  log,
}: AnswerQuestionParts): AnswerQuestion {
  /** Writes until the stream ends. Throws all errors but GatewayError. */
  async function write(
    run: JobRun,
    work: AnswerWork,
    { draft, watch, update, shutdown }: AnswerRun,
  ): Promise<StreamEnd> {
    let savedAt = now();
    let isTaken = false;
    let hasWords = false;
    try {
      if (watch.signal.aborted) return { isTaken };
      const asking = { signal: watch.signal, beforeAsking: () => run.assertHeld() };
      for await (const part of answerParts(run.job, work, asking)) {
        isTaken = true;
        await draft.add(part);
        if (part.type === 'finish') continue;
        if (!draft.empty) {
          if (!hasWords)
            measure(
              'minstrel_first_words_seconds',
              { dialect: work.dialect },
              secondsBetween(run.job.createdAt, now()),
            );
          hasWords = true;
          update();
        }
        if (draft.endless) {
          draft.end({ reason: 'endless' });
          return { isTaken };
        }
        if (now() - savedAt < SAVE_EVERY_MS && part.type !== 'call') continue;
        savedAt = now();
        await saveDraft(run, draft);
      }
      return { isTaken };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (watch.cancelledBy === undefined && !draft.empty)
        log[levelOf(shutdown)]({ job: run.job.id, err: error }, 'An answer ended early');
      return { isTaken, failure: error };
    }
  }

  /** Ignores a StorageError, so that the rest of the answer is still read. */
  async function saveDraft(run: JobRun, draft: AnswerDraft): Promise<void> {
    try {
      run.record({ result: draft.into(run.job.result) });
      await run.save();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      log.warn({ job: run.job.id, err: error }, 'Could not store part of an answer');
    }
  }

  return async (run, work, shutdown) => {
    const { id, address } = run.job;
    using watch = await watchForCancel(id, shutdown);
    if (watch.cancelledBy !== undefined) return cancelUnpaid(run, watch.cancelledBy);
    run.assertHeld();
    const stream = platform(address.platform)?.stream(address, showOptions(run));
    const draft = createAnswerDraft(run.job, { media, log });
    const newest = () => progressMessage({ ...run.job, result: draft.into(run.job.result) });
    const update = () => stream?.update(newest);
    const { failure, isTaken } = await write(run, work, { draft, watch, update, shutdown });

    if (watch.cancelledBy !== undefined && draft.empty && !isTaken && failure?.taken === 'no')
      return cancelUnpaid(run, watch.cancelledBy);
    if (watch.cancelledBy === undefined && draft.empty) {
      // The next start must respect a Retry-After, too.
      const hasRetryAfter = failure?.retryAfterMs !== undefined;
      if (
        shutdown.aborted &&
        !isTaken &&
        !hasRetryAfter &&
        (failure === undefined || failure.taken === 'no')
      ) {
        run.apply({ type: 'notTaken' });
        return now();
      }
      if (failure && (!shutdown.aborted || hasRetryAfter)) return failAnswer(run, work, { failure, isTaken });
      if (shutdown.aborted) {
        const interrupted = { code: 'interrupted', sentence: INTERRUPTED_SENTENCE, reference: newId() };
        return run.fail({ ...interrupted, taken: 'unknown' });
      }
    }
    // A stop after the end of the answer has no effect.
    if (!draft.answer.finish) draft.end({ reason: watch.cancelledBy !== undefined ? 'stopped' : 'broken' });
    run.apply({ type: 'completed', result: draft.into(run.job.result), at: now() });
    // The complete answer must be stored before it is shown as complete.
    await run.save();
    if (!stream) return 'now';
    try {
      const { message } = await finalMessage(run, shutdown);
      recordShown(run, messageDigest(message), await stream.close(message));
    } catch (error) {
      // The following delivery writes the same message, and handles an unavailable platform.
      if (error instanceof StorageError) throw error;
      log[levelOf(shutdown)](
        { job: id, err: error },
        'Could not finish the message of an answer; delivery will retry',
      );
    }
    return 'now';
  };
}

/** Cancels a job whose request was not sent or not accepted, so nothing is charged. */
function cancelUnpaid(run: JobRun, by: string): Next {
  run.apply({ type: 'notTaken' });
  run.apply({ type: 'cancelRequested', by });
  run.apply({ type: 'cancelled' });
  return 'now';
}

/** Errors during a shutdown are expected, and the next start continues. */
const levelOf = (shutdown: AbortSignal) => (shutdown.aborted ? 'debug' : 'warn');
