/**
 * The port for what people used: reserved by `accept` of the storage, settled when the result is there, given back when
 * the work fails. It lives as long as its job is open: no clock ends it. Windows slide, and everything here is atomic across
 * replicas.
 */
import type {
  DayUsage,
  FamilyUsage,
  PersonUsage,
  SettledUsage,
  UsageSummary,
  Used,
} from '../core/moderation.ts';

/** The longest window of a ceiling, in milliseconds. */
export const LONGEST_WINDOW = 24 * 3_600_000;

/** An id that was settled or given back is known for this long, so that settling twice counts once. */
export const USAGE_KNOWN = 30 * 24 * 3_600_000;

export interface UsageFacts {
  readonly platform: string;
  /** Guild or workspace; empty in direct messages. */
  readonly guild: string;
  readonly person: string;
  readonly displayName: string;
  readonly family: string;
}

export type UsageGuild = Pick<UsageFacts, 'platform' | 'guild'>;

export interface Reservation {
  /** Reserving or settling the same id twice counts once. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What it costs, in the operator's own units; 0 where that is not known. */
  readonly units: number;
  /** Names of everything that it counts for. */
  readonly counters: readonly string[];
  readonly facts: UsageFacts;
}

/** At most so much in any stretch of `windowMs` (up to {@link LONGEST_WINDOW}). */
export interface Ceiling {
  readonly counter: string;
  readonly windowMs: number;
  readonly of: 'requests' | 'units';
  readonly most: number;
}

export interface LimitRefusal {
  readonly type: 'refused';
  /** Index of the ceiling that would be passed; of several, the one that frees last. */
  readonly ceiling: number;
  /** Milliseconds since the epoch; absent where waiting does not help. */
  readonly freesAt?: number;
}

/** What one person used of one family on one day. */
export interface UsageRecord extends UsageFacts, DayUsage {}

/** The same within a guild. */
export type DayRecord = Omit<UsageRecord, keyof UsageGuild>;

export interface UsageStore {
  /**
   * Counts what is no job when no ceiling is passed, until it is settled or given back. Resolves to the refusal otherwise. A
   * reservation whose id was counted before counts once.
   */
  reserve(
    reservation: Reservation,
    ceilings: readonly Ceiling[],
    now: number,
  ): Promise<LimitRefusal | undefined>;
  /**
   * Counts it for good, and for its day, also when its reservation was given back meanwhile. What was uncertain may become
   * certain, and never the reverse. False when it was counted before.
   */
  settle(reservation: Reservation, charged: 'yes' | 'uncertain'): Promise<boolean>;
  /** Forgets a reservation; what was settled stays. */
  giveBack(id: string): Promise<void>;
  /** What counts for a counter since then. */
  used(counter: string, since: number): Promise<Used>;
  /** Settled usage of a guild from that day on, with the people who used most. */
  summary(where: UsageGuild, firstDay: string, mostPeople: number): Promise<UsageSummary>;
  /** A person's settled usage in a guild from that day on. */
  byFamily(where: UsageGuild, person: string, firstDay: string): Promise<FamilyUsage[]>;
  /** All settled usage, in no order. */
  history(): AsyncIterable<UsageRecord>;
  /** Imports a record. One of the same day, person and family is kept as it is; then it resolves to false. */
  restore(record: UsageRecord): Promise<boolean>;
  /** Erases what a person used; counters keep counting until their window is over, under no name. */
  forget(platform: string, person: string): Promise<void>;
  /** Erases days before this one, and ids older than {@link USAGE_KNOWN}. */
  prune(firstDay: string, now: number): Promise<void>;
}

/** Adds up records, the latest day last. People have the names of their latest day. */
export async function usageSummary(
  records: AsyncIterable<DayRecord>,
  mostPeople: number,
): Promise<UsageSummary> {
  const days = new Map<string, DayUsage>();
  const people = new Map<string, PersonUsage>();
  for await (const { day, family, person, displayName, ...sums } of records) {
    const key = `${day} ${family}`;
    days.set(key, { day, family, ...added(days.get(key), sums) });
    people.set(person, { person, displayName, ...added(people.get(person), sums) });
  }
  const most = [...people.values()].sort((left, right) => right.requests - left.requests);
  return { days: [...days.values()], people: most.slice(0, mostPeople), peopleInAll: people.size };
}

function added(
  before: SettledUsage = { requests: 0, units: 0, uncertain: 0 },
  { requests, units, uncertain }: SettledUsage,
): SettledUsage {
  return {
    requests: before.requests + requests,
    units: before.units + units,
    uncertain: before.uncertain + uncertain,
  };
}

export function sumsByFamily(records: readonly FamilyUsage[]): FamilyUsage[] {
  const families = new Map<string, FamilyUsage>();
  for (const { family, ...sums } of records)
    families.set(family, { family, ...added(families.get(family), sums) });
  return [...families.values()];
}
