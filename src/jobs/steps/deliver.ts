/** The last steps of a job: settles the usage, saves a voice, shows the result in any way possible, and closes the job. */

import { toMessage } from '../../core/errors.ts';
import type { Charge, Job } from '../../core/job.ts';
import { againButton, LINKED_FILES_SENTENCE, type Message, plain } from '../../core/message.ts';
import { present } from '../../core/util/present.ts';
import { MediaError } from '../../media/errors.ts';
import { PlatformError } from '../../platforms/platform.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';
import { cancelButton, type JobChannel } from './channel.ts';
import type { Keep } from './keep.ts';
import type { FinalMessage } from './message.ts';

/** Tries before the message names missing files. Most faults are over by then. */
const SILENT_TRIES = 3;
/** After a longer Retry-After, the message names missing files immediately. */
const LONGEST_SILENCE_MS = 60_000;
/** Limits the Retry-After of a file host, which is neither the gateway nor the platform. */
const LONGEST_FILE_HOLD_MS = 10 * 60_000;
/** Upload tries before links replace the files. */
const UPLOAD_TRIES = 5;
/** Time after which an undelivered result is only offered by /jobs. */
const GIVE_UP_AFTER_MS = 7 * 24 * 60 * 60_000;

interface DeliveryFailure {
  readonly error: PlatformError | MediaError;
  /** More files may still arrive. */
  readonly isWaiting: boolean;
}

interface DeliverParts
  extends Pick<JobDependencies, 'storage' | 'platform' | 'meter' | 'voices' | 'fileUrl' | 'now' | 'log'>,
    Pick<Keep, 'forgetMissing'> {
  readonly channel: JobChannel;
  readonly finalMessage: FinalMessage;
}

export type Deliver = (run: JobRun, signal: AbortSignal) => Promise<number | undefined>;

export function createDeliver({
  storage,
  platform,
  meter,
  voices,
  fileUrl,
  channel,
  finalMessage,
  forgetMissing,
  now,
  log,
}: DeliverParts): Deliver {
  /** True if a job restored from a backup had ended after the backup was made: its message no longer has a cancel button. */
  async function hasAlreadyEnded(job: Job): Promise<boolean> {
    const { restored, end, posted, address } = job;
    if (!restored || end === 'delivered' || end === 'cancelled' || posted === undefined) return false;
    const chat = platform(address.platform);
    return (await chat?.offers?.(address, posted, cancelButton(job).id)) === false;
  }

  /** Handles a bug in rendering, which no retry can fix: shows an error message, or leaves the result to /jobs. */
  async function endBroken(run: JobRun, error: unknown): Promise<undefined> {
    try {
      if (await showRefusal(run, error)) return close(run);
    } catch (again) {
      if (again instanceof StorageError) throw again;
      log.error({ job: run.job.id, err: again }, 'Could not show an error message');
    }
    return offerLater(run);
  }

  async function showResult(run: JobRun, signal: AbortSignal): Promise<number | undefined> {
    const { message, waiting } = await finalMessage(run, signal);
    const isBrief = (waiting?.retryAfterMs ?? 0) <= LONGEST_SILENCE_MS;
    if (waiting && isBrief && run.job.attempts < SILENT_TRIES)
      return channel.showLater(run, waiting.retryAfterMs);
    try {
      if (await hasAlreadyEnded(run.job)) return close(run);
      await channel.show(run, message);
      if (waiting) return channel.showLater(run, pauseForFile(waiting));
    } catch (error) {
      if (!isDeliveryError(error)) throw error;
      log.warn({ job: run.job.id, err: error }, 'Could not show the result; trying another way');
      return showFallback(run, message, { error, isWaiting: waiting !== undefined }).catch((later) => {
        // Respects a Retry-After of these further tries.
        if (!isDeliveryError(later)) throw later;
        return isRecent(run.job) ? channel.showLater(run, pauseAfter(later)) : offerLater(run);
      });
    }
    return close(run);
  }

  function isRecent({ createdAt }: Job): boolean {
    return now() - createdAt < GIVE_UP_AFTER_MS;
  }

  /** Tries links instead of files, then an error message, then a direct message; or schedules a retry. Throws like {@link isShown}. */
  async function showFallback(
    run: JobRun,
    message: Message,
    { error, isWaiting }: DeliveryFailure,
  ): Promise<number | undefined> {
    const { attempts } = run.job;
    const mayWait = isRecent(run.job);
    if (error instanceof MediaError) {
      if (error.code === 'missing') await forgetMissing(run);
      else if (attempts >= SILENT_TRIES) await showLinks(run, message);
      return mayWait ? channel.showLater(run, pauseForFile(error)) : offerLater(run);
    }
    if (error.code === 'unavailable') {
      const mayLink = !isWaiting && attempts >= UPLOAD_TRIES && error.retryAfterMs === undefined;
      const isLinked = mayLink && (await showLinks(run, message));
      if (!isLinked) return mayWait ? channel.showLater(run, error.retryAfterMs) : offerLater(run);
      // The platform accepted the links, so it may accept the files now.
      if (!(await isShown(run, message))) await showLinks(run, message);
      return close(run);
    }
    const isReported =
      error.code === 'refused' && ((await showLinks(run, message)) || (await showRefusal(run, error)));
    if (isReported || (await channel.sendPrivately(run.job, error, message))) return close(run);
    return offerLater(run);
  }

  /** Settles the reservation of a job, or refunds it. Repeated for a late result. */
  async function settleUsage(job: Job): Promise<void> {
    const charge = chargeOf(job);
    if (job.charged === (charge !== 'no') && (job.chargeUncertain ?? false) === (charge === 'uncertain'))
      return;
    await (charge === 'no' ? meter.refund(job) : meter.settle(job, charge));
  }

  /** Saves the voice of a `ready` job for its server. Idempotent. */
  async function saveVoice(job: Job): Promise<void> {
    const { work, result, end, basedOn, parent, person } = job;
    if (work.route !== 'music.generatePersona' || end !== 'delivered' || result?.voice?.outcome !== 'saved')
      return;
    const song = parent === undefined ? undefined : await storage.jobs.read(parent);
    await voices.save(job.address, {
      personaId: result.voice.personaId,
      name: work.request.name,
      description: work.request.description,
      audioId: work.request.audioId,
      // Without its author, the title could not be erased with their data.
      ...(song && present({ savedFrom: basedOn, songBy: song.person.id })),
      savedBy: { id: person.id, displayName: person.displayName },
      savedAt: job.createdAt,
    });
  }

  /** Shows the message with links instead of files. False if it has no files or the platform rejects it. */
  async function showLinks(run: JobRun, message: Message): Promise<boolean> {
    const links = (message.media ?? []).flatMap(({ name, source, cover }) =>
      source.type === 'stored' && !cover ? [`[${plain(name)}](${fileUrl(source.file, name)})`] : [],
    );
    if (links.length === 0) return false;
    const text = [message.text, links.join('\n\n'), LINKED_FILES_SENTENCE].filter(Boolean).join('\n\n');
    return isShown(run, { ...message, text, media: [] });
  }

  /** Shows a message; false if the platform rejects it. Throws PlatformError or MediaError if there is a Retry-After. */
  async function isShown(run: JobRun, message: Message): Promise<boolean> {
    try {
      await channel.show(run, message);
      return true;
    } catch (error) {
      if (!isDeliveryError(error) || error.retryAfterMs !== undefined) throw error;
      return false;
    }
  }

  /** Shows an error message instead of a rejected result. False if the platform rejects that, too. */
  async function showRefusal(run: JobRun, cause: unknown): Promise<boolean> {
    const { id, title } = run.job;
    const message = toMessage(cause, { log, reference: id });
    return isShown(run, { title, ...message, actions: [againButton(run.job)] });
  }

  function offerLater(run: JobRun): undefined {
    run.record({ undelivered: true });
    return close(run);
  }

  function close(run: JobRun): undefined {
    run.apply({ type: 'closed', end: run.job.end, at: now(), charge: chargeOf(run.job) });
  }

  /** Delivers a `ready` job. Resolves to the time of the next try, in milliseconds since the epoch; undefined once it is closed. */
  return async (run, signal) => {
    // An overtaken run must not settle usage that was refunded since.
    run.assertHeld();
    await settleUsage(run.job);
    await saveVoice(run.job);
    try {
      return await showResult(run, signal);
    } catch (error) {
      if (error instanceof StorageError || signal.aborted) throw error;
      return endBroken(run, error);
    }
  };
}

function isDeliveryError(error: unknown): error is PlatformError | MediaError {
  return error instanceof PlatformError || error instanceof MediaError;
}

function pauseForFile({ retryAfterMs }: Pick<MediaError, 'retryAfterMs'>): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, LONGEST_FILE_HOLD_MS);
}

const pauseAfter = (error: PlatformError | MediaError): number | undefined =>
  error instanceof MediaError ? pauseForFile(error) : error.retryAfterMs;

/** Work counts as charged as soon as the gateway may have accepted it. */
function chargeOf({ end, failure, submittedAt, taskId, result }: Job): Charge {
  switch (end) {
    case 'delivered':
      return 'yes';
    case 'expired':
      return 'uncertain';
    case 'cancelled':
      if (taskId !== undefined || result !== undefined) return 'yes';
      return submittedAt === undefined ? 'no' : 'uncertain';
    case 'failed':
    case undefined:
      return failure?.taken === 'unknown' ? 'uncertain' : 'no';
    default:
      return end satisfies never;
  }
}
