/**
 * The port for usage: `accept` of the storage reserves it, a result settles it, a failure refunds it. A reservation lasts as
 * long as its job is open, without a timeout. Windows slide, and every operation is atomic across replicas.
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

/** Retention of reservation ids in milliseconds, so that settling twice counts once. */
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
  /** Cost in the operator's units; 0 if unknown. */
  readonly units: number;
  /** Names of the counters that it adds to. */
  readonly counters: readonly string[];
  readonly facts: UsageFacts;
}

/** At most `most` within any `windowMs` (up to {@link LONGEST_WINDOW}). */
export interface Ceiling {
  readonly counter: string;
  readonly windowMs: number;
  readonly of: 'requests' | 'units';
  readonly most: number;
}

export interface LimitRefusal {
  readonly type: 'refused';
  /** Index of the exceeded ceiling; of several, the one with the longest wait. */
  readonly ceiling: number;
  /** Milliseconds since the epoch; undefined if waiting does not help. */
  readonly freesAt?: number;
}

/** One person's usage of one family on one day. */
export interface UsageRecord extends UsageFacts, DayUsage {}

/** The same within a guild. */
export type DayRecord = Omit<UsageRecord, keyof UsageGuild>;

export interface UsageStore {
  /**
   * Counts usage without a job if no ceiling is exceeded, until it is settled or refunded. Otherwise resolves to the refusal.
   * A reservation id counts once.
   */
  reserve(
    reservation: Reservation,
    ceilings: readonly Ceiling[],
    now: number,
  ): Promise<LimitRefusal | undefined>;
  /**
   * Counts usage permanently and for its day, even if the reservation was refunded. Uncertain usage may become certain, but not
   * the reverse. Resolves to false if it was counted before.
   */
  settle(reservation: Reservation, charged: 'yes' | 'uncertain'): Promise<boolean>;
  /** Removes a reservation. Settled usage stays. */
  refund(id: string): Promise<void>;
  /** Returns the usage of a counter since `since`. */
  used(counter: string, since: number): Promise<Used>;
  /** Returns the settled usage of a guild since `firstDay`, with the people who used most. */
  summary(where: UsageGuild, firstDay: string, mostPeople: number): Promise<UsageSummary>;
  /** Returns a person's settled usage in a guild since `firstDay`. */
  byFamily(where: UsageGuild, person: string, firstDay: string): Promise<FamilyUsage[]>;
  /** Yields all settled usage, unordered. */
  history(): AsyncIterable<UsageRecord>;
  /** Imports a record. Resolves to false, without writing, if there is one of the same day, person and family. */
  restore(record: UsageRecord): Promise<boolean>;
  /** Erases a person's usage. Counters continue to count, without a name, until their window ends. */
  forget(platform: string, person: string): Promise<void>;
  /** Erases days before `firstDay`, and ids older than {@link USAGE_KNOWN}. */
  prune(firstDay: string, now: number): Promise<void>;
}

/** Sums records, given in the order of days. People get their latest name. */
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
