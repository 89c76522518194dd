/** How much may be used: which limits hold for a request, and what is counted for it. */
import type { Address, Family, Person } from '../command.ts';
import { UserError } from '../errors.ts';
import type { Limit, LimitInForce } from '../moderation.ts';
import type { Ceiling, Reservation, UsageStore } from '../storage/usage.ts';
import type { Work } from '../work.ts';
import { isMeant } from './access.ts';
import { type Costs, familyOf, modelOf, unitsOf } from './costs.ts';
import { counterOf, countersOf } from './counters.ts';
import type { DecisionStore, Decisions } from './decisions.ts';
import { describeLimit, timeUntil } from './limit-words.ts';

const HOUR = 3_600_000;
const PERIOD_MS = { hour: HOUR, day: 24 * HOUR } as const satisfies Record<Limit['per'], number>;

/** A reservation that nobody settles counts for this long: longer than the slowest work takes. */
export const RESERVATION_MS = 2 * HOUR;

/** What limits need to know of a job. */
export interface MeteredJob {
  /** The platform's event: reserved once, however often it comes. */
  readonly invocation: string;
  readonly address: Address;
  readonly person: Person;
  readonly work: Work;
  readonly createdAt: number;
}

export interface Meter {
  /** Counts the request against every limit at once. Throws UserError that says which limit and when it frees. */
  reserve(job: MeteredJob): Promise<{ readonly known: boolean }>;
  /** The result is there: it counts for good. */
  settle(job: MeteredJob): Promise<void>;
  /** Nothing came of it: it does not count. */
  giveBack(job: MeteredJob): Promise<void>;
  /** Every limit here, with what counts against it for the person. */
  inForce(address: Address, person: Person): Promise<LimitInForce[]>;
}

/** What the operator is told in numbers. */
export interface UsageListener {
  settled(usage: {
    readonly platform: string;
    readonly family: Family;
    readonly model: string | undefined;
    readonly units: number;
  }): void;
  refused(refusal: {
    readonly platform: string;
    readonly scope: Limit['scope'];
    readonly family: Family;
  }): void;
}

export interface MeterOptions {
  readonly usage: UsageStore;
  readonly decisions: DecisionStore;
  /** The operator's, which nobody in chat can raise. */
  readonly ceilings: readonly Limit[];
  readonly costs: Costs;
  readonly now: () => number;
  readonly listener: UsageListener;
}

interface Applied {
  readonly limit: Limit;
  readonly counter: string;
}

export function createMeter({ usage, decisions, ceilings, costs, now, listener }: MeterOptions): Meter {
  function reservationOf({ invocation, address, person, work, createdAt }: MeteredJob): Reservation {
    const family = familyOf(work);
    return {
      id: invocation,
      at: createdAt,
      expiresAt: createdAt + RESERVATION_MS,
      units: unitsOf(work, costs),
      counters: countersOf(address, person.id, family),
      facts: {
        platform: address.platform,
        guild: address.guild ?? '',
        person: person.id,
        displayName: person.displayName,
        family,
      },
    };
  }

  return {
    async reserve(job) {
      const { address, person, work } = job;
      const family = familyOf(work);
      const applied = [
        ...moderatorsLimits(await decisions.read(address), address, person),
        ...operatorsLimits(ceilings, address, person),
      ].filter(({ limit }) => limit.family === undefined || limit.family === family);
      const reservation = reservationOf(job);
      const answer = await usage.reserve(reservation, applied.map(ceilingOf), now());
      if (answer.type === 'reserved') return { known: answer.known };
      const refusing = applied[answer.ceiling];
      if (!refusing) throw new TypeError('A limit refused that was not asked');
      listener.refused({ platform: address.platform, scope: refusing.limit.scope, family });
      throw new UserError(refusalSentence(refusing.limit, reservation.units, answer.freesAt, now()));
    },

    async settle(job) {
      const reservation = reservationOf(job);
      if (!(await usage.settle(reservation))) return;
      const { work, address } = job;
      listener.settled({
        platform: address.platform,
        family: familyOf(work),
        model: modelOf(work),
        units: reservation.units,
      });
    },

    giveBack: ({ invocation }) => usage.giveBack(invocation),

    async inForce(address, person) {
      const settings = await decisions.read(address);
      const known = [
        // Moderators see what holds for others, so exemptions do not count here.
        ...everyLimit(settings, address, person),
        ...operatorsLimits(ceilings, address, person).map((applied) => ({
          ...applied,
          from: 'deployment' as const,
        })),
      ];
      return Promise.all(
        known.map(async ({ limit, counter, from }) => {
          const [used] = await usage.used([counter], now() - PERIOD_MS[limit.per]);
          return { ...limit, from, used: used?.[limit.of] ?? 0, sentence: describeLimit(limit) };
        }),
      );
    },
  };
}

function ceilingOf({ limit, counter }: Applied): Ceiling {
  return { counter, windowMs: PERIOD_MS[limit.per], of: limit.of, most: limit.most };
}

function applied(limit: Limit, address: Address, person: Person): Applied {
  return { limit, counter: counterOf(limit.scope, address, person.id, limit.family) };
}

function everyLimit({ channel, server }: Decisions, address: Address, person: Person) {
  const of = (from: 'channel' | 'server', limits: readonly Limit[]) =>
    limits.map((limit) => ({ ...applied(limit, address, person), from }));
  return [...of('channel', channel.limits), ...of('server', server.limits)];
}

/** Those that hold for this person. Of the limits for a person, the most particular one counts. */
function moderatorsLimits(settings: Decisions, address: Address, person: Person): Applied[] {
  if (person.moderator && settings.server.exemptModerators === true) return [];
  const all: Limit[] = [...settings.channel.limits, ...settings.server.limits];
  const shared = all.filter(({ scope }) => scope !== 'person');
  const personal = Map.groupBy(
    all.filter(({ scope, who }) => scope === 'person' && (who === undefined || isMeant(who, person))),
    ({ family, per, of }) => `${family ?? '*'} ${per} ${of}`,
  );
  const particular = [...personal.values()].flatMap((limits) => mostParticular(limits) ?? []);
  return [...shared, ...particular].map((limit) => applied(limit, address, person));
}

/** The person's own, else the most generous of their roles, else the one for everybody. */
function mostParticular(limits: readonly Limit[]): Limit | undefined {
  const own = limits.find(({ who }) => who?.type === 'person');
  if (own) return own;
  const roles = limits.filter(({ who }) => who?.type === 'role').toSorted((a, b) => b.most - a.most);
  return roles[0] ?? limits[0];
}

function operatorsLimits(ceilings: readonly Limit[], address: Address, person: Person): Applied[] {
  return ceilings
    .filter(({ scope }) => scope !== 'server' || address.guild !== undefined)
    .map((limit) => ({
      limit,
      counter: counterOf(
        limit.scope === 'person' ? 'everywhere' : limit.scope,
        address,
        person.id,
        limit.family,
      ),
    }));
}

function refusalSentence(limit: Limit, units: number, freesAt: number | undefined, now: number): string {
  const rule = describeLimit(limit);
  if (limit.most === 0) return `This is switched off by a limit: ${rule}. A moderator can change that.`;
  if (freesAt === undefined) return `This costs ${units} units, and the limit is ${rule}.`;
  return `The limit is reached: ${rule}. There is room again in ${timeUntil(freesAt, now)}.`;
}
