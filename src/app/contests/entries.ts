/** The songs of a contest: which entries count, and their recordings. */

import type { Contest, ContestCandidate, ContestEntry } from '../../core/contest.ts';
import { UserError } from '../../core/errors.ts';
import { isOpen, type Job } from '../../core/job.ts';
import type { MediaFile } from '../../core/message.ts';
import { titleOf } from '../../core/music/song.ts';
import { dayOf } from '../../core/util/clock.ts';
import { present } from '../../core/util/present.ts';
import { MediaError } from '../../media/errors.ts';
import { shuffled } from '../../settings/contests/contest.ts';
import { modelOf } from '../../settings/limits/meter.ts';
import type { ContestParts } from './parts.ts';

/** An entry without a job counts for this long, because the job may be about to be stored. */
const CLAIM_MS = 60_000;

/** The state of an entry's song. */
type EntryState =
  | { readonly type: 'making' }
  /** It has no song to play, so it does not count. */
  | { readonly type: 'ended' }
  | { readonly type: 'made'; readonly job: Job };

async function stateOf(
  { job: id, at, take }: ContestEntry,
  { storage, now }: Pick<ContestParts, 'storage' | 'now'>,
): Promise<EntryState> {
  const job = await storage.jobs.read(id);
  if (!job) return { type: now() - at < CLAIM_MS ? 'making' : 'ended' };
  if (job.end === 'cancelled') return { type: 'ended' };
  if (isOpen(job)) return { type: 'making' };
  return job.state === 'delivered' && job.result?.songs[take]?.audioUrl !== undefined
    ? { type: 'made', job }
    : { type: 'ended' };
}

/** Drops entries whose songs failed or were cancelled. Returns the number of unfinished ones. */
export async function dropEnded(
  key: string,
  { id, entries }: Contest,
  parts: Pick<ContestParts, 'store' | 'storage' | 'now'>,
): Promise<number> {
  const states = await Promise.all(entries.map((entry) => stateOf(entry, parts)));
  const ended = entries.filter((_, index) => states[index]?.type === 'ended').map(({ job }) => job);
  if (ended.length > 0) await parts.store.drop(key, id, new Set(ended));
  return states.filter(({ type }) => type === 'making').length;
}

/** The songs in the order of their numbers, with recordings that contain no titles or names. */
export async function createBallot(contest: Contest, parts: ContestParts): Promise<ContestCandidate[]> {
  const ballot: ContestCandidate[] = [];
  for (const entry of shuffled(contest.entries, contest)) {
    const state = await stateOf(entry, parts);
    if (state.type !== 'made') continue;
    const { id, createdAt, work, result } = state.job;
    const file = await recordingOf(state.job, entry.take, parts);
    if (!file) continue;
    const nameless = await parts.media.tag(file, {
      title: `Entry ${ballot.length + 1}`,
      artist: 'Minstrel',
      mark: { job: id, day: dayOf(createdAt), ...present({ model: modelOf(work) }) },
    });
    const { durationSeconds: seconds } = result?.songs[entry.take] ?? {};
    ballot.push({ job: id, take: entry.take, file: nameless, ...present({ seconds }) });
  }
  return ballot;
}

/** Undefined if the file no longer exists. */
export async function recordingOf(
  job: Job,
  take: number,
  { jobs, log }: Pick<ContestParts, 'jobs' | 'log'>,
): Promise<MediaFile | undefined> {
  const url = job.result?.songs[take]?.audioUrl;
  if (url === undefined) return undefined;
  try {
    return await jobs.file(job.id, { type: 'remote', url }, ['audio']);
  } catch (error) {
    if (!(error instanceof UserError || error instanceof MediaError)) throw error;
    log.warn({ err: error, job: job.id }, 'The recording of a contest entry is gone');
    return undefined;
  }
}

export async function titleFor(
  { job: id, take }: Pick<ContestCandidate, 'job' | 'take'>,
  { storage }: Pick<ContestParts, 'storage'>,
): Promise<string> {
  const job = await storage.jobs.read(id);
  return job ? (job.result?.songs[take]?.title ?? titleOf(job)) : 'A deleted song';
}
