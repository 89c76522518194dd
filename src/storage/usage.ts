/**
 * The port for what people used: reserved when work is accepted, settled when its result is there, given back when it
 * fails. Windows slide, and everything here is atomic across replicas.
 */

/** No ceiling looks further back, in milliseconds. */
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

export interface Reservation {
  /** Reserving or settling the same id twice counts once. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Until when it counts if nobody settles it. */
  readonly expiresAt: number;
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

export type Reserved =
  /** `known`: this id was reserved or settled before, and nothing was added. */
  | { readonly type: 'reserved'; readonly known: boolean }
  /** `ceiling`: its place in the list; the one that frees last. `freesAt` is absent where waiting does not help. */
  | { readonly type: 'refused'; readonly ceiling: number; readonly freesAt?: number };

export interface Used {
  readonly requests: number;
  readonly units: number;
}

/** What one person used of one family on one day (UTC, as `2026-01-31`). */
export interface UsageDay extends Used {
  readonly day: string;
  readonly person: string;
  readonly displayName: string;
  readonly family: string;
}

export interface UsageStore {
  /** Counts all of it when every ceiling has room, else nothing. Reservations whose time is over are given back first. */
  reserve(reservation: Reservation, ceilings: readonly Ceiling[], now: number): Promise<Reserved>;
  /**
   * Counts it for good, and for its day, also when its reservation was given back meanwhile. False when it was settled
   * before.
   */
  settle(reservation: Reservation): Promise<boolean>;
  /** Forgets a reservation; what was settled stays. */
  giveBack(id: string): Promise<void>;
  /** What counts for each of the counters since then. */
  used(counters: readonly string[], since: number): Promise<Used[]>;
  /** Settled usage of a guild from that day on, by day and then as it likes. */
  days(where: Pick<UsageFacts, 'platform' | 'guild'>, firstDay: string): Promise<UsageDay[]>;
  /** Erases what a person used; counters keep counting until their window is over, under no name. */
  forget(platform: string, person: string): Promise<void>;
  /** Erases days before this one, and ids that need not be known any more. */
  prune(firstDay: string, now: number): Promise<void>;
}

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** When enough of `entries` (oldest first) has left the window for `wanted` more; undefined when that cannot be. */
export function freesAt(
  entries: readonly { readonly at: number; readonly amount: number }[],
  wanted: number,
  { most, windowMs }: Pick<Ceiling, 'most' | 'windowMs'>,
): number | undefined {
  if (wanted > most) return undefined;
  let left = entries.reduce((sum, { amount }) => sum + amount, 0);
  for (const { at, amount } of entries) {
    left -= amount;
    if (left + wanted <= most) return at + windowMs;
  }
  return undefined;
}
