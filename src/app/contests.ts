/** Runs song contests: takes entries, opens and counts votes, and posts the results. */
import { createHash } from 'node:crypto';
import {
  type AnnouncementFacts,
  announcement,
  ballotMessage,
  contestResult,
  type WinningSong,
} from '../../commands/contest/messages.ts';
import { dayOf } from '../core/clock.ts';
import {
  type Contest,
  type ContestCandidate,
  type ContestEntry,
  type ContestPoll,
  type ContestPost,
  type Contests,
  MOST_ENTRIES,
  winnersOf,
} from '../core/contest.ts';
import { UserError } from '../core/errors.ts';
import type { Address, Invocation, Person } from '../core/invocation.ts';
import { invocationKey, isOpen, type Job } from '../core/job.ts';
import { type MediaFile, type Message, plain } from '../core/message.ts';
import { titleOf } from '../core/music/song.ts';
import type { System } from '../core/system.ts';
import { present } from '../core/util/present.ts';
import type { EntryRequest, Jobs } from '../jobs/jobs.ts';
import { MediaError } from '../media/errors.ts';
import type { Media } from '../media/media.ts';
import { type Platform, PlatformError, postedSchema } from '../platforms/platform.ts';
import { contestAlbumId } from '../settings/albums.ts';
import { acceptsEntries, shuffled } from '../settings/contests/contest.ts';
import type { ContestStore } from '../settings/contests/contests.ts';
import type { Decisions } from '../settings/decisions.ts';
import { modelOf } from '../settings/limits/meter.ts';
import type { ScheduleStore } from '../settings/schedules/schedules.ts';
import { readSingleTime } from '../settings/schedules/when.ts';
import type { Storage } from '../storage/storage.ts';
import { type RunRecord, type TimerStorage, wakeRecord } from './timers.ts';

const LONGEST_MS = 30 * 24 * 3_600_000;
/** An entry without a job counts for this long, because the job may be about to be stored. */
const CLAIM_MS = 60_000;
/** The interval between checks of unfinished songs. */
const LOOK_MS = 30_000;
/** The vote waits this long for songs that were entered in time. */
const GRACE_MS = 20 * 60_000;
/** The interval between checks of a poll whose votes the platform is still counting, and the longest wait. */
const COUNTING_MS = 1_000;
const LONGEST_COUNTING_MS = 10 * 60_000;
const HOUR = 3_600_000;

const NOT_STARTED = "I can't post in that channel, so the contest did not start.";
const ENTERED = {
  text: "Your entry is being made. I'll send it to you directly.",
} as const satisfies Message;

export interface ContestParts extends Pick<System, 'now' | 'newId' | 'log'> {
  readonly store: ContestStore;
  readonly schedules: Pick<ScheduleStore, 'keyOf' | 'read'>;
  readonly storage: Pick<TimerStorage, 'schedule'> & { readonly jobs: Pick<Storage['jobs'], 'read'> };
  readonly jobs: Pick<Jobs, 'start' | 'file' | 'unhide'>;
  readonly media: Pick<Media, 'tag'>;
  readonly platform: (
    name: string,
  ) => Pick<Platform, 'show' | 'sendPrivately' | 'sameChannel' | 'polls' | 'voice'> | undefined;
  readonly pageUrl: (song: Job) => Promise<string | undefined>;
  /** The URL of an album; undefined if people could not open it. */
  readonly albumUrl: (address: Address, id: string) => string | undefined;
  /** The IANA name of the zone for servers that have not chosen one. */
  readonly timeZone: string;
}

/** A request, and what applies to it. */
export interface ContestRequest {
  readonly address: Address;
  /** The person with the rights that settings give them. */
  readonly person: Person;
  readonly settings: Decisions;
  /** Absent if the request starts no work. */
  readonly invocation: Invocation | undefined;
  /** Whether moderators let the person take part. */
  readonly mayEnter: () => Promise<boolean>;
}

export interface ContestRunner {
  at(request: ContestRequest): Contests;
  /** Closes entries and votes that are due, and updates the messages. */
  readonly run: RunRecord;
}

export function createContests(parts: ContestParts): ContestRunner {
  const { store, storage } = parts;
  const wake = (key: string) => wakeRecord(key, storage);
  return {
    at: (request) => contestsAt(request, { ...parts, wake }),

    async run(key, { interrupted }) {
      for (;;) {
        const { current } = await store.read(key);
        if (!current) return undefined;
        const next = await advance(key, current, { ...parts, mayHavePosted: interrupted });
        if (next !== 'now') return next;
      }
    },
  };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20);

interface PlaceParts extends ContestParts {
  readonly wake: (key: string) => Promise<void>;
}

async function zoneAt(address: Address, { schedules, timeZone }: ContestParts): Promise<string> {
  return (await schedules.read(schedules.keyOf(address))).timeZone ?? timeZone;
}

function contestsAt({ address, person, ...request }: ContestRequest, parts: PlaceParts): Contests {
  const { store, jobs, platform, newId, now, wake } = parts;
  const key = store.keyOf(address);
  const actor = { id: person.id, displayName: person.displayName };

  /** Changes a contest, then updates its messages. */
  async function change<Value>(changedKey: string, run: () => Promise<Value>): Promise<Value> {
    const value = await run();
    await wake(changedKey);
    return value;
  }

  /** Claims an entry before its job is stored, so that two simultaneous requests never become two entries. */
  async function start(
    contest: Contest,
    where: { readonly key: string; readonly address: Address },
    work: Omit<EntryRequest, 'id' | 'contest' | 'hidden'>,
  ) {
    const { invocation, settings } = request;
    if (!invocation) throw new TypeError('Completions cannot enter a contest');
    await dropEnded(where.key, contest, parts);
    const claim: ContestEntry = {
      job: newId(),
      invocation: invocationKey(address.platform, invocation.id),
      person: actor,
      take: 0,
      at: now(),
    };
    const { entries } = await store.enter(where.key, contest.id, claim, now());
    const id = entries.find((entry) => entry.invocation === claim.invocation)?.job ?? claim.job;
    const entry: EntryRequest = { ...work, id, contest: { id: contest.id, key: where.key }, hidden: true };
    try {
      const to = { ...where.address, toPerson: true };
      const outcome = await jobs.start(
        entry,
        { ...invocation, command: 'song', person, address: to },
        settings,
      );
      await wake(where.key);
      return outcome.type === 'accepted' ? { ...outcome, reply: ENTERED } : outcome;
    } catch (error) {
      if (id === claim.job) await store.drop(where.key, contest.id, new Set([id]));
      throw error;
    }
  }

  const ofEntry = ({ contest }: Pick<Job, 'contest'>) => {
    if (contest) return contest;
    throw new UserError('This song is not an entry of a contest.');
  };

  return {
    current: async () => (await store.read(key)).current,
    timeZone: () => zoneAt(address, parts),

    async start({ ends, ...facts }) {
      const timeZone = await zoneAt(address, parts);
      const endsAt = await readSingleTime(ends, { timeZone, now: now() }, 'ends');
      if (endsAt - now() > LONGEST_MS)
        throw new UserError('Entries can be open for up to 30 days. Choose an earlier time.', 'ends');
      const contest: Contest = {
        ...facts,
        id: newId(),
        address: platform(address.platform)?.sameChannel?.(address) ?? address,
        startedBy: actor,
        startedAt: now(),
        endsAt,
        state: 'entries',
        entries: [],
        ballot: [],
        votes: {},
        posts: {},
      };
      await change(key, () => store.start(key, contest));
      return contest;
    },

    end: () => change(key, () => store.end(key, now())),
    cancel: () => change(key, () => store.cancel(key, actor, now())),

    async enter(work) {
      const { current } = await store.read(key);
      if (!current || !acceptsEntries(current, now()) || request.invocation?.isAutomatic) return undefined;
      if (!(await request.mayEnter())) return undefined;
      return start(current, { key, address }, work);
    },

    async enterAgain(entry, work) {
      if (!entry.contest || entry.person.id !== person.id) return undefined;
      const { id, key: contestKey } = entry.contest;
      const { current } = await store.read(contestKey);
      if (current?.id !== id || !acceptsEntries(current, now())) return undefined;
      const where = { ...current.address, person: person.id };
      return start(current, { key: contestKey, address: where }, work);
    },

    async chooseTake(entry, take) {
      const contest = ofEntry(entry);
      if (!entry.result?.songs[take]?.audioUrl) throw new UserError('This take has no recording.');
      await store.chooseTake(contest.key, contest.id, { job: entry.id, take }, now());
    },

    async withdraw(entry) {
      const contest = ofEntry(entry);
      await change(contest.key, () => store.withdraw(contest.key, contest.id, entry.id));
    },

    async vote(id, number) {
      await store.vote(key, id, { person: person.id, number }, now());
    },
  };
}

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
async function dropEnded(key: string, { id, entries }: Contest, parts: ContestParts): Promise<number> {
  const states = await Promise.all(entries.map((entry) => stateOf(entry, parts)));
  const ended = entries.filter((_, index) => states[index]?.type === 'ended').map(({ job }) => job);
  if (ended.length > 0) await parts.store.drop(key, id, new Set(ended));
  return states.filter(({ type }) => type === 'making').length;
}

interface RunParts extends ContestParts {
  /** An interrupted run may have posted more than the record has. */
  readonly mayHavePosted: boolean;
}

type Next = 'now' | number | undefined;

async function advance(key: string, contest: Contest, parts: RunParts): Promise<Next> {
  switch (contest.state) {
    case 'entries':
      return takeEntries(key, contest, parts);
    case 'voting':
      return takeVotes(key, contest, parts);
    case 'over':
      return finish(key, contest, parts);
    default:
      return contest.state satisfies never;
  }
}

async function takeEntries(key: string, contest: Contest, parts: RunParts): Promise<Next> {
  const { store, now } = parts;
  const unfinished = await dropEnded(key, contest, parts);
  const { current } = await store.read(key);
  if (current?.id !== contest.id || current.state !== 'entries') return 'now';
  const isClosed = now() >= current.endsAt;
  const waits = isClosed && unfinished > 0 && now() < current.endsAt + GRACE_MS;
  if (!isClosed || waits) {
    const failure = await announce(key, current, { unfinished: isClosed ? unfinished : 0 }, parts);
    const isUnseen = current.posts.announcement?.posted === undefined && current.entries.length === 0;
    if (failure && isUnseen) return giveUp(key, current, failure, parts);
  }
  if (!isClosed) return unfinished > 0 ? Math.min(current.endsAt, now() + LOOK_MS) : current.endsAt;
  if (waits) return now() + LOOK_MS;
  await store.openVote(key, contest.id, await createBallot(current, parts), now());
  return 'now';
}

/** Nobody can take part in a contest that was never announced. */
async function giveUp(
  key: string,
  { id, address }: Contest,
  { advice }: PlatformError,
  { store, platform, log }: RunParts,
): Promise<'now'> {
  await store.discard(key, id);
  const text = [NOT_STARTED, ...(advice === undefined ? [] : [plain(advice)])].join(' ');
  await notifyStarter(address, { text }, platform(address.platform), log);
  return 'now';
}

/** The songs in the order of their numbers, with recordings that contain no titles or names. */
async function createBallot(contest: Contest, parts: ContestParts): Promise<ContestCandidate[]> {
  const ballot: ContestCandidate[] = [];
  for (const entry of shuffled(contest.entries, contest).slice(0, MOST_ENTRIES)) {
    const state = await stateOf(entry, parts);
    if (state.type !== 'made') continue;
    const { durationSeconds: seconds } = state.job.result?.songs[entry.take] ?? {};
    const file = await recordingOf(state.job, entry.take, parts);
    if (!file) continue;
    const tags = { title: `Entry ${ballot.length + 1}`, artist: 'Minstrel' };
    const mark = {
      job: entry.job,
      day: dayOf(state.job.createdAt),
      ...present({ model: modelOf(state.job.work) }),
    };
    const nameless = await parts.media.tag(file, { ...tags, mark });
    ballot.push(present({ job: entry.job, take: entry.take, file: nameless, seconds }));
  }
  return ballot;
}

/** Undefined if the file no longer exists. */
async function recordingOf(
  job: Job,
  take: number,
  { jobs, log }: ContestParts,
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

async function takeVotes(key: string, contest: Contest, parts: RunParts): Promise<Next> {
  const { store, now } = parts;
  const { votingEndsAt = 0, polls } = contest;
  await announce(key, contest, { unfinished: 0 }, parts);
  await postBallot(key, contest, parts);
  if (polls === undefined) {
    await openPolls(key, contest, parts);
    return 'now';
  }
  if (now() < votingEndsAt) return votingEndsAt;
  const counted = polls.length > 0 ? await closePolls(contest, polls, parts) : {};
  if (counted === 'counting') return now() + COUNTING_MS;
  const titles = await Promise.all(contest.ballot.map((candidate) => titleFor(candidate, parts)));
  await store.closeVote(key, contest.id, { titles, ...counted }, now());
  return 'now';
}

async function postBallot(key: string, contest: Contest, parts: RunParts): Promise<void> {
  const { address, ballot } = contest;
  const { polls: native, voice } = parts.platform(address.platform) ?? {};
  const polls = native && contest.polls?.length !== 0 ? Math.ceil(ballot.length / native.mostAnswers) : 0;
  const zone = await zoneAt(address, parts);
  await post(
    key,
    contest,
    'ballot',
    ballotMessage(contest, { zone, polls, hasVoice: voice !== undefined }),
    parts,
  );
}

/** Opens the platform's polls, each with about as many entries. Without polls or the permission for them, people vote with buttons. */
async function openPolls(key: string, contest: Contest, parts: RunParts): Promise<void> {
  const { store, platform, log, now } = parts;
  const { id, address, ballot, votingEndsAt = 0 } = contest;
  const native = platform(address.platform)?.polls;
  const opened: ContestPoll[] = [];
  try {
    const count = native ? Math.ceil(ballot.length / native.mostAnswers) : 0;
    const size = Math.ceil(ballot.length / count);
    for (let first = 0; native && first < ballot.length; first += size) {
      const answers = ballot.slice(first, first + size).map((_, index) => `Entry ${first + index + 1}`);
      const hours = (votingEndsAt - now()) / HOUR + 1;
      const poll = { question: `${contest.theme}: which entry is the best?`, answers, hours };
      const posted = await native.open(address, poll, digestOf(`${id}:poll:${first}`));
      opened.push({ posted, answers: answers.length });
    }
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code === 'unavailable' || opened.length > 0) throw error;
    log.warn({ err: error, contest: id }, 'Could not open a poll, so people vote with buttons');
  }
  await store.setPolls(key, id, opened);
}

/** Counts the votes in polls. A poll that was deleted counts as no votes. */
async function closePolls(
  { address, votingEndsAt = 0 }: Contest,
  polls: readonly ContestPoll[],
  { platform, now }: RunParts,
): Promise<'counting' | { readonly counts: readonly number[]; readonly votesLost: boolean }> {
  const counts: number[] = [];
  let votesLost = false;
  for (const { posted, answers } of polls) {
    const count = await platform(address.platform)?.polls?.close(address, postedSchema.parse(posted));
    if (count?.isFinal === false && now() < votingEndsAt + LONGEST_COUNTING_MS) return 'counting';
    votesLost ||= count === undefined;
    counts.push(...(count?.votes ?? Array.from({ length: answers }, () => 0)));
  }
  return { counts, votesLost };
}

async function titleFor(
  { job: id, take }: Pick<ContestCandidate, 'job' | 'take'>,
  { storage }: ContestParts,
): Promise<string> {
  const job = await storage.jobs.read(id);
  return job ? (job.result?.songs[take]?.title ?? titleOf(job)) : 'A deleted song';
}

async function finish(key: string, contest: Contest, parts: RunParts): Promise<Next> {
  const { store, jobs } = parts;
  // Withdrawn entries stay hidden.
  for (const { job } of contest.entries) await jobs.unhide(job);
  await announce(key, contest, { unfinished: 0 }, parts);
  if (contest.posts.ballot) await postBallot(key, contest, parts);
  if (contest.result?.standings.length) {
    const message = await resultOf(key, contest, parts);
    const failure = await post(key, contest, 'result', message, parts);
    const chat = parts.platform(contest.address.platform);
    if (failure) await notifyStarter(contest.address, message, chat, parts.log);
  }
  await store.finish(key, contest.id);
  return 'now';
}

async function resultOf(key: string, contest: Contest, parts: ContestParts): Promise<Message> {
  const standings = contest.result?.standings ?? [];
  const pages = new Map<string, string>();
  for (const { job: id } of standings) {
    const job = await parts.storage.jobs.read(id);
    const url = job && !job.pageWithdrawn ? await parts.pageUrl(job) : undefined;
    if (url !== undefined) pages.set(id, url);
  }
  const songs: WinningSong[] = [];
  for (const standing of winnersOf(standings)) {
    const job = await parts.storage.jobs.read(standing.job);
    const file = job && (await winningFile(job, standing.take, parts));
    if (file) songs.push({ standing, file });
  }
  // Without any page, the album would be empty.
  const album =
    pages.size > 0
      ? parts.albumUrl(contest.address, contestAlbumId({ contest: contest.id, key }))
      : undefined;
  return contestResult(contest, { songs, pages, album });
}

/** With the song's tags, if they were written. */
async function winningFile(job: Job, take: number, parts: ContestParts): Promise<MediaFile | undefined> {
  const url = job.result?.songs[take]?.audioUrl ?? '';
  return job.tagged?.[url] ?? (await recordingOf(job, take, parts));
}

async function announce(
  key: string,
  contest: Contest,
  facts: Omit<AnnouncementFacts, 'zone'>,
  parts: RunParts,
): Promise<PlatformError | undefined> {
  const message = announcement(contest, { ...facts, zone: await zoneAt(contest.address, parts) });
  return post(key, contest, 'announcement', message, parts);
}

/**
 * Posts a message of a contest, or edits it, unless it is shown already. Resolves to the error of a channel that takes no messages, which
 * does not stop the contest. Throws PlatformError while the chat is down.
 */
async function post(
  key: string,
  { id, address, posts }: Contest,
  name: ContestPost,
  message: Message,
  { store, platform, mayHavePosted, log }: RunParts,
): Promise<PlatformError | undefined> {
  const shown = createHash('sha256').update(JSON.stringify(message)).digest('base64url');
  const { posted, shown: before } = posts[name] ?? {};
  const chat = platform(address.platform);
  if (before === shown || !chat) return undefined;
  try {
    const after = await chat.show(address, message, {
      key: digestOf(`${id}:${name}`),
      mayHavePosted,
      ...present({ posted }),
      remember: async (state) =>
        void (await store.remember(key, id, name, present({ posted: state, shown: before }))),
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

/** The channel was deleted, or the bot may no longer write there. */
async function notifyStarter(
  address: Address,
  message: Message,
  chat: Pick<Platform, 'sendPrivately'> | undefined,
  log: ContestParts['log'],
): Promise<void> {
  await chat?.sendPrivately(address, message).catch((error: unknown) => {
    log.warn({ err: error }, 'Could not reach the person who started a contest');
  });
}
