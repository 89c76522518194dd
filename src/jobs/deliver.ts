/** The last steps of a job: fetch, keep, render, post, remember, close. */
import { toMessage } from '../errors.ts';
import { MediaError } from '../media/errors.ts';
import { LINKED_FILES_SENTENCE, type Message, plain } from '../message.ts';
import { PlatformError } from '../platforms/platform.ts';
import { account, isCharged } from './account.ts';
import type { JobDependencies } from './dependencies.ts';
import { again, finalMessage } from './final-message.ts';
import type { Job } from './job.ts';
import { forgetMissing } from './keep.ts';
import { mutate, pauseBefore } from './record.ts';
import { show } from './show.ts';
import { keepVoiceOf } from './studio.ts';

/** Tries before people are told what is not here yet; most faults are over by then. */
const SILENT_TRIES = 3;
/** Tries of an upload before links take its place, where a message without files is taken. */
const UPLOAD_TRIES = 5;
/** After this long without its platform a result is no longer pushed; it stays in storage. */
const GIVE_UP_AFTER_MS = 7 * 24 * 60 * 60_000;

/** Delivers a job in state `ready`. Resolves to when to look again; undefined when it is closed. */
export async function deliver(
  job: Job,
  signal: AbortSignal,
  d: JobDependencies,
): Promise<number | undefined> {
  await account(job, d);
  await keepVoiceOf(job, d);
  const { message, waiting } = await finalMessage(job, signal, d);
  if (waiting && job.attempts < SILENT_TRIES) return later(job, waiting.retryAfterMs, d);
  try {
    await show(job, message, d);
    if (waiting) return later(job, waiting.retryAfterMs, d);
  } catch (error) {
    if (!(error instanceof PlatformError) && !(error instanceof MediaError)) throw error;
    d.log.warn({ job: job.id, err: error }, 'The result could not be shown as it is');
    const young = d.now() - job.createdAt < GIVE_UP_AFTER_MS;
    if (error instanceof MediaError) {
      if (error.code === 'missing') await forgetMissing(job, d);
      else if (job.attempts >= SILENT_TRIES) await showLinks(job, message, d);
      if (young) return later(job, error.retryAfterMs, d);
    } else if (error.code === 'unavailable') {
      const linked = !waiting && job.attempts >= UPLOAD_TRIES && (await showLinks(job, message, d));
      if (!linked && young) return later(job, error.retryAfterMs, d);
      // A platform that came back just now takes the files as well.
      if (linked && !(await isShown(job, message, d))) await showLinks(job, message, d);
      if (linked) return close(job, d);
    } else {
      const told =
        error.code === 'refused' && ((await showLinks(job, message, d)) || (await confess(job, error, d)));
      if (!told && !(await tellElsewhere(job, error, message, d))) return keepForLater(job, d);
      return close(job, d);
    }
    return keepForLater(job, d);
  }
  return close(job, d);
}

/** The same message with links in place of files. False when it has no files, or not even that is taken. */
async function showLinks(job: Job, message: Message, d: JobDependencies): Promise<boolean> {
  const links = (message.media ?? []).flatMap(({ name, source, cover }) =>
    source.type === 'kept' && !cover ? [`[${plain(name)}](${d.fileUrl(source.file, name)})`] : [],
  );
  if (links.length === 0) return false;
  const text = [message.text, links.join('\n\n'), LINKED_FILES_SENTENCE].filter(Boolean).join('\n\n');
  return isShown(job, { ...message, text, media: [] }, d);
}

/** Shows in place of what stands by now. False when the platform does not take it. */
async function isShown(job: Job, message: Message, d: JobDependencies): Promise<boolean> {
  try {
    await show((await d.storage.jobs.read(job.id)) ?? job, message, d);
    return true;
  } catch (error) {
    if (!(error instanceof PlatformError) && !(error instanceof MediaError)) throw error;
    return false;
  }
}

async function later(job: Job, retryAfterMs: number | undefined, d: JobDependencies): Promise<number> {
  const stored = await mutate(d.storage, job.id, (current) => ({
    ...current,
    attempts: current.attempts + 1,
  }));
  return d.now() + pauseBefore((stored ?? job).attempts, d.random, retryAfterMs);
}

/** The platform refuses the result itself: a sentence takes its place. False if even that is refused. */
async function confess(job: Job, cause: PlatformError, d: JobDependencies): Promise<boolean> {
  const message = toMessage(cause, { log: d.log, reference: job.id });
  return isShown(job, { title: job.title, ...message, actions: [again(job)] }, d);
}

/** The place does not take the result: the person gets it alone. False if the platform cannot do that either. */
async function tellElsewhere(
  job: Job,
  cause: PlatformError,
  message: Message,
  d: JobDependencies,
): Promise<boolean> {
  const platform = d.platform(job.address.platform);
  if (!platform) return false;
  try {
    // A failure to begin already says it in its own sentence.
    const advice = cause.advice && cause.advice !== message.text ? { footer: cause.advice } : {};
    await platform.whisper(job.address, { ...message, ...advice });
    return true;
  } catch (error) {
    d.log.error({ job: job.id, err: error }, 'The result could be shown nowhere; it is kept for /jobs');
    return false;
  }
}

async function keepForLater(job: Job, d: JobDependencies): Promise<undefined> {
  await mutate(d.storage, job.id, (current) => ({ ...current, unplaced: true }));
  return close(job, d);
}

async function close(job: Job, d: JobDependencies): Promise<undefined> {
  await mutate(d.storage, job.id, (current) =>
    current.state === 'ready' && current.end === job.end
      ? {
          ...current,
          state: current.end ?? 'failed',
          finishedAt: d.now(),
          attempts: 0,
          charged: isCharged(current),
        }
      : current,
  );
}
