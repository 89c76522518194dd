/** What people do in a contest: start or end it, enter songs and vote. */
import type { Contest, ContestEntry, Contests } from '../../core/contest.ts';
import { UserError } from '../../core/errors.ts';
import type { Address, Invocation, Person } from '../../core/invocation.ts';
import { invocationKey, type Job } from '../../core/job.ts';
import type { Message } from '../../core/message.ts';
import type { EntryRequest } from '../../jobs/jobs.ts';
import { acceptsEntries } from '../../settings/contests/contest.ts';
import type { Decisions } from '../../settings/decisions.ts';
import { readSingleTime } from '../../settings/schedules/when.ts';
import { wakeRecord } from '../timers.ts';
import { dropEnded } from './entries.ts';
import { type ContestParts, zoneAt } from './parts.ts';

const LONGEST_MS = 30 * 24 * 3_600_000;
const ENTERED = {
  text: "Your entry is being made. I'll send it to you in a direct message.",
} as const satisfies Message;

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

/** The contests of the channel of a request. */
export function contestsAt(
  { address, person, settings, invocation, mayEnter }: ContestRequest,
  parts: ContestParts,
): Contests {
  const { store, storage, jobs, platform, newId, now } = parts;
  const here = store.keyOf(address);
  const actor = { id: person.id, displayName: person.displayName };

  /** Changes a contest, then updates its messages. */
  async function change<Value>(key: string, run: () => Promise<Value>): Promise<Value> {
    const value = await run();
    await wakeRecord(key, storage);
    return value;
  }

  /** Claims an entry before its job is stored, so that two simultaneous requests never become two entries. */
  async function start(
    contest: Contest,
    where: { readonly key: string; readonly address: Address },
    work: Omit<EntryRequest, 'id' | 'contest' | 'hidden'>,
  ) {
    if (!invocation) throw new TypeError('Completions cannot enter a contest');
    const { key } = where;
    await dropEnded(key, contest, parts);
    const claim: ContestEntry = {
      job: newId(),
      invocation: invocationKey(address.platform, invocation.id),
      person: actor,
      take: 0,
      at: now(),
    };
    const { entries } = await store.enter(key, contest.id, claim, now());
    const id = entries.find((entry) => entry.invocation === claim.invocation)?.job ?? claim.job;
    const entry: EntryRequest = { ...work, id, contest: { id: contest.id, key }, hidden: true };
    const to = { ...where.address, toPerson: true };
    try {
      const outcome = await change(key, () =>
        jobs.start(entry, { ...invocation, command: 'song', person, address: to }, settings),
      );
      return outcome.type === 'accepted' ? { ...outcome, reply: ENTERED } : outcome;
    } catch (error) {
      if (id === claim.job) await store.drop(key, contest.id, new Set([id]));
      throw error;
    }
  }

  const contestOf = ({ contest }: Pick<Job, 'contest'>) => {
    if (contest) return contest;
    throw new UserError('This song is not an entry of a contest.');
  };

  return {
    current: async () => (await store.read(here)).current,
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
      await change(here, () => store.start(here, contest));
      return contest;
    },

    end: () => change(here, () => store.end(here, now())),
    cancel: () => change(here, () => store.cancel(here, actor, now())),

    async enter(work) {
      const { current } = await store.read(here);
      if (!current || !acceptsEntries(current, now()) || invocation?.isAutomatic) return undefined;
      if (!(await mayEnter())) return undefined;
      return start(current, { key: here, address }, work);
    },

    async enterAgain(entry, work) {
      if (!entry.contest || entry.person.id !== person.id) return undefined;
      const { id, key } = entry.contest;
      const { current } = await store.read(key);
      if (current?.id !== id || !acceptsEntries(current, now())) return undefined;
      return start(current, { key, address: { ...current.address, person: person.id } }, work);
    },

    async chooseTake(entry, take) {
      const { key, id } = contestOf(entry);
      if (!entry.result?.songs[take]?.audioUrl) throw new UserError('This take has no recording.');
      await store.chooseTake(key, id, { job: entry.id, take }, now());
    },

    async withdraw(entry) {
      const { key, id } = contestOf(entry);
      await change(key, () => store.withdraw(key, id, entry.id));
    },

    async vote(id, number) {
      await store.vote(here, id, { person: person.id, number }, now());
    },
  };
}
