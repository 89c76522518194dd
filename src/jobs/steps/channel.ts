/** Shows a job in its channel: its progress, its final message, or a direct message if the channel rejects it. */

import { hash } from 'node:crypto';
import type { Job } from '../../core/job.ts';
import { type ActionButton, type Button, button, type Message } from '../../core/message.ts';
import { songModelOf } from '../../core/music/song.ts';
import { present } from '../../core/util/present.ts';
import { MediaError } from '../../media/errors.ts';
import { PlatformError, type PostState, type ShowOptions } from '../../platforms/platform.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { pauseBefore } from '../runner/retries.ts';
import type { JobRun } from '../runner/run.ts';
import { type Keep, withStoredMedia } from './keep.ts';

/** A Retry-After for an early message must not delay the result for longer. */
const LONGEST_EARLY_HOLD_MS = 60_000;
const UNCERTAIN_STAGE = "The service's reply was lost, so I'm waiting to hear whether it accepted this";
const HELD_STAGE = 'Waiting because the service is busy';

interface Progress {
  /** Replaces the default stage of the work. */
  readonly stage?: string;
  /** End of the stage, in milliseconds since the epoch. */
  readonly until?: number | undefined;
}

export type JobChannel = ReturnType<typeof createChannel>;

export function createChannel({
  platform,
  command,
  pageUrl,
  keepMedia,
  now,
  random,
  log,
}: Pick<JobDependencies, 'platform' | 'command' | 'pageUrl' | 'now' | 'random' | 'log'> &
  Pick<Keep, 'keepMedia'>) {
  /** The message of a running job. */
  function progressMessage(
    job: Job,
    { stage = stageOf(job), until }: Progress = {},
  ): Message & Required<Pick<Message, 'progress'>> {
    // An answer shows its model in the title before the first word.
    const hasEarly = job.result !== undefined || job.work.route === 'answer';
    const early = hasEarly ? command(job.command)?.early?.(job) : undefined;
    const { queuePosition, estimateMs } = job;
    const { result } = PLANS[job.work.route];
    const isEstimated = estimateMs !== undefined && queuePosition === undefined && until === undefined;
    return {
      title: job.title,
      ...early,
      progress: {
        stage,
        startedAt: job.startedAt ?? job.createdAt,
        ...present({ result, queuePosition }),
        ...(isEstimated ? { estimateMs } : {}),
        ...present({ until }),
      },
      actions: [...(early?.actions ?? []), cancelButton(job)],
    };
  }

  /** A link to the page of a song that is being created. Never throws: a missing link must not fail the progress. */
  async function pageLink(job: Job): Promise<Button[]> {
    if (songModelOf(job.work) === undefined || job.pageWithdrawn) return [];
    try {
      const url = await pageUrl(job);
      return url === undefined ? [] : [{ type: 'link', label: 'Open page', url }];
    } catch (error) {
      log.warn({ job: job.id, err: error }, 'Could not link to the page of a song');
      return [];
    }
  }

  /** Shows the message unless it is already shown. Throws PlatformError. */
  async function show(run: JobRun, message: Message): Promise<void> {
    const digest = messageDigest(message);
    if (digest === run.job.shown) return;
    const { address } = run.job;
    const chat = platform(address.platform);
    if (!chat) throw new PlatformError('unavailable', `The platform ${address.platform} is not enabled`);
    recordShown(run, digest, await chat.show(address, message, showOptions(run)));
  }

  /** Shows an intermediate message, and ignores failures. Throws StorageError. */
  async function tryToShow(run: JobRun, createMessage: () => Promise<Message>): Promise<void> {
    const { held } = run.job;
    if ((held?.showing ?? 0) > now()) return;
    try {
      await show(run, await createMessage());
    } catch (error) {
      if (error instanceof StorageError) throw error;
      log.warn({ job: run.job.id, err: error }, 'Could not show progress');
      const isTemporary = error instanceof PlatformError || error instanceof MediaError;
      if (!isTemporary || error.retryAfterMs === undefined) return;
      const showing = now() + Math.min(error.retryAfterMs, LONGEST_EARLY_HOLD_MS);
      run.record({ held: { ...held, showing } });
    }
  }

  return {
    progressMessage,
    show,
    tryToShow,

    /** Shows partial results, such as lyrics and a first listen, and whether the gateway may not have accepted the work. */
    async showEarly(run: JobRun, signal: AbortSignal): Promise<void> {
      const { result, uncertain, deadlineAt } = run.job;
      const early = result && command(run.job.command)?.early?.(run.job);
      if (!early && uncertain === undefined) return;
      await tryToShow(run, async () => {
        if (early) await keepMedia(run, early, { signal });
        const progress = uncertain ? { stage: UNCERTAIN_STAGE, until: deadlineAt } : {};
        const message = progressMessage(run.job, progress);
        const page = await pageLink(run.job);
        // The page plays the song as well.
        const buttons = message.actions?.filter(({ type }) => page.length === 0 || type !== 'link') ?? [];
        const actions = [...page, ...buttons];
        return withStoredMedia({ ...message, actions }, run.job).message;
      });
    },

    /** Schedules a retry, not before a Retry-After. Returns its time in milliseconds since the epoch. */
    showLater(run: JobRun, retryAfterMs: number | undefined): number {
      const retryAt = now() + pauseBefore(run.job.attempts + 1, random, retryAfterMs);
      run.apply({ type: 'retried', ...(retryAfterMs === undefined ? {} : { held: { showing: retryAt } }) });
      return retryAt;
    },

    /** Shows how long the job waits because of the gateway's Retry-After. */
    async showRetryAfter(run: JobRun): Promise<void> {
      const { asking = 0 } = run.job.held ?? {};
      if (asking > now())
        await tryToShow(run, async () => progressMessage(run.job, { stage: HELD_STAGE, until: asking }));
    },

    /** Updates a progress indicator outside the message, if the platform has one. Resolves to the time of the next update. */
    async updateProgress({ job }: JobRun): Promise<number> {
      try {
        const { progress } = progressMessage(job);
        const pauseMs = await platform(job.address.platform)?.showProgress?.(job.address, progress);
        return now() + (pauseMs ?? Number.POSITIVE_INFINITY);
      } catch (error) {
        log.debug({ job: job.id, err: error }, 'Could not report progress');
        return Number.POSITIVE_INFINITY;
      }
    },

    /**
     * Sends the requester a direct message, because the channel rejects the result. False if the platform rejects that, too. Throws
     * PlatformError if a retry may succeed.
     */
    async sendPrivately({ id, address }: Job, cause: PlatformError, message: Message): Promise<boolean> {
      const chat = platform(address.platform);
      if (!chat) return false;
      try {
        // The message of a failed start is already the advice.
        const advice = cause.advice && cause.advice !== message.text ? { footer: cause.advice } : {};
        await chat.sendPrivately(address, { ...message, ...advice });
        return true;
      } catch (error) {
        if (error instanceof PlatformError && error.code === 'unavailable') throw error;
        log.error({ job: id, err: error }, 'Could not deliver the result; it waits in /jobs');
        return false;
      }
    },
  };
}

/** The lyrics of a new song are written first. Its takes arrive one after the other. */
function stageOf({ work, lyrics, result }: Job): string {
  if ('lyricsAbout' in work && work.lyricsAbout !== undefined && lyrics !== 'done') return 'Writing lyrics';
  if (work.route !== 'music.generate') return PLANS[work.route].stage;
  const recorded = result?.songs.filter(({ audioUrl }) => audioUrl !== undefined).length ?? 0;
  return `Recording take ${recorded + 1}`;
}

export const cancelButton = (job: Job): ActionButton => ({
  ...button(job, 'cancel', PLANS[job.work.route].resultMode === 'stream' ? 'Stop' : 'Cancel'),
  icon: 'cancel',
});

/** Options for the platform to find the existing message of the job. */
export function showOptions(run: JobRun): ShowOptions {
  return {
    key: run.job.id,
    posted: run.job.posted,
    mayHavePosted: run.job.mayHavePosted ?? false,
    remember: async (posted) => {
      run.record({ posted });
      await run.save();
    },
    beforeWriting: () => run.assertHeld(),
  };
}

/** A digest to detect unchanged messages. */
export function messageDigest(message: Message): string {
  return hash('sha256', JSON.stringify(message), 'base64url');
}

/** Records a shown message. `posted` also lists the messages of interrupted runs that the platform found. */
export function recordShown(run: JobRun, digest: string, posted: PostState): void {
  const reset = run.job.mayHavePosted === true ? { mayHavePosted: false } : {};
  run.record({ posted, shown: digest, ...reset });
}
