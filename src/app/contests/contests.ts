/** Runs song contests: entries, then the vote, then the result. */
import type { Contests } from '../../core/contest.ts';
import { plain } from '../../core/message.ts';
import type { PlatformError } from '../../platforms/platform.ts';
import type { RunRecord } from '../timers.ts';
import { createBallot, dropEnded, titleFor } from './entries.ts';
import type { ContestParts, ContestRun } from './parts.ts';
import { closePolls, openPolls } from './polls.ts';
import { notifyStarter, postAnnouncement, postBallot, postResult } from './posts.ts';
import { type ContestRequest, contestsAt } from './requests.ts';

/** The interval between checks of unfinished songs. */
const LOOK_MS = 30_000;
/** The vote waits this long for songs that were entered in time. */
const GRACE_MS = 20 * 60_000;
/** The interval between checks of a poll whose votes the platform is still counting. */
const COUNTING_MS = 1_000;

const NOT_STARTED = "I can't post in that channel, so the contest did not start.";

export interface ContestRunner {
  at(request: ContestRequest): Contests;
  /** Closes entries and votes that are due, and updates the messages. */
  readonly run: RunRecord;
}

export function createContests(parts: ContestParts): ContestRunner {
  return {
    at: (request) => contestsAt(request, parts),

    async run(key, { interrupted }) {
      for (;;) {
        const { current: contest } = await parts.store.read(key);
        if (!contest) return undefined;
        const next = await advance({ ...parts, key, contest, mayHavePosted: interrupted });
        if (next !== 'now') return next;
      }
    },
  };
}

/** When to look at the contest next. */
type Next = 'now' | number;

async function advance(run: ContestRun): Promise<Next> {
  const { state } = run.contest;
  switch (state) {
    case 'entries':
      return takeEntries(run);
    case 'voting':
      return takeVotes(run);
    case 'over':
      return finish(run);
    default:
      return state satisfies never;
  }
}

async function takeEntries(run: ContestRun): Promise<Next> {
  const { key, store, now } = run;
  const unfinished = await dropEnded(key, run.contest, run);
  const { current: contest } = await store.read(key);
  if (contest?.id !== run.contest.id || contest.state !== 'entries') return 'now';
  const current = { ...run, contest };
  const { endsAt, entries, posts } = contest;
  const isClosed = now() >= endsAt;
  const waits = isClosed && unfinished > 0 && now() < endsAt + GRACE_MS;
  if (!isClosed || waits) {
    const failure = await postAnnouncement(current, isClosed ? unfinished : 0);
    const isUnseen = posts.announcement?.posted === undefined && entries.length === 0;
    if (failure && isUnseen) return giveUp(current, failure);
  }
  if (!isClosed) return unfinished > 0 ? Math.min(endsAt, now() + LOOK_MS) : endsAt;
  if (waits) return now() + LOOK_MS;
  await store.openVote(key, contest.id, await createBallot(contest, run), now());
  return 'now';
}

/** Nobody can take part in a contest that was never announced. */
async function giveUp(run: ContestRun, { advice }: PlatformError): Promise<'now'> {
  await run.store.discard(run.key, run.contest.id);
  await notifyStarter(
    { text: [NOT_STARTED, ...(advice === undefined ? [] : [plain(advice)])].join(' ') },
    run,
  );
  return 'now';
}

async function takeVotes(run: ContestRun): Promise<Next> {
  const { key, contest, store, now } = run;
  const { id, ballot, polls, votingEndsAt = 0 } = contest;
  await postAnnouncement(run);
  await postBallot(run);
  if (polls === undefined) {
    await openPolls(run);
    return 'now';
  }
  if (now() < votingEndsAt) return votingEndsAt;
  const counted = polls.length > 0 ? await closePolls(polls, run) : {};
  if (counted === 'counting') return now() + COUNTING_MS;
  const titles = await Promise.all(ballot.map((candidate) => titleFor(candidate, run)));
  await store.closeVote(key, id, { titles, ...counted }, now());
  return 'now';
}

async function finish(run: ContestRun): Promise<Next> {
  const { key, contest, store, jobs } = run;
  const { id, entries, posts, result } = contest;
  // Withdrawn entries stay hidden.
  for (const { job } of entries) await jobs.unhide(job);
  await postAnnouncement(run);
  if (posts.ballot) await postBallot(run);
  if (result?.standings.length) await postResult(run);
  await store.finish(key, id);
  return 'now';
}
