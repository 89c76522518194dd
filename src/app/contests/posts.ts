/** The messages of a contest in its channel, kept up to date. */
import { createHash } from 'node:crypto';
import {
  announcement,
  ballotMessage,
  contestResult,
  type WinningSong,
} from '../../../commands/contest/messages.ts';
import { type ContestPost, winnersOf } from '../../core/contest.ts';
import type { Job } from '../../core/job.ts';
import type { MediaFile, Message } from '../../core/message.ts';
import { present } from '../../core/util/present.ts';
import { messageDigest } from '../../jobs/steps/channel.ts';
import { MediaError } from '../../media/errors.ts';
import { PlatformError } from '../../platforms/platform.ts';
import { contestAlbumId } from '../../settings/albums.ts';
import { recordingOf } from './entries.ts';
import { type ContestRun, zoneAt } from './parts.ts';
import { pollCount } from './polls.ts';

/** @param unfinished songs entered in time that are unfinished when entries close */
export async function postAnnouncement(run: ContestRun, unfinished = 0): Promise<PlatformError | undefined> {
  const zone = await zoneAt(run.contest.address, run);
  return post('announcement', announcement(run.contest, { zone, unfinished }), run);
}

export async function postBallot(run: ContestRun): Promise<void> {
  const { contest } = run;
  const { polls, voice } = run.platform(contest.address.platform) ?? {};
  const zone = await zoneAt(contest.address, run);
  const facts = { zone, polls: pollCount(contest, polls), hasVoice: voice !== undefined };
  await post('ballot', ballotMessage(contest, facts), run);
}

/** Posts the result, or sends it to the person who started the contest if the channel takes no messages. */
export async function postResult(run: ContestRun): Promise<void> {
  const message = await resultOf(run);
  if (await post('result', message, run)) await notifyStarter(message, run);
}

async function resultOf(run: ContestRun): Promise<Message> {
  const { key, contest, storage, pageUrl, albumUrl } = run;
  const standings = contest.result?.standings ?? [];
  const winners = winnersOf(standings);
  const pages = new Map<string, string>();
  const songs: WinningSong[] = [];
  for (const standing of standings) {
    const job = await storage.jobs.read(standing.job);
    if (!job) continue;
    const url = job.pageWithdrawn ? undefined : await pageUrl(job);
    if (url !== undefined) pages.set(job.id, url);
    const file = winners.includes(standing) ? await taggedRecordingOf(job, standing.take, run) : undefined;
    if (file) songs.push({ standing, file });
  }
  // Without any page, the album would be empty.
  const album =
    pages.size > 0 ? albumUrl(contest.address, contestAlbumId({ contest: contest.id, key })) : undefined;
  return contestResult(contest, { songs, pages, album });
}

/** With the song's tags, if they were written. */
async function taggedRecordingOf(job: Job, take: number, run: ContestRun): Promise<MediaFile | undefined> {
  const url = job.result?.songs[take]?.audioUrl ?? '';
  return job.tagged?.[url] ?? (await recordingOf(job, take, run));
}

/**
 * Posts or edits a message, unless it is shown already. Resolves to the error of a channel that takes no messages, which does not stop
 * the contest. Throws PlatformError while the chat is down.
 */
async function post(
  name: ContestPost,
  message: Message,
  { key, contest, store, platform, mayHavePosted, log }: ContestRun,
): Promise<PlatformError | undefined> {
  const { id, address, posts } = contest;
  const { posted, shown: before } = posts[name] ?? {};
  const shown = messageDigest(message);
  const chat = platform(address.platform);
  if (before === shown || !chat) return undefined;
  try {
    const after = await chat.show(address, message, {
      key: createHash('sha256').update(`${id}:${name}`).digest('hex').slice(0, 20),
      mayHavePosted,
      ...present({ posted }),
      remember: (state) => store.remember(key, id, name, present({ posted: state, shown: before })),
    });
    await store.remember(key, id, name, { posted: after, shown });
    return undefined;
  } catch (error) {
    const failure = permanentFailure(error);
    if (!failure) throw error;
    log.warn({ err: error, contest: id }, 'Could not show a message of a contest');
    return failure;
  }
}

/** Undefined if a retry may succeed. */
function permanentFailure(error: unknown): PlatformError | undefined {
  if (error instanceof MediaError && !error.retryable)
    return new PlatformError('refused', 'A file of the message is gone', { cause: error });
  return error instanceof PlatformError && error.code !== 'unavailable' ? error : undefined;
}

/** Sends a message to the person who started the contest, because the channel takes none. */
export async function notifyStarter(
  message: Message,
  { contest: { address }, platform, log }: ContestRun,
): Promise<void> {
  await platform(address.platform)
    ?.sendPrivately(address, message)
    .catch((error: unknown) => {
      log.warn({ err: error }, 'Could not reach the person who started a contest');
    });
}
