/** The failures of a run, decided by its seed. Only the timing depends on the machine. */
import { createRandom, type Random } from '../../src/emulator/random.ts';

export type StoreKind = 'sqlite' | 'redis';

export interface ChaosOptions {
  /** Acknowledged requests after which the run ends. */
  readonly jobs: number;
  /** The number of kills. */
  readonly kills: number;
  /** The number of suspensions, and their minimum and maximum in milliseconds. */
  readonly freezes: number;
  readonly freezeMs: readonly [least: number, most: number];
  /** Milliseconds by which clocks of replicas are fast or slow. */
  readonly skewMs: number;
  /** The fraction of calls to the gateway and the chats that fail, from 0 to 1. */
  readonly failing: number;
  readonly store: StoreKind;
  /** Processes that share the storage; one with SQLite. */
  readonly replicas: number;
  readonly seed: string;
  /** Milliseconds between requests. */
  readonly pauseMs: number;
  /** Milliseconds without a change after which a run counts as finished. */
  readonly restMs: number;
}

export const COMMANDS = ['song', 'custom song', 'lyrics', 'image', 'video', 'ask'] as const;
export interface PlannedAsk {
  readonly what: (typeof COMMANDS)[number];
  readonly on: 'discord' | 'slack';
  /** Index of the guild or channel. */
  readonly channel: number;
  /** Whether the person presses Cancel when it is shown. */
  readonly cancels: boolean;
}

/** A failure after a number of acknowledged requests. */
export type PlannedEvent = { readonly afterAccepted: number } & (
  | { readonly type: 'kill'; readonly replica: number; readonly delayMs: number }
  | { readonly type: 'freeze'; readonly replica: number; readonly forMs: number }
  | { readonly type: 'redis'; readonly how: 'killed' | 'frozen'; readonly awayMs: number }
  | {
      readonly type: 'discord';
      readonly trouble: 'limit' | 'fail' | 'answer lost' | 'drop';
      readonly times: number;
    }
  | {
      readonly type: 'slack';
      readonly trouble: 'limit' | 'fail' | 'answer lost' | 'dropped' | 'drop';
      readonly times: number;
    }
  | { readonly type: 'duplicates'; readonly times: number }
);

/** Returns the nth request. The number is unlimited, because some requests reach a process that is being killed. */
export function planAsk(seed: string, index: number): PlannedAsk {
  const random = createRandom(`${seed} ask ${index}`);
  const what = weighted<PlannedAsk['what']>(random, [
    ['song', 5],
    ['custom song', 2],
    ['lyrics', 5],
    ['image', 4],
    ['video', 1],
    ['ask', 4],
  ]);
  return {
    what,
    on: random.chance(0.5) ? 'discord' : 'slack',
    channel: random.integer(3),
    cancels: random.chance(0.06),
  };
}

/** Clock errors of the replicas in turn; of a single process, of each start, as if its clock was set in between. */
export function planSkew({ replicas, skewMs }: ChaosOptions, replica: number, start: number): number {
  const turn = replicas === 1 ? start : replica;
  return skewMs * ([-1, 0, 1][turn % 3] ?? 0);
}

export function planEvents(options: ChaosOptions): PlannedEvent[] {
  const { jobs, kills, freezes, freezeMs, store, replicas, seed } = options;
  const random = createRandom(`${seed} events`);
  const when = () => random.integer(jobs);
  const some = (count: number, make: () => PlannedEvent): PlannedEvent[] =>
    Array.from({ length: count }, make);
  const outages = store === 'redis' ? Math.ceil(kills / 6) : 0;
  return [
    ...some(kills, () => ({
      type: 'kill',
      afterAccepted: when(),
      replica: random.integer(replicas),
      delayMs: random.integer(1_000),
    })),
    ...Array.from(
      { length: freezes },
      (_, index): PlannedEvent => ({
        type: 'freeze',
        afterAccepted: when(),
        replica: index % replicas,
        forMs: random.between(...freezeMs),
      }),
    ),
    ...some(outages, () => ({
      type: 'redis',
      afterAccepted: when(),
      how: random.chance(0.7) ? 'killed' : 'frozen',
      awayMs: random.between(300, random.chance(0.2) ? 20_000 : 4_000),
    })),
    ...some(Math.ceil(jobs / 12), () => ({
      type: 'discord',
      afterAccepted: when(),
      trouble: random.pick(['limit', 'fail', 'answer lost', 'fail', 'answer lost', 'drop'] as const),
      times: 1 + random.integer(4),
    })),
    ...some(Math.ceil(jobs / 12), () => ({
      type: 'slack',
      afterAccepted: when(),
      trouble: random.pick(['limit', 'fail', 'answer lost', 'dropped', 'answer lost', 'drop'] as const),
      times: 1 + random.integer(3),
    })),
    ...some(Math.ceil(jobs / 25), () => ({ type: 'duplicates', afterAccepted: when(), times: 20 })),
  ].toSorted((a, b) => a.afterAccepted - b.afterAccepted) as PlannedEvent[];
}

/** The fault of one request to the gateway. */
export type GatewayFault =
  /** Answered by the proxy without the gateway. */
  | { readonly type: 'status'; readonly status: number; readonly retryAfter?: number }
  | { readonly type: 'reset' }
  /** The gateway accepts it, but its answer is lost. */
  | { readonly type: 'lost'; readonly how: 'reset' | 'status' }
  | { readonly type: 'slow'; readonly milliseconds: number }
  /** The gateway's callbacks misbehave, in the syntax of the emulator's faults. */
  | { readonly type: 'callback'; readonly fault: string };

/** The fraction of answered requests with slow answers or misbehaving callbacks. */
const STRANGE = 0.3;

/** Returns the fault of the nth gateway request of one kind for a request. */
export function planGatewayFault(
  { seed, failing }: Pick<ChaosOptions, 'seed' | 'failing'>,
  what: string,
  attempt: number,
): GatewayFault | undefined {
  const random = createRandom(`${seed} gateway ${what} ${attempt}`);
  if (random.chance(failing)) {
    return weighted<GatewayFault>(random, [
      [{ type: 'status', status: random.pick([500, 502, 503]) }, 3],
      [{ type: 'status', status: 429, retryAfter: 1 }, 2],
      [{ type: 'reset' }, 3],
      [{ type: 'lost', how: 'reset' }, 2],
      [{ type: 'lost', how: 'status' }, 2],
    ]);
  }
  if (!random.chance(STRANGE)) return undefined;
  return weighted<GatewayFault>(random, [
    [{ type: 'slow', milliseconds: random.integer(1_500) }, 3],
    [{ type: 'callback', fault: 'callback=duplicate' }, 5],
    [{ type: 'callback', fault: 'callback=early' }, 4],
    [{ type: 'callback', fault: 'callback=staged' }, 2],
    [{ type: 'callback', fault: 'callback=out-of-order' }, 2],
    [{ type: 'callback', fault: 'callback=late:2' }, 2],
    [{ type: 'callback', fault: 'callback=fail' }, 1],
    [{ type: 'callback', fault: 'callback=none' }, 1],
    [{ type: 'callback', fault: 'callback=nonsense' }, 1],
  ]);
}

export type ChatFault = 'limit' | 'fail' | 'dropped' | 'answer lost';

/** Returns the fault of the nth call of one chat. */
export function planChatFault(
  { seed, failing }: Pick<ChaosOptions, 'seed' | 'failing'>,
  chat: PlannedAsk['on'],
  nth: number,
): ChatFault | undefined {
  const random = createRandom(`${seed} ${chat} ${nth}`);
  return random.chance(failing) ? random.pick(['limit', 'fail', 'dropped', 'answer lost']) : undefined;
}

function weighted<Value>(random: Random, choices: readonly (readonly [Value, number])[]): Value {
  let left = random.next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [value, weight] of choices) {
    left -= weight;
    if (left < 0) return value;
  }
  throw new RangeError('nothing to choose from');
}
