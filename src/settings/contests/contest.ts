/** The states of a contest and their transitions. Pure. Functions throw UserError for forbidden actions. */
import { createHash } from 'node:crypto';
import {
  type Contest,
  type ContestCandidate,
  type ContestEntry,
  type ContestStanding,
  MOST_ENTRIES,
  takesPart,
} from '../../core/contest.ts';
import { UserError } from '../../core/errors.ts';
import type { Actor } from '../../core/moderation.ts';
import { amount, counted } from '../../core/util/words.ts';

const CLOSED = 'Entries are closed here.';
const NOT_AN_ENTRY = 'This song is not an entry of a contest that is running.';
/** People who can vote with buttons. Keeps the record below a megabyte. */
export const MOST_VOTES = 5_000;
const NO_VOTE = 'This vote is over.';

export const acceptsEntries = ({ state, endsAt }: Contest, now: number): boolean =>
  state === 'entries' && now < endsAt;

/** Adds an entry, unless its request has one already. */
export function withEntry(contest: Contest, entry: ContestEntry, now: number): Contest {
  const { entries, entriesPerPerson } = contest;
  if (entries.some(({ invocation }) => invocation === entry.invocation)) return contest;
  if (!acceptsEntries(contest, now)) throw new UserError(CLOSED);
  if (entries.filter(({ person }) => person.id === entry.person.id).length >= entriesPerPerson)
    throw new UserError(alreadyEntered(entriesPerPerson));
  if (entries.length >= MOST_ENTRIES)
    throw new UserError(`The contest here is full: it has ${MOST_ENTRIES} entries.`);
  return { ...contest, entries: [...entries, entry] };
}

function alreadyEntered(times: number): string {
  const often = times === 1 ? '' : times === 2 ? ' twice' : ` ${counted(times, 'time')}`;
  return `You've already entered${often}. To enter another song, first press **Withdraw entry** under one of your songs in your direct messages. For a song outside the contest, use /song in another channel.`;
}

/** Removes these entries. */
export function withoutEntries(contest: Contest, jobs: ReadonlySet<string>): Contest {
  const entries = contest.entries.filter(({ job }) => !jobs.has(job));
  return entries.length === contest.entries.length ? contest : { ...contest, entries };
}

export function withChosenTake(contest: Contest, job: string, take: number, now: number): Contest {
  const entry = contest.entries.find((each) => each.job === job);
  if (!entry || contest.state === 'over') throw new UserError(NOT_AN_ENTRY);
  if (!acceptsEntries(contest, now))
    throw new UserError('Entries are closed, so you can no longer choose another take.');
  if (entry.take === take) return contest;
  return { ...contest, entries: contest.entries.map((each) => (each === entry ? { ...entry, take } : each)) };
}

/** Votes for a withdrawn entry are dropped, so these people can choose another one. */
export function withdrawn(contest: Contest, job: string): Contest {
  const after = withoutEntries(contest, new Set([job]));
  if (after === contest || contest.state === 'over') throw new UserError(NOT_AN_ENTRY);
  return {
    ...after,
    votes: Object.fromEntries(Object.entries(after.votes).filter(([, vote]) => vote !== job)),
  };
}

/** The order of the numbers: the same for each try, and unrelated to the order of entering. */
export function shuffled<Entry extends Pick<ContestEntry, 'job'>>(
  entries: readonly Entry[],
  { id }: Pick<Contest, 'id'>,
): Entry[] {
  const keyed = entries.map((entry) => ({
    entry,
    key: createHash('sha256').update(`${id}:${entry.job}`).digest('hex'),
  }));
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ entry }) => entry);
}

/** Begins the vote, or ends the contest if there is nothing to vote for. */
export function withBallot(contest: Contest, ballot: readonly ContestCandidate[], now: number): Contest {
  if (contest.state !== 'entries') return contest;
  // An entry was withdrawn meanwhile, so the numbers would have a gap.
  if (!ballot.every((candidate) => takesPart(contest, candidate))) return contest;
  if (ballot.length === 0) return { ...contest, state: 'over', result: { standings: [], endedAt: now } };
  return { ...contest, state: 'voting', ballot: [...ballot], votingEndsAt: now + contest.votingMs };
}

export function withVote(contest: Contest, person: string, number: number, now: number): Contest {
  const { state, votingEndsAt = 0, ballot, votes } = contest;
  if (state !== 'voting' || now >= votingEndsAt) throw new UserError(NO_VOTE);
  const candidate = ballot[number - 1];
  if (!candidate || !takesPart(contest, candidate))
    throw new UserError(`Entry ${number} was withdrawn. Vote for another one.`);
  if (!Object.hasOwn(votes, person) && Object.keys(votes).length >= MOST_VOTES)
    throw new UserError(`The vote is full: ${amount(MOST_VOTES)} people have already voted.`);
  return votes[person] === candidate.job
    ? contest
    : { ...contest, votes: { ...votes, [person]: candidate.job } };
}

/** The votes for each entry of the ballot, in its order. */
function countVotes({ ballot, votes }: Pick<Contest, 'ballot' | 'votes'>): number[] {
  const chosen = Object.values(votes);
  return ballot.map(({ job }) => chosen.filter((vote) => vote === job).length);
}

/** Ends the vote. Titles and counts are in the order of the ballot. `counts`: the votes of polls, instead of the stored ones. */
export function withResult(
  contest: Contest,
  {
    titles,
    counts = countVotes(contest),
    votesLost = false,
  }: {
    readonly titles: readonly string[];
    readonly counts?: readonly number[] | undefined;
    readonly votesLost?: boolean;
  },
  now: number,
): Contest {
  if (contest.state !== 'voting') return contest;
  const standings = contest.ballot.flatMap(({ job, take }, index): ContestStanding[] => {
    const person = contest.entries.find((entry) => entry.job === job)?.person;
    const title = titles[index] ?? '';
    return person ? [{ number: index + 1, job, take, person, title, votes: counts[index] ?? 0 }] : [];
  });
  const sorted = standings.toSorted((one, other) => other.votes - one.votes || one.number - other.number);
  return {
    ...contest,
    state: 'over',
    result: { standings: sorted, endedAt: now, ...(votesLost && { votesLost }) },
  };
}

/** Closes the entries or the vote at `now`. */
export function endedNow(contest: Contest, now: number): Contest {
  switch (contest.state) {
    case 'entries':
      return { ...contest, endsAt: Math.min(contest.endsAt, now) };
    case 'voting':
      return { ...contest, votingEndsAt: Math.min(contest.votingEndsAt ?? now, now) };
    case 'over':
      return contest;
    default:
      return contest.state satisfies never;
  }
}

export function cancelled(contest: Contest, by: Actor, now: number): Contest {
  if (contest.state === 'over') return contest;
  return { ...contest, state: 'over', result: { standings: [], endedAt: now, cancelledBy: by } };
}

const NOBODY = { id: '', displayName: 'someone' } as const satisfies Actor;

/** Removes a person's entries, vote and name. Returns the same object if the person is not in it. */
export function withoutPerson(contest: Contest, person: string): Contest {
  const { startedBy, address, votes, result } = contest;
  const own = new Set(contest.entries.flatMap((entry) => (entry.person.id === person ? [entry.job] : [])));
  const standings = result?.standings.filter((standing) => standing.person.id !== person);
  const isIn =
    own.size > 0 ||
    startedBy.id === person ||
    result?.cancelledBy?.id === person ||
    standings?.length !== result?.standings.length ||
    Object.hasOwn(votes, person);
  if (!isIn) return contest;
  const remaining = Object.entries(votes).filter(([voter, vote]) => voter !== person && !own.has(vote));
  // Platform data may identify the person, such as the token of their interaction.
  const { platformData: _, ...where } = address;
  return {
    ...withoutEntries(contest, own),
    votes: Object.fromEntries(remaining),
    ...(startedBy.id === person && { startedBy: NOBODY, address: { ...where, person: '' } }),
    ...(result && {
      result: {
        ...result,
        standings: standings ?? [],
        ...(result.cancelledBy?.id === person && { cancelledBy: NOBODY }),
      },
    }),
  };
}
