/** The steps before the request to the gateway: progress message, attachments, queue. */
import { toMessage, UserError } from '../../core/errors.ts';
import { filesDeadline } from '../../media/attachments.ts';
import { PlatformError } from '../../platforms/platform.ts';
import { similarWorkKey } from '../../storage/job-record.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import { QUEUED_STAGE } from '../route-plans.ts';
import type { JobRun, Next, Step } from '../runner/run.ts';
import { TOO_LATE_SENTENCE } from '../sentences.ts';
import { type Attachments, isPrepared } from './attachments.ts';
import type { WatchForCancel } from './cancel-watch.ts';
import type { JobChannel } from './channel.ts';
import type { Slots } from './slots.ts';
import type { StyleAndLyrics } from './style-and-lyrics.ts';

/** Shorter estimates are not worth showing. */
const SHORTEST_ESTIMATE_MS = 5_000;
/** People don't want to pay for a request from yesterday. */
const BEGINS_WITHIN_MS = 24 * 60 * 60_000;
/** Enough to keep one slow song from distorting the estimate. */
const DURATIONS_COMPARED = 20;

interface BeginParts
  extends Pick<JobDependencies, 'storage' | 'now' | 'newId' | 'log'>,
    Attachments,
    StyleAndLyrics {
  readonly slots: Slots;
  readonly channel: JobChannel;
  readonly watchForCancel: WatchForCancel;
  readonly send: Step;
}

/** Shows the progress message before anything is spent. */
export function createBegin({
  storage,
  slots,
  channel,
  prepareWork,
  attachmentFailure,
  polishStyle,
  requestLyrics,
  watchForCancel,
  send,
  now,
  newId,
  log,
}: BeginParts): Step {
  /** Fetches files and earlier messages. Takes no slot yet, so that slow files don't block the queue. */
  async function prepare(run: JobRun, signal: AbortSignal): Promise<Next> {
    using watch = await watchForCancel(run.job.id, signal);
    try {
      await channel.show(run, channel.progressMessage(run.job));
      const work = await prepareWork(run.job, AbortSignal.any([watch.signal, filesDeadline()]));
      run.apply({ type: 'prepared', work });
      return 'now';
    } catch (error) {
      if (error instanceof StorageError) throw error;
      if (signal.aborted) return now();
      if (watch.cancelledBy === undefined) return failToBegin(run, error);
      run.apply({ type: 'cancelRequested', by: watch.cancelledBy });
      return 'now';
    }
  }

  /** Estimates the duration: the median of recent jobs of the same kind. */
  async function estimate(run: JobRun): Promise<void> {
    const { estimateMs, posted, work } = run.job;
    if (estimateMs !== undefined || posted) return;
    const durations = await storage.jobs.recentDurations(similarWorkKey(work), DURATIONS_COMPARED);
    const median = durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)];
    if (median !== undefined && median >= SHORTEST_ESTIMATE_MS) run.record({ estimateMs: median });
  }

  /** Retries later or fails the job, if its progress cannot be shown or its files cannot be fetched. Nothing was spent. */
  function failToBegin(run: JobRun, error: unknown): Next {
    if (!(error instanceof PlatformError)) {
      const reference = newId();
      const { text: sentence } = toMessage(error, { log, reference });
      const code = error instanceof UserError ? 'attachment' : 'broken';
      return run.fail({ code, sentence, reference, taken: 'no' });
    }
    log.warn({ job: run.job.id, err: error }, 'The platform rejected the progress message');
    if (error.code === 'unavailable') {
      return channel.showLater(run, error.retryAfterMs);
    }
    const sentence =
      error.advice ??
      "I couldn't post my message there, so I haven't started. Nothing was spent. Try again in another channel.";
    return run.fail({ code: error.code, sentence, reference: newId(), taken: 'no' });
  }

  return async (run, signal) => {
    if (now() - run.job.createdAt > BEGINS_WITHIN_MS) {
      return run.fail({ code: 'too-late', sentence: TOO_LATE_SENTENCE, reference: newId(), taken: 'no' });
    }
    await estimate(run);
    if (!isPrepared(run.job.work)) return prepare(run, signal);
    await slots.acquire(run);
    const isQueued = run.job.queuePosition !== undefined;
    try {
      await channel.show(run, channel.progressMessage(run.job, isQueued ? { stage: QUEUED_STAGE } : {}));
    } catch (error) {
      if (error instanceof StorageError) throw error;
      // Other jobs may use the slot while this platform is unavailable.
      await slots.release(run.job);
      return failToBegin(run, error);
    }
    if (isQueued) return slots.nextCheckAt(run.job);
    const failure = await attachmentFailure(run.job);
    if (failure) return run.fail(failure);
    const { work, lyrics } = run.job;
    const polished = 'roughStyle' in work ? await polishStyle(run, signal) : work;
    if (polished === undefined) return 'now';
    if (signal.aborted) return now();
    if ('lyricsAbout' in polished && polished.lyricsAbout !== undefined && lyrics === undefined) {
      return requestLyrics(run, polished, polished.lyricsAbout);
    }
    // Stored before the request, so that after a crash the job is known to have been sent.
    const isClaimed = await run.claim({ type: 'submitting', work: polished, at: now() });
    return isClaimed ? send(run, signal) : 'now';
  };
}
