/** Song contests: a theme, entries, a vote without names, and a winner. */
import { z } from 'zod';
import type { Outcome } from './bot/outcome.ts';
import type { StartRequest } from './bot/start-request.ts';
import { addressSchema, jsonObject } from './invocation.ts';
import type { JobView } from './job.ts';
import { mediaFileSchema } from './message.ts';
import { actorSchema } from './moderation.ts';

/** The number of buttons that fit in one message, and of answers that fit in three polls. */
export const MOST_ENTRIES = 25;

const entrySchema = z.object({
  job: z.string(),
  /** Key of the request, so that a repeated event creates one entry. */
  invocation: z.string(),
  person: actorSchema,
  /** Index of the take that takes part. */
  take: z.number().int(),
  at: z.number(),
});
export type ContestEntry = z.infer<typeof entrySchema>;

const candidateSchema = z.object({
  job: z.string(),
  take: z.number().int(),
  /** A recording without the song's title and name. */
  file: mediaFileSchema,
  seconds: z.number().optional(),
});
export type ContestCandidate = z.infer<typeof candidateSchema>;

const standingSchema = z.object({
  /** As in “Entry 3”. */
  number: z.number().int(),
  job: z.string(),
  take: z.number().int(),
  person: actorSchema,
  title: z.string(),
  votes: z.number().int(),
});
export type ContestStanding = z.infer<typeof standingSchema>;

const postSchema = z.object({
  /** The platform's data to find the message again. */
  posted: jsonObject.optional(),
  /** Digest of the message shown. */
  shown: z.string().optional(),
});

const pollSchema = z.object({
  posted: jsonObject,
  /** Number of its answers, which are consecutive entries of the ballot. */
  answers: z.number().int(),
});
export type ContestPoll = z.infer<typeof pollSchema>;

/** The messages of a contest. */
export type ContestPost = 'announcement' | 'ballot' | 'result';

const resultSchema = z.object({
  /** Most votes first; empty without entries. */
  standings: z.array(standingSchema),
  endedAt: z.number(),
  cancelledBy: actorSchema.optional(),
  /** A poll was deleted before its votes were counted. */
  votesLost: z.boolean().optional(),
});

export const contestSchema = z.object({
  id: z.string(),
  /** Plain text. */
  theme: z.string(),
  /** The channel of its messages. */
  address: addressSchema,
  startedBy: actorSchema,
  /** Times are in milliseconds since the epoch. */
  startedAt: z.number(),
  endsAt: z.number(),
  /** The duration of the vote in milliseconds. */
  votingMs: z.number(),
  entriesPerPerson: z.number().int(),
  state: z.enum(['entries', 'voting', 'over']),
  entries: z.array(entrySchema),
  /** In the order of their numbers. A withdrawn entry keeps its number. */
  ballot: z.array(candidateSchema),
  votingEndsAt: z.number().optional(),
  /** The platform's polls, in the order of the ballot; empty if people vote with buttons, absent until one is decided. */
  polls: z.array(pollSchema).optional(),
  /** The job of the chosen entry, by person. */
  votes: z.record(z.string(), z.string()),
  result: resultSchema.optional(),
  posts: z.object({
    announcement: postSchema.optional(),
    ballot: postSchema.optional(),
    result: postSchema.optional(),
  }),
});
export type Contest = z.infer<typeof contestSchema>;

/** A contest that is over. */
export const pastContestSchema = contestSchema
  .pick({ id: true, theme: true, startedAt: true })
  .extend({ standings: z.array(standingSchema), endedAt: z.number() });
export type PastContest = z.infer<typeof pastContestSchema>;

export interface NewContest extends Pick<Contest, 'theme' | 'votingMs' | 'entriesPerPerson'> {
  /** When entries close, as the person typed it. */
  readonly ends: string;
}

/** The contests of a channel, for one person. Methods throw UserError. */
export interface Contests {
  /** Undefined without a contest. */
  current(): Promise<Contest | undefined>;
  /** The zone of times in texts, as an IANA name. */
  timeZone(): Promise<string>;
  start(contest: NewContest): Promise<Contest>;
  /** Closes the entries or the vote now. */
  end(): Promise<Contest>;
  cancel(): Promise<Contest>;
  /** Starts a song as an entry; undefined if the channel has no contest that takes entries from the person. */
  enter(request: StartRequest): Promise<Outcome | undefined>;
  /** Starts an entry's work again as an entry; undefined if the entries of its contest are closed. */
  enterAgain(entry: JobView, request: StartRequest): Promise<Outcome | undefined>;
  chooseTake(entry: JobView, take: number): Promise<void>;
  withdraw(entry: JobView): Promise<void>;
  /** Votes for the entry of this number in the contest, instead of an earlier choice. */
  vote(contest: string, number: number): Promise<void>;
}

/** True if an entry still takes part. */
export const takesPart = ({ entries }: Pick<Contest, 'entries'>, { job }: Pick<ContestCandidate, 'job'>) =>
  entries.some((entry) => entry.job === job);

/** The entries with the most votes; empty if nobody voted. */
export function winnersOf(standings: readonly ContestStanding[]): readonly ContestStanding[] {
  const most = Math.max(0, ...standings.map(({ votes }) => votes));
  return most === 0 ? [] : standings.filter(({ votes }) => votes === most);
}
