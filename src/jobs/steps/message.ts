/** What the channel reads of a job, and showing it: progress while it runs, then the result, or why there is none. */

import { hash } from 'node:crypto';
import { toMessage } from '../../core/errors.ts';
import type { Job, JobView } from '../../core/job.ts';
import { actionId, type MediaItem, type Message } from '../../core/message.ts';
import { MediaError } from '../../media/errors.ts';
import { PlatformError, type Posted, type ShowOptions } from '../../platforms/platform.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobDependencies } from '../dependencies.ts';
import { PLANS } from '../route-plans.ts';
import type { JobRun } from '../runner/run.ts';
import { isOwnFault, lostSentence, unkeptLinkSentence, waitingSentence } from '../sentences.ts';
import { withArchive } from './archive.ts';
import { endMessage } from './end-message.ts';
import { type FailedFile, keepMedia, withKeptMedia } from './keep.ts';
import { refreshVideoUrl } from './poll.ts';
import { linkToMessage, readParent, withSourceSong } from './source.ts';

/** The result itself is not held up for longer because of what was shown early. */
const LONGEST_EARLY_HOLD_MS = 60_000;
const UNCERTAIN_STAGE =
  'The gateway’s answer was lost, so it is unclear whether it took this. I wait for it to call back';
const HELD_STAGE = 'The gateway is busy, and is asked again';

/** Tries for files that the result does not need, such as a cover: people do not wait long for them. */
const OPTIONAL_TRIES = 2;
/** Tries of what the gateway says is not there. */
const FEW_TRIES = 6;
/** The gateway's addresses are temporary, and people do not wait longer. */
const WAIT_FOR_FILES_MS = 24 * 60 * 60_000;

export interface FinalMessage {
  readonly message: Message;
  /** It is not whole, though it may become so. */
  readonly waiting?: { readonly retryAfterMs: number | undefined };
}

/** What the channel reads in the end, or for now. */
export async function finalMessage(
  run: JobRun,
  signal: AbortSignal,
  deps: JobDependencies,
): Promise<FinalMessage> {
  const { job } = run;
  if (job.end !== 'delivered') return { message: { title: job.title, ...endMessage(job) } };
  const parent = job.parent === undefined ? undefined : await readParent(job.parent, deps);
  await learnPublicity(run, deps);
  const view = await viewWith(parent, run.job, deps);
  const alone = render(job, view, deps);
  const rendered = parent === undefined ? alone : withSourceSong(alone, job, parent);
  const waitsFor = (file: FailedFile) => isWorthWaiting(file, job, deps.now());
  const failed = await keepMedia(run, rendered, { waitsFor, signal }, deps);
  const waited = failed.filter(waitsFor);
  const needed = waited.find(({ optional }) => !optional)?.error;
  const { message, missing } = withKeptMedia(rendered, run.job);
  const names = missing.map(({ name }) => name).join(', ');
  if (needed) {
    if (hasVanished(needed)) await refreshVideoUrl(run, signal, deps);
    const { retryAfterMs } = needed;
    return { message: withNote(message, waitingSentence(names, needed)), waiting: { retryAfterMs } };
  }
  if (waited.length > 0) return { message, waiting: { retryAfterMs: undefined } };
  const archive = deps.command(job.command)?.archive?.(view);
  const files = archive === undefined ? message : await withArchive(message, archive, run, deps);
  const absent = splitMissing(missing, failed);
  const whole = withWhatIsMissing(files, absent);
  const notify = absent.lost.length > 0 ? 'incomplete' : 'ready';
  return { message: tookLong(job, deps.now()) ? { ...whole, notify } : whole };
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

/** Says what will not come. */
function withWhatIsMissing(message: Message, { linked, lost }: AbsentFiles): Message {
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
async function viewWith(parent: Job | undefined, job: Job, deps: JobDependencies): Promise<JobView> {
  const url = parent && (await linkToMessage(parent, deps));
  // The stems of a song are heard on its page.
  const page = await linkToPage(job.work.route === 'music.vocalRemoval' ? (parent ?? job) : job, deps);
  return { ...job, ...(url ? { parentUrl: url } : {}), ...(page ? { pageUrl: page } : {}) };
}

/** Songs of public channels have pages. Commands over HTTP and mentions do not tell which channels those are. */
async function learnPublicity(run: JobRun, deps: JobDependencies): Promise<void> {
  const { address, result } = run.job;
  const { guild, channel } = address;
  if (guild === undefined || address.public !== undefined || !result?.songs.length) return;
  try {
    const isPublic = await deps.platform(address.platform)?.isPublic?.(address);
    if (isPublic !== undefined) run.apply({ type: 'publicityKnown', channel, public: isPublic });
  } catch (error) {
    deps.log.warn({ job: run.job.id, err: error }, 'Who can read the channel of a song is not known');
  }
}

/** A link is worth no failure. */
async function linkToPage(song: Job, { pageUrl, log }: JobDependencies): Promise<string | undefined> {
  if (!song.result?.songs.length || song.pageWithdrawn) return undefined;
  try {
    return await pageUrl?.(song);
  } catch (error) {
    log.warn({ job: song.id, err: error }, 'A song is shown without a link to its page');
    return undefined;
  }
}

function render(job: Job, view: JobView, deps: JobDependencies): Message {
  try {
    const done = deps.command(job.command)?.done;
    if (!done) throw new TypeError(`The command ${job.command} does not render results`);
    return done(view);
  } catch (error) {
    return { title: job.title, ...toMessage(error, { log: deps.log, reference: job.id }) };
  }
}

/** A result that took longer than a minute mentions the person who asked. */
function tookLong(job: Job, now: number): boolean {
  return now - job.createdAt > 60_000;
}

/** What people see while the job runs. */
export function progressMessage(
  job: Job,
  stage: string,
  { command }: Pick<JobDependencies, 'command'>,
  until?: number,
): Message {
  // An answer has its model in the title before its first word.
  const isShown = job.result !== undefined || job.work.route === 'answer';
  const early = isShown ? command(job.command)?.early?.(job) : undefined;
  const { queuePosition, estimateMs } = job;
  return {
    title: job.title,
    ...early,
    progress: {
      stage,
      startedAt: job.startedAt ?? job.createdAt,
      ...(queuePosition === undefined ? {} : { queuePosition }),
      ...(estimateMs === undefined || queuePosition !== undefined || until !== undefined
        ? {}
        : { estimateMs }),
      ...(until === undefined ? {} : { until }),
    },
    actions: [
      {
        type: 'action',
        id: actionId({ command: job.command, action: 'cancel', job: job.id, index: 0 }),
        label: PLANS[job.work.route].comesBack === 'stream' ? 'Stop' : 'Cancel',
      },
    ],
  };
}

/** What a platform needs to find again what it has shown of this job. */
export function showOptions(run: JobRun): ShowOptions {
  return {
    key: run.job.id,
    posted: run.job.posted,
    mayHavePosted: run.job.mayHavePosted ?? false,
    remember: async (posted) => {
      run.apply({ type: 'recorded', fields: { posted } });
      await run.save();
    },
    beforeWriting: () => run.assertHeld(),
  };
}

/** Tells equal messages from others without keeping them. */
export function messageDigest(message: Message): string {
  return hash('sha256', JSON.stringify(message), 'base64url');
}

/** Shows `message` unless it is shown already. Throws PlatformError. */
export async function showInChannel(
  run: JobRun,
  message: Message,
  deps: Pick<JobDependencies, 'platform'>,
): Promise<void> {
  const shown = messageDigest(message);
  if (shown === run.job.shown) return;
  const { address } = run.job;
  const platform = deps.platform(address.platform);
  if (!platform)
    throw new PlatformError('unavailable', `The platform ${address.platform} is not switched on`);
  recordShown(run, shown, await platform.show(address, message, showOptions(run)));
}

/** What the platform found of interrupted runs is part of `posted`. */
export function recordShown(run: JobRun, shown: string, posted: Posted): void {
  const found = run.job.mayHavePosted === true ? { mayHavePosted: false } : {};
  run.apply({ type: 'recorded', fields: { posted, shown, ...found } });
}

/**
 * While the gateway works: lyrics and a first listen as early stages bring them, and whether it is unclear that it took
 * the work at all.
 */
export async function showEarly(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<void> {
  const { result, command, uncertain, deadlineAt, work } = run.job;
  const early = result && deps.command(command)?.early?.(run.job);
  if (!early && uncertain === undefined) return;
  await withoutFailing(run, deps, async () => {
    if (early) await keepMedia(run, early, { signal }, deps);
    const [stage, until] = uncertain ? [UNCERTAIN_STAGE, deadlineAt] : [PLANS[work.route].stage];
    const progress = progressMessage(run.job, stage, deps, until);
    await showInChannel(run, withKeptMedia(progress, run.job).message, deps);
  });
}

/** Says how far the work is, apart from its message. Resolves to when to say it again, in milliseconds since the epoch. */
export async function tellProgress({ job }: JobRun, deps: JobDependencies): Promise<number> {
  const platform = deps.platform(job.address.platform);
  if (platform?.showProgress === undefined) return Number.POSITIVE_INFINITY;
  const { progress } = progressMessage(job, PLANS[job.work.route].stage, deps);
  try {
    const again = progress && (await platform.showProgress(job.address, progress));
    return deps.now() + (again ?? Number.POSITIVE_INFINITY);
  } catch (error) {
    deps.log.debug({ job: job.id, err: error }, 'How far work is could not be said');
    return Number.POSITIVE_INFINITY;
  }
}

/** The gateway asked for patience: until when it gets it. */
export async function showHeld(run: JobRun, deps: JobDependencies): Promise<void> {
  const { asking = 0 } = run.job.held ?? {};
  if (asking > deps.now())
    await withoutFailing(run, deps, () =>
      showInChannel(run, progressMessage(run.job, HELD_STAGE, deps, asking), deps),
    );
}

/** Before the gateway has answered. What cannot be shown now is shown at the end. */
export async function showCancelled(run: JobRun, signal: AbortSignal, deps: JobDependencies): Promise<void> {
  await withoutFailing(run, deps, async () =>
    showInChannel(run, (await finalMessage(run, signal, deps)).message, deps),
  );
}

/** Progress that cannot be shown is no reason to fail the work: the end is shown anyway. */
async function withoutFailing(
  run: JobRun,
  { log, now }: Pick<JobDependencies, 'log' | 'now'>,
  show: () => Promise<void>,
): Promise<void> {
  const { held } = run.job;
  if ((held?.showing ?? 0) > now()) return;
  try {
    await show();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    log.warn({ job: run.job.id, err: error }, 'Progress could not be shown');
    const isAway = error instanceof PlatformError || error instanceof MediaError;
    if (!isAway || error.retryAfterMs === undefined) return;
    const showing = now() + Math.min(error.retryAfterMs, LONGEST_EARLY_HOLD_MS);
    run.apply({ type: 'recorded', fields: { held: { ...held, showing } } });
  }
}
