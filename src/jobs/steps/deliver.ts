/** The last steps of a job: settle, keep a voice, show the result in whatever way is possible, close. */

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

/** Tries before people are told what is not here yet; most faults are over by then. */
const SILENT_TRIES = 3;
/** Where a host asks for a longer pause, people are told before. */
const LONGEST_SILENCE_MS = 60_000;
/** A host of files is asked again after this long, whatever it asked for: its word is not the gateway's or the platform's. */
const LONGEST_FILE_HOLD_MS = 10 * 60_000;
/** Tries of an upload before links replace the files, where the platform takes a message without files. */
const UPLOAD_TRIES = 5;
/** After this long without its platform a result is no longer pushed; it stays in storage. */
const GIVE_UP_AFTER_MS = 7 * 24 * 60 * 60_000;

interface NotShown {
  readonly error: PlatformError | MediaError;
  /** More of the result may still come. */
  readonly isWaiting: boolean;
}

interface DeliverParts
  extends Pick<JobDependencies, 'platform' | 'meter' | 'voices' | 'fileUrl' | 'now' | 'log'>,
    Pick<Keep, 'forgetMissing'> {
  readonly channel: JobChannel;
  readonly finalMessage: FinalMessage;
}

export type Deliver = (run: JobRun, signal: AbortSignal) => Promise<number | undefined>;

export function createDeliver({
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
  /** Whether a job of a backup was ended after the copy was made: its message no longer offers to cancel it. */
  async function endedBefore(job: Job): Promise<boolean> {
    const { restored, end, posted, address } = job;
    if (!restored || end === 'delivered' || end === 'cancelled' || posted === undefined) return false;
    const chat = platform(address.platform);
    return (await chat?.offers?.(address, posted, cancelButton(job).id)) === false;
  }

  /** The message is wrong by our own mistake, and each try would fail again: a sentence replaces the result, or the result is kept. */
  async function endBroken(run: JobRun, error: unknown): Promise<undefined> {
    try {
      if (await showRefusal(run, error)) return close(run);
    } catch (again) {
      if (again instanceof StorageError) throw again;
      log.error({ job: run.job.id, err: again }, 'Could not show an error message');
    }
    return keepForLater(run);
  }

  async function showResult(run: JobRun, signal: AbortSignal): Promise<number | undefined> {
    const { message, waiting } = await finalMessage(run, signal);
    const isBrief = (waiting?.retryAfterMs ?? 0) <= LONGEST_SILENCE_MS;
    if (waiting && isBrief && run.job.attempts < SILENT_TRIES)
      return channel.showLater(run, waiting.retryAfterMs);
    try {
      if (await endedBefore(run.job)) return close(run);
      await channel.show(run, message);
      if (waiting) return channel.showLater(run, pauseForFile(waiting));
    } catch (error) {
      if (!isNotShown(error)) throw error;
      log.warn({ job: run.job.id, err: error }, 'Could not show the result; trying another way');
      return showOtherwise(run, message, { error, isWaiting: waiting !== undefined }).catch((later) => {
        // Asked for patience on the way, it is given all of it.
        if (!isNotShown(later)) throw later;
        return isYoung(run.job) ? channel.showLater(run, pauseAfter(later)) : keepForLater(run);
      });
    }
    return close(run);
  }

  function isYoung({ createdAt }: Job): boolean {
    return now() - createdAt < GIVE_UP_AFTER_MS;
  }

  /** Tries links instead of files, then a sentence, then the person alone; or later again. Throws what {@link isShown} throws. */
  async function showOtherwise(
    run: JobRun,
    message: Message,
    { error, isWaiting }: NotShown,
  ): Promise<number | undefined> {
    const { attempts } = run.job;
    const mayWait = isYoung(run.job);
    if (error instanceof MediaError) {
      if (error.code === 'missing') await forgetMissing(run);
      else if (attempts >= SILENT_TRIES) await showLinks(run, message);
      return mayWait ? channel.showLater(run, pauseForFile(error)) : keepForLater(run);
    }
    if (error.code === 'unavailable') {
      const mayLink = !isWaiting && attempts >= UPLOAD_TRIES && error.retryAfterMs === undefined;
      const linked = mayLink && (await showLinks(run, message));
      if (!linked) return mayWait ? channel.showLater(run, error.retryAfterMs) : keepForLater(run);
      // A platform that came back just now takes the files as well.
      if (!(await isShown(run, message))) await showLinks(run, message);
      return close(run);
    }
    const isTold =
      error.code === 'refused' && ((await showLinks(run, message)) || (await showRefusal(run, error)));
    if (isTold || (await channel.tellPrivately(run.job, error, message))) return close(run);
    return keepForLater(run);
  }

  /** Settles the reservation of an ended job, or gives it back. A late result is settled when it comes. */
  async function settleUsage(job: Job): Promise<void> {
    const charge = chargeOf(job);
    if (job.charged === (charge !== 'no') && (job.chargeUncertain ?? false) === (charge === 'uncertain'))
      return;
    await (charge === 'no' ? meter.giveBack(job) : meter.settle(job, charge));
  }

  /** Keeps the voice that a job in state `ready` brought, for its server. Repeating it changes nothing. */
  async function keepVoiceOf(job: Job): Promise<void> {
    const { work, result, end, madeFrom, person } = job;
    if (work.route !== 'music.generatePersona' || end !== 'delivered' || result?.voice?.outcome !== 'kept')
      return;
    await voices.keep(job.address, {
      personaId: result.voice.personaId,
      name: work.request.name,
      description: work.request.description,
      audioId: work.request.audioId,
      ...present({ madeFrom }),
      keptBy: { id: person.id, displayName: person.displayName },
      keptAt: job.createdAt,
    });
  }

  /** The same message with links instead of files. False when it has no files, or not even that is taken. */
  async function showLinks(run: JobRun, message: Message): Promise<boolean> {
    const links = (message.media ?? []).flatMap(({ name, source, cover }) =>
      source.type === 'kept' && !cover ? [`[${plain(name)}](${fileUrl(source.file, name)})`] : [],
    );
    if (links.length === 0) return false;
    const text = [message.text, links.join('\n\n'), LINKED_FILES_SENTENCE].filter(Boolean).join('\n\n');
    return isShown(run, { ...message, text, media: [] });
  }

  /** False when the platform does not take it. Throws PlatformError if the platform says how long to wait. */
  async function isShown(run: JobRun, message: Message): Promise<boolean> {
    try {
      await channel.show(run, message);
      return true;
    } catch (error) {
      if (!isNotShown(error) || error.retryAfterMs !== undefined) throw error;
      return false;
    }
  }

  /** The platform refuses the result itself: a sentence replaces it. False if even that is refused. */
  async function showRefusal(run: JobRun, cause: unknown): Promise<boolean> {
    const { id, title } = run.job;
    const message = toMessage(cause, { log, reference: id });
    return isShown(run, { title, ...message, actions: [againButton(run.job)] });
  }

  function keepForLater(run: JobRun): undefined {
    run.record({ undelivered: true });
    return close(run);
  }

  function close(run: JobRun): undefined {
    run.apply({ type: 'closed', end: run.job.end, at: now(), charge: chargeOf(run.job) });
  }

  /**
   * Delivers a job in state `ready`. Resolves to when to try again, in milliseconds since the epoch; undefined when it is
   * closed.
   */
  return async (run, signal) => {
    // A run that was overtaken may take old callbacks for the result of a job that has failed and was given back since.
    run.assertHeld();
    await settleUsage(run.job);
    await keepVoiceOf(run.job);
    try {
      return await showResult(run, signal);
    } catch (error) {
      if (error instanceof StorageError || signal.aborted) throw error;
      return endBroken(run, error);
    }
  };
}

function isNotShown(error: unknown): error is PlatformError | MediaError {
  return error instanceof PlatformError || error instanceof MediaError;
}

function pauseForFile({ retryAfterMs }: Pick<MediaError, 'retryAfterMs'>): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, LONGEST_FILE_HOLD_MS);
}

const pauseAfter = (error: PlatformError | MediaError): number | undefined =>
  error instanceof MediaError ? pauseForFile(error) : error.retryAfterMs;

/** Whether the gateway charged for it, as far as is known: work counts as soon as the gateway may have taken it. */
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
