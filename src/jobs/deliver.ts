/** The last steps of a job: fetch, keep, render, post, remember, close. */
import { toMessage } from '../errors.ts';
import { MediaError } from '../media/errors.ts';
import { actionId, type Button, type Message } from '../message.ts';
import { PlatformError } from '../platforms/platform.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate, pauseBefore, viewOf } from './record.ts';
import { CANCELLED_FINISHED_SENTENCE, CANCELLED_SENTENCE, EXPIRED_SENTENCE } from './sentences.ts';
import { keepMedia, show, withKeptMedia } from './show.ts';

/** Tries of a fetch before the result is shown without it. */
const FETCH_TRIES = 6;
/** After this long without its platform a result is no longer pushed; it stays in storage. */
const GIVE_UP_AFTER_MS = 7 * 24 * 60 * 60_000;

/** Delivers a job in state `ready`. Resolves to when to look again; undefined when it is closed. */
export async function deliver(
  job: Job,
  signal: AbortSignal,
  d: JobDependencies,
): Promise<number | undefined> {
  try {
    const message = await finalMessage(job, signal, d);
    await show(job, message, d);
  } catch (error) {
    if (error instanceof MediaError) return later(job, error.retryAfterMs, d);
    if (!(error instanceof PlatformError)) throw error;
    d.log.warn({ job: job.id, err: error }, 'The platform did not take the result');
    if (error.code === 'unavailable' && d.now() - job.createdAt < GIVE_UP_AFTER_MS)
      return later(job, error.retryAfterMs, d);
    if (error.code !== 'refused' || !(await confess(job, error, d)))
      await tellElsewhere(job, error, signal, d);
  }
  await close(job, d);
  return undefined;
}

/** What the channel reads in the end. Throws MediaError while fetching is worth another try. */
export async function finalMessage(job: Job, signal: AbortSignal, d: JobDependencies): Promise<Message> {
  if (job.end !== 'delivered') return { title: job.title, ...endMessage(job) };
  const rendered = render(job, d);
  const patient = job.attempts < FETCH_TRIES;
  const { kept } = await keepMedia(job, rendered, { patient, signal }, d);
  const message = withKeptMedia(rendered, kept);
  return { ...message, ...(tookLong(job, d.now()) ? { notify: true } : {}) };
}

function render(job: Job, d: JobDependencies): Message {
  try {
    const done = d.command(job.command)?.done;
    if (!done) throw new TypeError(`The command ${job.command} does not render results`);
    return done(viewOf(job));
  } catch (error) {
    return { title: job.title, ...toMessage(error, { log: d.log, reference: job.id }) };
  }
}

/** A result that took longer than a minute mentions the person who asked. */
function tookLong(job: Job, now: number): boolean {
  return now - job.createdAt > 60_000;
}

function again({ command, id }: Job): Button {
  return { type: 'action', id: actionId({ command, action: 'again', job: id, index: 0 }), label: 'Again' };
}

function endMessage(job: Job): Message {
  switch (job.end) {
    case 'cancelled': {
      if (!job.result) return { text: CANCELLED_SENTENCE, actions: [again(job)] };
      const offer: Button = {
        type: 'action',
        id: actionId({ command: job.command, action: 'show', job: job.id, index: 0 }),
        label: 'Show it',
        emphasis: 'primary',
      };
      return { text: CANCELLED_FINISHED_SENTENCE, actions: [offer, again(job)] };
    }
    case 'expired':
      return { text: EXPIRED_SENTENCE, actions: [again(job)], notify: true };
    default:
      return {
        text: job.failure?.sentence ?? 'This did not work out.',
        ...(job.failure ? { footer: `Reference ${job.failure.reference}` } : {}),
        actions: [again(job)],
      };
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
  const stored = await d.storage.jobs.read(job.id);
  try {
    await show(stored ?? job, { title: job.title, ...message, actions: [again(job)] }, d);
    return true;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return false;
  }
}

/** The place does not take the result: the person gets it alone, if the platform can do that. */
async function tellElsewhere(
  job: Job,
  cause: PlatformError,
  signal: AbortSignal,
  d: JobDependencies,
): Promise<void> {
  const platform = d.platform(job.address.platform);
  if (!platform) return;
  try {
    const message = await finalMessage(job, signal, d);
    const advice = cause.advice ? { footer: cause.advice } : {};
    await platform.whisper(job.address, { ...message, ...advice });
  } catch (error) {
    d.log.error({ job: job.id, err: error }, 'The result could be shown nowhere; it stays in storage');
  }
}

async function close(job: Job, d: JobDependencies): Promise<void> {
  await mutate(d.storage, job.id, (current) =>
    current.state === 'ready' && current.end === job.end
      ? { ...current, state: current.end ?? 'failed', finishedAt: d.now(), attempts: 0 }
      : current,
  );
}
