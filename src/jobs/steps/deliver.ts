/** The last steps of a job: fetch, keep, render, post, remember, close. */
import { toMessage } from '../../core/errors.ts';
import type { Charge, Job } from '../../core/job.ts';
import { actionId, LINKED_FILES_SENTENCE, type Message, plain } from '../../core/message.ts';
import { MediaError } from '../../media/errors.ts';
import { PlatformError } from '../../platforms/platform.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';
import { retryShowing } from '../runner/run.ts';
import { again } from './end-message.ts';
import { forgetMissing } from './keep.ts';
import { finalMessage, showInChannel } from './message.ts';

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

/**
 * Delivers a job in state `ready`. Resolves to when to try again, in milliseconds since the epoch; undefined when it is
 * closed.
 */
export async function deliver(
  run: JobRun,
  signal: AbortSignal,
  deps: JobDependencies,
): Promise<number | undefined> {
  // A run that was overtaken may take old callbacks for the result of a job that has failed and was given back since.
  run.assertHeld();
  await settleUsage(run.job, deps);
  await keepVoiceOf(run.job, deps);
  try {
    return await showResult(run, signal, deps);
  } catch (error) {
    if (error instanceof StorageError || signal.aborted) throw error;
    return endBroken(run, error, deps);
  }
}

/** Whether a job of a backup was ended after the copy was made: its message no longer offers to cancel it. */
async function endedBefore(job: Job, { platform }: JobDependencies): Promise<boolean> {
  const { restored, end, posted, address, command, id } = job;
  if (!restored || end === 'delivered' || end === 'cancelled' || posted === undefined) return false;
  const chat = platform(address.platform);
  if (!chat?.offers) return false;
  return (
    (await chat.offers(address, posted, actionId({ command, action: 'cancel', job: id, index: 0 }))) === false
  );
}

/** The message is wrong by our own mistake, and each try would fail again: a sentence replaces the result, or the result is kept. */
async function endBroken(run: JobRun, error: unknown, deps: JobDependencies): Promise<undefined> {
  try {
    if (await showRefusal(run, error, deps)) return close(run, deps);
  } catch (again) {
    if (again instanceof StorageError) throw again;
    deps.log.error({ job: run.job.id, err: again }, 'Not even a sentence could be shown');
  }
  return keepForLater(run, deps);
}

async function showResult(
  run: JobRun,
  signal: AbortSignal,
  deps: JobDependencies,
): Promise<number | undefined> {
  const { message, waiting } = await finalMessage(run, signal, deps);
  const isBrief = (waiting?.retryAfterMs ?? 0) <= LONGEST_SILENCE_MS;
  if (waiting && isBrief && run.job.attempts < SILENT_TRIES)
    return retryShowing(run, waiting.retryAfterMs, deps);
  try {
    if (await endedBefore(run.job, deps)) return close(run, deps);
    await showInChannel(run, message, deps);
    if (waiting) return retryShowing(run, pauseForFile(waiting), deps);
  } catch (error) {
    if (!isNotShown(error)) throw error;
    deps.log.warn({ job: run.job.id, err: error }, 'The result could not be shown as it is');
    return showOtherwise(run, message, { error, isWaiting: waiting !== undefined }, deps).catch((later) => {
      // Asked for patience on the way, it is given all of it.
      if (!isNotShown(later)) throw later;
      return isYoung(run.job, deps) ? retryShowing(run, pauseAfter(later), deps) : keepForLater(run, deps);
    });
  }
  return close(run, deps);
}

function isNotShown(error: unknown): error is PlatformError | MediaError {
  return error instanceof PlatformError || error instanceof MediaError;
}

function pauseForFile({ retryAfterMs }: Pick<MediaError, 'retryAfterMs'>): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, LONGEST_FILE_HOLD_MS);
}

const pauseAfter = (error: PlatformError | MediaError): number | undefined =>
  error instanceof MediaError ? pauseForFile(error) : error.retryAfterMs;

function isYoung({ createdAt }: Job, { now }: Pick<JobDependencies, 'now'>): boolean {
  return now() - createdAt < GIVE_UP_AFTER_MS;
}

interface NotShown {
  readonly error: PlatformError | MediaError;
  /** More of the result may still come. */
  readonly isWaiting: boolean;
}

/** Tries links instead of files, then a sentence, then the person alone; or later again. Throws what {@link isShown} throws. */
async function showOtherwise(
  run: JobRun,
  message: Message,
  { error, isWaiting }: NotShown,
  deps: JobDependencies,
): Promise<number | undefined> {
  const { attempts } = run.job;
  const mayWait = isYoung(run.job, deps);
  if (error instanceof MediaError) {
    if (error.code === 'missing') await forgetMissing(run, deps);
    else if (attempts >= SILENT_TRIES) await showLinks(run, message, deps);
    return mayWait ? retryShowing(run, pauseForFile(error), deps) : keepForLater(run, deps);
  }
  if (error.code === 'unavailable') {
    const mayLink = !isWaiting && attempts >= UPLOAD_TRIES && error.retryAfterMs === undefined;
    const linked = mayLink && (await showLinks(run, message, deps));
    if (!linked) return mayWait ? retryShowing(run, error.retryAfterMs, deps) : keepForLater(run, deps);
    // A platform that came back just now takes the files as well.
    if (!(await isShown(run, message, deps))) await showLinks(run, message, deps);
    return close(run, deps);
  }
  const isTold =
    error.code === 'refused' &&
    ((await showLinks(run, message, deps)) || (await showRefusal(run, error, deps)));
  if (isTold || (await tellPrivately(run.job, error, message, deps))) return close(run, deps);
  return keepForLater(run, deps);
}

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

/** Settles the reservation of an ended job, or gives it back. A late result is settled when it comes. */
async function settleUsage(job: Job, { meter }: Pick<JobDependencies, 'meter'>): Promise<void> {
  const charge = chargeOf(job);
  if (job.charged === (charge !== 'no') && (job.chargeUncertain ?? false) === (charge === 'uncertain'))
    return;
  await (charge === 'no' ? meter.giveBack(job) : meter.settle(job, charge));
}

/** Keeps the voice that a job in state `ready` brought, for its server. Repeating it changes nothing. */
async function keepVoiceOf(job: Job, { voices }: Pick<JobDependencies, 'voices'>): Promise<void> {
  const { work, result, end, madeFrom, person } = job;
  if (work.route !== 'music.generatePersona' || end !== 'delivered' || result?.voice?.outcome !== 'kept')
    return;
  await voices.keep(job.address, {
    personaId: result.voice.personaId,
    name: work.request.name,
    description: work.request.description,
    audioId: work.request.audioId,
    ...(madeFrom === undefined ? {} : { madeFrom }),
    keptBy: { id: person.id, displayName: person.displayName },
    keptAt: job.createdAt,
  });
}

/** The same message with links instead of files. False when it has no files, or not even that is taken. */
async function showLinks(run: JobRun, message: Message, deps: JobDependencies): Promise<boolean> {
  const links = (message.media ?? []).flatMap(({ name, source, cover }) =>
    source.type === 'kept' && !cover ? [`[${plain(name)}](${deps.fileUrl(source.file, name)})`] : [],
  );
  if (links.length === 0) return false;
  const text = [message.text, links.join('\n\n'), LINKED_FILES_SENTENCE].filter(Boolean).join('\n\n');
  return isShown(run, { ...message, text, media: [] }, deps);
}

/** False when the platform does not take it. Throws PlatformError if the platform says how long to wait. */
async function isShown(run: JobRun, message: Message, deps: JobDependencies): Promise<boolean> {
  try {
    await showInChannel(run, message, deps);
    return true;
  } catch (error) {
    if (!isNotShown(error) || error.retryAfterMs !== undefined) throw error;
    return false;
  }
}

/** The platform refuses the result itself: a sentence replaces it. False if even that is refused. */
async function showRefusal(run: JobRun, cause: unknown, deps: JobDependencies): Promise<boolean> {
  const { id, title } = run.job;
  const message = toMessage(cause, { log: deps.log, reference: id });
  return isShown(run, { title, ...message, actions: [again(run.job)] }, deps);
}

/**
 * The channel does not take the result: the person gets it alone. False if the platform cannot do that either. Throws PlatformError
 * if that may work later.
 */
export async function tellPrivately(
  { id, address }: Job,
  cause: PlatformError,
  message: Message,
  deps: JobDependencies,
): Promise<boolean> {
  const platform = deps.platform(address.platform);
  if (!platform) return false;
  try {
    // A failure to begin already says it in its own sentence.
    const advice = cause.advice && cause.advice !== message.text ? { footer: cause.advice } : {};
    await platform.sendPrivately(address, { ...message, ...advice });
    return true;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'unavailable') throw error;
    deps.log.error({ job: id, err: error }, 'The result could be shown nowhere; it is kept for /jobs');
    return false;
  }
}

function keepForLater(run: JobRun, deps: JobDependencies): undefined {
  run.apply({ type: 'recorded', fields: { undelivered: true } });
  return close(run, deps);
}

function close(run: JobRun, { now }: JobDependencies): undefined {
  run.apply({ type: 'closed', end: run.job.end, at: now(), charge: chargeOf(run.job) });
}
