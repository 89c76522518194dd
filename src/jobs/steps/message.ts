/** Renders the final message of a job: its result, or the reason it has none. */
import { toMessage } from '../../core/errors.ts';
import { hasWholeResult, type Job, type JobView } from '../../core/job.ts';
import {
  type ActionButton,
  againButton,
  button,
  changeButton,
  type MediaItem,
  type Message,
} from '../../core/message.ts';
import { present } from '../../core/util/present.ts';
import type { Work } from '../../core/work.ts';
import type { GatewayErrorCode } from '../../gateway/transport/errors.ts';
import type { MediaError } from '../../media/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobRun } from '../runner/run.ts';
import {
  CANCELLED_FINISHED_SENTENCE,
  CANCELLED_SENTENCE,
  EXPIRED_SENTENCE,
  isStorageFault,
  linkedFilesSentence,
  lostSentence,
  RESTORED_NOTE,
  UNCERTAIN_EXPIRED_SENTENCE,
  UNREADABLE_SENTENCE,
  waitingSentence,
} from '../sentences.ts';
import { type FailedFile, type Keep, withStoredMedia } from './keep.ts';
import type { Poll } from './poll.ts';
import type { Source } from './source.ts';

/** Tries for optional files, such as a cover. */
const OPTIONAL_TRIES = 2;
/** Tries for files that the gateway reports as missing. */
const FEW_TRIES = 6;
/** The gateway's URLs are temporary, and people don't wait longer. */
const WAIT_FOR_FILES_MS = 24 * 60 * 60_000;

interface FinalMessageParts
  extends Pick<JobDependencies, 'platform' | 'command' | 'pageUrl' | 'now' | 'log'>,
    Pick<Keep, 'keepMedia' | 'withArchive'>,
    Pick<Poll, 'refreshVideoUrl'>,
    Source {}

/** Renders the final message. `waiting` is set if files are missing that may still arrive. */
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
  /** Adds the parent job and links for the command that renders the result. */
  async function viewWith(parent: Job | undefined, job: Job): Promise<JobView> {
    const url = parent && (await linkTo(parent));
    // Stems are played on the page of their song.
    const page = await linkToPage(job.work.route === 'music.vocalRemoval' ? (parent ?? job) : job);
    return { ...job, ...present({ parentJob: parent, parentUrl: url, pageUrl: page }) };
  }

  /** Asks the platform whether the channel is public, because events don't always contain this. Only songs of public channels have pages. */
  async function readPublicity(run: JobRun): Promise<void> {
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

  /** Never throws: a missing link must not fail the delivery. */
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
    if (job.end !== 'delivered') return { message: { title: titleOfEnd(job), ...endMessage(job) } };
    const parent = await readParent(job);
    await readPublicity(run);
    const view = await viewWith(parent, run.job);
    const rendered = render(job, view);
    const willRetry = (file: FailedFile) => isWorthWaiting(file, job, now());
    const failed = await keepMedia(run, rendered, { willRetry, signal });
    const pending = failed.filter(willRetry);
    const error = pending.find(({ optional }) => !optional)?.error;
    const { message, missing } = withStoredMedia(rendered, run.job);
    const mayMove = error ? !isStorageFault(error) : missing.length > 0 && job.attempts < FEW_TRIES;
    const hasMoved = mayMove && (await refreshVideoUrl(run, signal));
    if (error || hasMoved) {
      const note = waitingSentence(namesOf(missing), error);
      return { message: withNote(message, note), waiting: { retryAfterMs: error?.retryAfterMs } };
    }
    if (pending.length > 0) return { message, waiting: { retryAfterMs: undefined } };
    const archive = command(job.command)?.archive?.(view);
    const files = archive === undefined ? message : await withArchive(message, archive, run);
    const absent = splitMissing(missing, failed);
    const final = withMissingNotes(files, absent);
    const notify = absent.lost.length > 0 ? 'incomplete' : 'ready';
    return { message: isSlow(job, now()) ? { ...final, notify } : final };
  };
}

function isWorthWaiting({ optional, error }: FailedFile, job: Job, now: number): boolean {
  if (optional) return job.attempts < OPTIONAL_TRIES;
  if (job.attempts < FEW_TRIES) return true;
  return !isNotFound(error) && now - job.createdAt < WAIT_FOR_FILES_MS;
}

/** True if the file's server reports that the file doesn't exist. */
const isNotFound = ({ status }: MediaError): boolean =>
  status !== undefined && status < 500 && status !== 429;

interface AbsentFiles {
  /** Our own storage failed, so the message links to the gateway's URLs. */
  readonly linked: readonly MediaItem[];
  readonly lost: readonly MediaItem[];
}

function splitMissing(missing: readonly MediaItem[], failed: readonly FailedFile[]): AbsentFiles {
  const unstoredUrls = new Set(failed.filter(({ error }) => isStorageFault(error)).map(({ url }) => url));
  const isUnstored = ({ source }: MediaItem) => source.type === 'remote' && unstoredUrls.has(source.url);
  return { linked: missing.filter(isUnstored), lost: missing.filter((item) => !isUnstored(item)) };
}

const namesOf = (items: readonly MediaItem[]): string => items.map(({ name }) => name).join(', ');

/** Adds notes on files that will not arrive. */
function withMissingNotes(message: Message, { linked, lost }: AbsentFiles): Message {
  const notes = [
    ...(linked.length > 0 ? [linkedFilesSentence(namesOf(linked))] : []),
    ...(lost.length > 0 ? [lostSentence(namesOf(lost))] : []),
  ];
  return withNote({ ...message, media: [...(message.media ?? []), ...linked] }, notes.join(' '));
}

function withNote(message: Message, note: string): Message {
  const notes = [message.footer, note].filter(Boolean);
  return notes.length === 0 ? message : { ...message, footer: notes.join(' · ') };
}

/** Results after more than a minute mention the requester. */
function isSlow(job: Job, now: number): boolean {
  return now - job.createdAt > 60_000;
}

/** Such as `Composing “rain” failed`. The title of a question is the question. */
function titleOfEnd({ end, title, command }: Job): string {
  return end === 'failed' && command !== 'ask' ? `${title} failed` : title;
}

function endMessage(job: Job): Message {
  const message = outcomeMessage(job);
  if (!job.restored || job.end === 'cancelled') return message;
  return { ...message, footer: [RESTORED_NOTE, message.footer].filter(Boolean).join(' · ') };
}

function outcomeMessage(job: Job): Message {
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
        isFailure: true,
        text: job.failure?.sentence ?? "This didn't work.",
        ...(job.failure ? { footer: `Reference ${job.failure.reference}` } : {}),
        actions: actionsAfter(job),
      };
  }
}

/** Work whose commands have a form with the last input. */
const CHANGEABLE: ReadonlySet<string> = new Set<Work['route']>([
  'music.generate',
  'music.uploadCover',
  'music.uploadExtend',
  'music.addVocals',
  'music.addInstrumental',
]);

/** Failures that another description or other lyrics may avoid. */
const AVOIDED_BY_CHANGE: ReadonlySet<string> = new Set<GatewayErrorCode>([
  'invalid',
  'too-long',
  'blocked',
  'copyright',
  'artist',
  'not-found',
  'not-made',
  'refunded',
]);

function actionsAfter(job: Job): ActionButton[] {
  const code = job.failure?.code ?? '';
  // Again would be refused again.
  if (code === 'exists') return [];
  const canChange = CHANGEABLE.has(job.work.route) && AVOIDED_BY_CHANGE.has(code);
  return [...(canChange ? [changeButton(job)] : []), againButton(job)];
}

function expiredText({ id, unreadable, uncertain }: Job): Pick<Message, 'text' | 'footer'> {
  if (unreadable) return { text: UNREADABLE_SENTENCE, footer: `Reference ${id}` };
  return { text: uncertain ? UNCERTAIN_EXPIRED_SENTENCE : EXPIRED_SENTENCE };
}
