/** Showing a job in its channel: progress while it runs, any message in the end, or the person alone where that fails. */

import { hash } from 'node:crypto';
import type { Job } from '../../core/job.ts';
import { type ActionButton, button, type Message } from '../../core/message.ts';
import { present } from '../../core/util/present.ts';
import { MediaError } from '../../media/errors.ts';
import { PlatformError, type Posted, type ShowOptions } from '../../platforms/platform.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import { pauseBefore } from '../runner/retries.ts';
import type { JobRun } from '../runner/run.ts';
import { type Keep, withKeptMedia } from './keep.ts';

/** The result itself is not held up for longer because of what was shown early. */
const LONGEST_EARLY_HOLD_MS = 60_000;
const UNCERTAIN_STAGE = "The gateway's reply was lost, so I'm waiting to hear whether it accepted this";
const HELD_STAGE = 'Waiting because the gateway is busy';

interface Progress {
  /** If it is not the usual one of the work. */
  readonly stage?: string;
  /** Until when nothing else happens, in milliseconds since the epoch. */
  readonly until?: number | undefined;
}

export type JobChannel = ReturnType<typeof createChannel>;

export function createChannel({
  platform,
  command,
  keepMedia,
  now,
  random,
  log,
}: Pick<JobDependencies, 'platform' | 'command' | 'now' | 'random' | 'log'> & Pick<Keep, 'keepMedia'>) {
  /** What people see while the job runs. */
  function progressMessage(
    job: Job,
    { stage = PLANS[job.work.route].stage, until }: Progress = {},
  ): Message & Required<Pick<Message, 'progress'>> {
    // An answer has its model in the title before its first word.
    const isShown = job.result !== undefined || job.work.route === 'answer';
    const early = isShown ? command(job.command)?.early?.(job) : undefined;
    const { queuePosition, estimateMs } = job;
    const isEstimated = estimateMs !== undefined && queuePosition === undefined && until === undefined;
    return {
      title: job.title,
      ...early,
      progress: {
        stage,
        startedAt: job.startedAt ?? job.createdAt,
        ...present({ queuePosition }),
        ...(isEstimated ? { estimateMs } : {}),
        ...present({ until }),
      },
      actions: [cancelButton(job)],
    };
  }

  /** Shows `message` unless it is shown already. Throws PlatformError. */
  async function show(run: JobRun, message: Message): Promise<void> {
    const shown = messageDigest(message);
    if (shown === run.job.shown) return;
    const { address } = run.job;
    const chat = platform(address.platform);
    if (!chat) throw new PlatformError('unavailable', `The platform ${address.platform} is not enabled`);
    recordShown(run, shown, await chat.show(address, message, showOptions(run)));
  }

  /** Shows what is no reason to fail the work: what cannot be shown now is shown at the end. Throws StorageError. */
  async function tryToShow(run: JobRun, make: () => Promise<Message>): Promise<void> {
    const { held } = run.job;
    if ((held?.showing ?? 0) > now()) return;
    try {
      await show(run, await make());
    } catch (error) {
      if (error instanceof StorageError) throw error;
      log.warn({ job: run.job.id, err: error }, 'Could not show progress');
      const isAway = error instanceof PlatformError || error instanceof MediaError;
      if (!isAway || error.retryAfterMs === undefined) return;
      const showing = now() + Math.min(error.retryAfterMs, LONGEST_EARLY_HOLD_MS);
      run.record({ held: { ...held, showing } });
    }
  }

  return {
    progressMessage,
    show,
    tryToShow,

    /**
     * While the gateway works: lyrics and a first listen as early stages bring them, and whether it is unclear that it took
     * the work at all.
     */
    async showEarly(run: JobRun, signal: AbortSignal): Promise<void> {
      const { result, uncertain, deadlineAt } = run.job;
      const early = result && command(run.job.command)?.early?.(run.job);
      if (!early && uncertain === undefined) return;
      await tryToShow(run, async () => {
        if (early) await keepMedia(run, early, { signal });
        const progress = uncertain ? { stage: UNCERTAIN_STAGE, until: deadlineAt } : {};
        return withKeptMedia(progressMessage(run.job, progress), run.job).message;
      });
    },

    /** Shows later, and not before Retry-After where there was one. Resolves to when, in milliseconds since the epoch. */
    showLater(run: JobRun, retryAfterMs: number | undefined): number {
      const again = now() + pauseBefore(run.job.attempts + 1, random, retryAfterMs);
      run.apply({ type: 'retried', ...(retryAfterMs === undefined ? {} : { held: { showing: again } }) });
      return again;
    },

    /** The gateway asked for patience: until when it gets it. */
    async showHeld(run: JobRun): Promise<void> {
      const { asking = 0 } = run.job.held ?? {};
      if (asking > now())
        await tryToShow(run, async () => progressMessage(run.job, { stage: HELD_STAGE, until: asking }));
    },

    /** Says how far the work is, apart from its message. Resolves to when to say it again, in milliseconds since the epoch. */
    async tellProgress({ job }: JobRun): Promise<number> {
      try {
        const { progress } = progressMessage(job);
        const again = await platform(job.address.platform)?.showProgress?.(job.address, progress);
        return now() + (again ?? Number.POSITIVE_INFINITY);
      } catch (error) {
        log.debug({ job: job.id, err: error }, 'Could not report progress');
        return Number.POSITIVE_INFINITY;
      }
    },

    /**
     * The channel does not take the result: the person gets it alone. False if the platform cannot do that either. Throws
     * PlatformError if that may work later.
     */
    async tellPrivately({ id, address }: Job, cause: PlatformError, message: Message): Promise<boolean> {
      const chat = platform(address.platform);
      if (!chat) return false;
      try {
        // A failure to begin already says it in its own sentence.
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

export const cancelButton = (job: Job): ActionButton =>
  button(job, 'cancel', PLANS[job.work.route].comesBack === 'stream' ? 'Stop' : 'Cancel');

/** What a platform needs to find again what it has shown of this job. */
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

/** Tells equal messages from others without keeping them. */
export function messageDigest(message: Message): string {
  return hash('sha256', JSON.stringify(message), 'base64url');
}

/** What the platform found of interrupted runs is part of `posted`. */
export function recordShown(run: JobRun, shown: string, posted: Posted): void {
  const found = run.job.mayHavePosted === true ? { mayHavePosted: false } : {};
  run.record({ posted, shown, ...found });
}
