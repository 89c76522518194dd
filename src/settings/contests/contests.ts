/** The contests of a channel: the current one, and the results of earlier ones. */
import { z } from 'zod';
import {
  type Contest,
  type ContestCandidate,
  type ContestEntry,
  type ContestPoll,
  type ContestPost,
  contestSchema,
  type PastContest,
  pastContestSchema,
} from '../../core/contest.ts';
import { UserError } from '../../core/errors.ts';
import { type Address, channelOf } from '../../core/invocation.ts';
import type { Actor } from '../../core/moderation.ts';
import type { SettingsStore } from '../../storage/storage.ts';
import { createRecords, keyOfParts, keyOfScope, recordParser } from '../records.ts';
import {
  cancelled,
  endedNow,
  withBallot,
  withChosenTake,
  withdrawn,
  withEntry,
  withoutEntries,
  withoutPerson,
  withResult,
  withVote,
} from './contest.ts';

const schema = z.object({
  version: z.literal(1),
  current: contestSchema.optional(),
  /** Newest first. */
  past: z.array(pastContestSchema),
});
export type ChannelContests = z.infer<typeof schema>;

const KIND = 'contests';
const parse = recordParser<ChannelContests>(schema, { version: 1, past: [] });

/** Results to keep for each channel. */
const MOST_PAST = 10;
const NONE = 'There is no contest in this channel.';

export type ContestStore = ReturnType<typeof createContestStore>;

/** Every method throws StorageError, or SettingsError for records of a newer version. Changes by people throw UserError. */
export function createContestStore({ settings }: { readonly settings: SettingsStore }) {
  const records = createRecords<ChannelContests>(settings, parse);

  /** Changes the contest that a person asked about. Resolves to it as stored. Throws UserError if it is over. */
  async function change(
    key: string,
    id: string | undefined,
    edit: (contest: Contest) => Contest,
  ): Promise<Contest> {
    let changed: Contest | undefined;
    await records.change(key, (stored) => {
      const { current } = stored;
      if (!current || (id !== undefined && current.id !== id)) throw new UserError(NONE);
      changed = edit(current);
      return changed === current ? stored : { ...stored, current: changed };
    });
    if (!changed) throw new TypeError('A change of settings was not called');
    return changed;
  }

  /** Records what a run did. Does nothing if another run has finished the contest. */
  const record = (key: string, id: string, edit: (contest: Contest) => Contest): Promise<void> =>
    records.change(key, (stored) => {
      const { current } = stored;
      const after = current?.id === id ? edit(current) : current;
      return after === current ? stored : { ...stored, ...(after && { current: after }) };
    });

  return {
    /** The key of the record for an address. Threads belong to their channel. */
    keyOf: (where: Address): string => keyOfScope(KIND, where, channelOf(where)),

    read: records.read,

    async start(key: string, contest: Contest): Promise<void> {
      await records.change(key, (stored) => {
        if (stored.current)
          throw new UserError(
            'There is already a contest in this channel. To see it, use /contest show. To end it, use /contest end or /contest cancel.',
          );
        return { ...stored, current: contest };
      });
    },

    enter: (key: string, id: string, entry: ContestEntry, now: number) =>
      change(key, id, (contest) => withEntry(contest, entry, now)),
    drop: (key: string, id: string, jobs: ReadonlySet<string>) =>
      record(key, id, (contest) => withoutEntries(contest, jobs)),
    chooseTake: (key: string, id: string, choice: { job: string; take: number }, now: number) =>
      change(key, id, (contest) => withChosenTake(contest, choice.job, choice.take, now)),
    withdraw: (key: string, id: string, job: string) => change(key, id, (contest) => withdrawn(contest, job)),
    vote: (key: string, id: string, vote: { person: string; number: number }, now: number) =>
      change(key, id, (contest) => withVote(contest, vote.person, vote.number, now)),
    openVote: (key: string, id: string, ballot: readonly ContestCandidate[], now: number) =>
      record(key, id, (contest) => withBallot(contest, ballot, now)),
    closeVote: (key: string, id: string, votes: Parameters<typeof withResult>[1], now: number) =>
      record(key, id, (contest) => withResult(contest, votes, now)),
    end: (key: string, now: number) => change(key, undefined, (contest) => endedNow(contest, now)),
    cancel: (key: string, by: Actor, now: number) =>
      change(key, undefined, (contest) => cancelled(contest, by, now)),
    remember: (key: string, id: string, name: ContestPost, post: Contest['posts'][ContestPost]) =>
      record(key, id, (contest) => ({ ...contest, posts: { ...contest.posts, [name]: post } })),
    setPolls: (key: string, id: string, polls: readonly ContestPoll[]) =>
      record(key, id, (contest) => ({ ...contest, polls: [...polls] })),

    /** Removes a contest as if it had never been started. */
    discard: (key: string, id: string): Promise<void> =>
      records.change(key, (stored) => {
        const { current, ...rest } = stored;
        return current?.id === id ? rest : stored;
      }),

    /** Moves a contest that is over to the results. */
    async finish(key: string, id: string): Promise<void> {
      await records.change(key, (stored) => {
        const { current, ...rest } = stored;
        if (current?.id !== id || !current.result) return stored;
        const { theme, startedAt, result } = current;
        const { standings, endedAt } = result;
        const past = [{ id, theme, startedAt, standings, endedAt }, ...stored.past];
        return { ...rest, past: standings.length > 0 ? past.slice(0, MOST_PAST) : stored.past };
      });
    },

    /** Removes a person from the contests of a platform. */
    forget: (platform: string, person: string): Promise<void> =>
      records.changeAll(`${keyOfParts(KIND, platform)}:`, (stored) => {
        const { current } = stored;
        const without = current && withoutPerson(current, person);
        const past = stored.past.map((contest) => withoutStandings(contest, person));
        if (without === current && past.every((contest, index) => contest === stored.past[index]))
          return stored;
        return { ...stored, ...(without && { current: without }), past };
      }),

    /** Removes results from before `at`, in milliseconds since the epoch. */
    prune: (at: number): Promise<void> =>
      records.changeAll(`${KIND}:`, (stored) => {
        const past = stored.past.filter(({ endedAt }) => endedAt >= at);
        return past.length === stored.past.length ? stored : { ...stored, past };
      }),
  };
}

function withoutStandings(contest: PastContest, person: string): PastContest {
  const standings = contest.standings.filter((standing) => standing.person.id !== person);
  return standings.length === contest.standings.length ? contest : { ...contest, standings };
}
