/** What the channel reads of a job that is over: its result, or why there is none. */
import { toMessage } from '../../core/errors.ts';
import { hasWholeResult, type Job, type JobView } from '../../core/job.ts';
import { againButton, button, type MediaItem, type Message } from '../../core/message.ts';
import { present } from '../../core/util/present.ts';
import type { MediaError } from '../../media/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';
import {
  CANCELLED_FINISHED_SENTENCE,
  CANCELLED_SENTENCE,
  EXPIRED_SENTENCE,
  isOwnFault,
  lostSentence,
  RESTORED_NOTE,
  UNCERTAIN_EXPIRED_SENTENCE,
  UNREADABLE_SENTENCE,
  unkeptLinkSentence,
  waitingSentence,
} from '../sentences.ts';
import { type FailedFile, type Keep, withKeptMedia } from './keep.ts';
import type { Poll } from './poll.ts';
import type { Source } from './source.ts';

/** Tries for files that the result does not need, such as a cover: people do not wait long for them. */
const OPTIONAL_TRIES = 2;
/** Tries of what the gateway says is not there. */
const FEW_TRIES = 6;
/** The gateway's addresses are temporary, and people do not wait longer. */
const WAIT_FOR_FILES_MS = 24 * 60 * 60_000;

interface FinalMessageParts
  extends Pick<JobDependencies, 'platform' | 'command' | 'pageUrl' | 'now' | 'log'>,
    Pick<Keep, 'keepMedia' | 'withArchive'>,
    Pick<Poll, 'refreshVideoUrl'>,
    Source {}

/** What the channel reads in the end, or for now: `waiting` where it is not whole, though it may become so. */
export type FinalMessage = (
  run: JobRun,
  signal: AbortSignal,
) => Promise<{
  readonly message: Message;
  readonly waiting?: { readonly retryAfterMs: number | undefined };
}>;

export function createFinalMessage({
  platform,
  command,
  pageUrl,
  keepMedia,
  withArchive,
  refreshVideoUrl,
  linkTo,
  readParent,
  now,
  log,
}: FinalMessageParts): FinalMessage {
  /** What commands see of a job whose result they render: with what it was made from, and links. */
  async function viewWith(parent: Job | undefined, job: Job): Promise<JobView> {
    const url = parent && (await linkTo(parent));
    // The stems of a song are heard on its page.
    const page = await linkToPage(job.work.route === 'music.vocalRemoval' ? (parent ?? job) : job);
    return { ...job, ...present({ parentJob: parent, parentUrl: url, pageUrl: page }) };
  }

  /** Songs of public channels have pages. Commands over HTTP and mentions do not tell which channels those are. */
  async function learnPublicity(run: JobRun): Promise<void> {
    const { address, result } = run.job;
    const { guild, channel } = address;
    if (guild === undefined || address.public !== undefined || !result?.songs.length) return;
    try {
      const isPublic = await platform(address.platform)?.isPublic?.(address);
      if (isPublic !== undefined) run.apply({ type: 'publicityKnown', channel, public: isPublic });
    } catch (error) {
      log.warn({ job: run.job.id, err: error }, 'Could not check who can read the channel of a song');
    }
  }

  /** A link is worth no failure. */
  async function linkToPage(song: Job): Promise<string | undefined> {
    if (!song.result?.songs.length || song.pageWithdrawn) return undefined;
    try {
      return await pageUrl(song);
    } catch (error) {
      log.warn({ job: song.id, err: error }, 'Could not link to the page of a song');
      return undefined;
    }
  }

  function render(job: Job, view: JobView): Message {
    try {
      const done = command(job.command)?.done;
      if (!done) throw new TypeError(`The command ${job.command} does not render results`);
      return done(view);
    } catch (error) {
      return { title: job.title, ...toMessage(error, { log, reference: job.id }) };
    }
  }

  return async (run, signal) => {
    const { job } = run;
    if (job.end !== 'delivered') return { message: { title: job.title, ...endMessage(job) } };
    const parent = await readParent(job);
    await learnPublicity(run);
    const view = await viewWith(parent, run.job);
    const rendered = render(job, view);
    const waitsFor = (file: FailedFile) => isWorthWaiting(file, job, now());
    const failed = await keepMedia(run, rendered, { waitsFor, signal });
    const waited = failed.filter(waitsFor);
    const needed = waited.find(({ optional }) => !optional)?.error;
    const { message, missing } = withKeptMedia(rendered, run.job);
    if (needed) {
      if (hasVanished(needed)) await refreshVideoUrl(run, signal);
      const { retryAfterMs } = needed;
      const note = waitingSentence(namesOf(missing), needed);
      return { message: withNote(message, note), waiting: { retryAfterMs } };
    }
    if (waited.length > 0) return { message, waiting: { retryAfterMs: undefined } };
    const archive = command(job.command)?.archive?.(view);
    const files = archive === undefined ? message : await withArchive(message, archive, run);
    const absent = splitMissing(missing, failed);
    const whole = withWhatIsMissing(files, absent);
    const notify = absent.lost.length > 0 ? 'incomplete' : 'ready';
    return { message: tookLong(job, now()) ? { ...whole, notify } : whole };
  };
}

function isWorthWaiting({ optional, error }: FailedFile, job: Job, now: number): boolean {
  if (optional) return job.attempts < OPTIONAL_TRIES;
  if (job.attempts < FEW_TRIES) return true;
  return !hasVanished(error) && now - job.createdAt < WAIT_FOR_FILES_MS;
}

/** Whether its server says that there is no such file, or no longer. */
const hasVanished = ({ status }: MediaError): boolean =>
  status !== undefined && status < 500 && status !== 429;

interface AbsentFiles {
  /** Only our own storage is full: the gateway's addresses are shown. */
  readonly linked: readonly MediaItem[];
  readonly lost: readonly MediaItem[];
}

function splitMissing(missing: readonly MediaItem[], failed: readonly FailedFile[]): AbsentFiles {
  const ours = new Set(failed.filter(({ error }) => isOwnFault(error)).map(({ url }) => url));
  const isOurs = ({ source }: MediaItem) => source.type === 'remote' && ours.has(source.url);
  return { linked: missing.filter(isOurs), lost: missing.filter((item) => !isOurs(item)) };
}

const namesOf = (items: readonly MediaItem[]): string => items.map(({ name }) => name).join(', ');

/** Says what will not come. */
function withWhatIsMissing(message: Message, { linked, lost }: AbsentFiles): Message {
  const notes = [
    ...(linked.length > 0 ? [unkeptLinkSentence(namesOf(linked))] : []),
    ...(lost.length > 0 ? [lostSentence(namesOf(lost))] : []),
  ];
  return withNote({ ...message, media: [...(message.media ?? []), ...linked] }, notes.join(' '));
}

function withNote(message: Message, note: string): Message {
  const notes = [message.footer, note].filter(Boolean);
  return notes.length === 0 ? message : { ...message, footer: notes.join(' · ') };
}

/** A result that took longer than a minute mentions the person who asked. */
function tookLong(job: Job, now: number): boolean {
  return now - job.createdAt > 60_000;
}

function endMessage(job: Job): Message {
  const message = messageOfEnd(job);
  if (!job.restored || job.end === 'cancelled') return message;
  return { ...message, footer: [RESTORED_NOTE, message.footer].filter(Boolean).join(' · ') };
}

function messageOfEnd(job: Job): Message {
  switch (job.end) {
    case 'cancelled': {
      if (!hasWholeResult(job)) return { text: CANCELLED_SENTENCE, actions: [againButton(job)] };
      const offer = { ...button(job, 'show', 'Show it'), emphasis: 'primary' } as const;
      return { text: CANCELLED_FINISHED_SENTENCE, actions: [offer, againButton(job)] };
    }
    case 'expired':
      return { ...expiredText(job), actions: [againButton(job)], notify: 'incomplete' };
    default:
      return {
        text: job.failure?.sentence ?? "This didn't work.",
        ...(job.failure ? { footer: `Reference ${job.failure.reference}` } : {}),
        actions: [againButton(job)],
      };
  }
}

function expiredText({ id, unreadable, uncertain }: Job): Pick<Message, 'text' | 'footer'> {
  if (unreadable) return { text: UNREADABLE_SENTENCE, footer: `Reference ${id}` };
  return { text: uncertain ? UNCERTAIN_EXPIRED_SENTENCE : EXPIRED_SENTENCE };
}
