/** What the channel reads in the end: the result with its files, or why there is none. */
import { toMessage } from '../errors.ts';
import { actionId, type Button, type MediaItem, type Message } from '../message.ts';
import type { JobView } from '../work.ts';
import { withArchive } from './archive.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { type FailedFile, keepMedia, withKeptMedia } from './keep.ts';
import { viewOf } from './record.ts';
import {
  CANCELLED_FINISHED_SENTENCE,
  CANCELLED_SENTENCE,
  EXPIRED_SENTENCE,
  isOwnFault,
  lostSentence,
  unkeptLinkSentence,
  waitingSentence,
} from './sentences.ts';
import { withSourceSong } from './source-song.ts';

/** Tries of what the result is whole without, such as a cover: nobody waits long for it. */
const OPTIONAL_TRIES = 2;
/** Tries of what the gateway says is not there. */
const FEW_TRIES = 6;
/** The gateway's addresses are temporary, and nobody waits longer. */
const WAIT_FOR_FILES_MS = 24 * 60 * 60_000;

export interface FinalMessage {
  readonly message: Message;
  /** It is not whole, though it may become so. */
  readonly waiting?: { readonly retryAfterMs: number | undefined };
}

/** What the channel reads in the end, or for now. */
export async function finalMessage(job: Job, signal: AbortSignal, d: JobDependencies): Promise<FinalMessage> {
  if (job.end !== 'delivered') return { message: { title: job.title, ...endMessage(job) } };
  const parent = job.parent === undefined ? undefined : await readParent(job.parent, d);
  const view = await viewWith(parent, job, d);
  const rendered = withSourceSong(render(job, view, d), job, parent);
  const waitsFor = (file: FailedFile) => isWorthWaiting(file, job, d.now());
  const { job: kept, failed } = await keepMedia(job, rendered, { waitsFor, signal }, d);
  const waited = failed.filter(waitsFor);
  const needed = waited.find(({ optional }) => !optional)?.error;
  const { message, missing } = withKeptMedia(rendered, kept);
  const names = missing.map(({ name }) => name).join(', ');
  if (needed) {
    const { retryAfterMs } = needed;
    return { message: withNote(message, waitingSentence(names, needed)), waiting: { retryAfterMs } };
  }
  if (waited.length > 0) return { message, waiting: { retryAfterMs: undefined } };
  const archive = d.command(job.command)?.archive?.(view);
  const files = archive === undefined ? message : await withArchive(message, archive, kept, d);
  const whole = withWhatIsMissing(files, missing, failed);
  return { message: { ...whole, ...(tookLong(job, d.now()) ? { notify: true } : {}) } };
}

function isWorthWaiting({ optional, error }: FailedFile, job: Job, now: number): boolean {
  if (optional) return job.attempts < OPTIONAL_TRIES;
  if (job.attempts < FEW_TRIES) return true;
  // An address that was good a minute ago and is not found now has ended.
  const vanished = error.status !== undefined && error.status < 500 && error.status !== 429;
  return !vanished && now - job.createdAt < WAIT_FOR_FILES_MS;
}

/** Says what will not come. Where it is only our own room that lacks, the gateway's addresses stand in. */
function withWhatIsMissing(
  message: Message,
  missing: readonly MediaItem[],
  failed: readonly FailedFile[],
): Message {
  const ours = new Set(failed.filter(({ error }) => isOwnFault(error)).map(({ url }) => url));
  const isOurs = ({ source }: MediaItem) => source.type === 'remote' && ours.has(source.url);
  const linked = missing.filter(isOurs);
  const lost = missing.filter((item) => !isOurs(item));
  const names = (items: readonly MediaItem[]) => items.map(({ name }) => name).join(', ');
  const notes = [
    ...(linked.length > 0 ? [unkeptLinkSentence(names(linked))] : []),
    ...(lost.length > 0 ? [lostSentence(names(lost))] : []),
  ];
  return withNote({ ...message, media: [...(message.media ?? []), ...linked] }, notes.join(' '));
}

function withNote(message: Message, note: string): Message {
  const notes = [message.footer, note].filter(Boolean);
  return notes.length === 0 ? message : { ...message, footer: notes.join(' · ') };
}

/** What commands see of a job whose result they render: with a link to what it was made from. */
async function viewWith(parent: Job | undefined, job: Job, d: JobDependencies): Promise<JobView> {
  const url = parent && (await linkTo(parent, d));
  return { ...viewOf(job), ...(url ? { parentUrl: url } : {}) };
}

/** A link is worth no failure. */
async function linkTo({ id, address, posted }: Job, d: JobDependencies): Promise<string | undefined> {
  try {
    return posted && (await d.platform(address.platform)?.linkTo?.(address, posted));
  } catch (error) {
    d.log.warn({ job: id, err: error }, 'What a result was made from could not be linked to');
    return undefined;
  }
}

/** A link is worth no failure: a parent whose record cannot be read has none. */
async function readParent(id: string, { storage, log }: JobDependencies): Promise<Job | undefined> {
  try {
    return await storage.jobs.read(id);
  } catch (error) {
    log.warn({ job: id, err: error }, 'What a result was made from could not be read');
    return undefined;
  }
}

function render(job: Job, view: JobView, d: JobDependencies): Message {
  try {
    const done = d.command(job.command)?.done;
    if (!done) throw new TypeError(`The command ${job.command} does not render results`);
    return done(view);
  } catch (error) {
    return { title: job.title, ...toMessage(error, { log: d.log, reference: job.id }) };
  }
}

/** A result that took longer than a minute mentions the person who asked. */
function tookLong(job: Job, now: number): boolean {
  return now - job.createdAt > 60_000;
}

export function again({ command, id }: Job): Button {
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
