/** Usage limits: which limits apply to a request, and what it counts. */
import { refusedByDecision, UserError } from '../../core/errors.ts';
import { type Address, channelOf, type Person, serverOf } from '../../core/invocation.ts';
import type { Job } from '../../core/job.ts';
import type { Family, Limited } from '../../core/models/family.ts';
import {
  ALL,
  EVERYONE,
  type Limit,
  type LimitInForce,
  type LimitRule,
  TALK_QUESTIONS,
  type UnlimitedRule,
} from '../../core/moderation.ts';
import type { Measure } from '../../core/telemetry/series.ts';
import type { Route, Work } from '../../core/work.ts';
import type { Ceiling, LimitRefusal, Reservation, UsageStore } from '../../storage/usage.ts';
import { ruleKind } from '../access/changes.ts';
import {
  decisive,
  isAboutLimits,
  isSameSubject,
  limitOf,
  type PlacedRule,
  placedRules,
  type Who,
} from '../access/precedence.ts';
import type { Decisions } from '../decisions.ts';
import { describeLimit, PAUSED_BY_OPERATOR, pausedSentence, refusalSentence } from '../words.ts';

const HOUR = 3_600_000;
const PERIOD_MS = { hour: HOUR, day: 24 * HOUR } as const satisfies Record<Limit['per'], number>;

/** The part of a job that limits need. An `invocation` is reserved once, even if repeated. */
export interface MeteredJob extends Pick<Job, 'invocation' | 'address' | 'work' | 'createdAt'> {
  readonly person: Person;
}

/** `id` is counted once. */
export interface QueuedSong extends Pick<MeteredJob, 'address' | 'person'> {
  readonly id: string;
}

export interface UsageClaim {
  readonly reservation: Reservation;
  readonly ceilings: readonly Ceiling[];
  /** Counts the refusal. Returns the error that says which limit was reached and when to try again. */
  refusal(refused: LimitRefusal): UserError;
}

export interface Meter {
  /**
   * Returns the reservation of a job, and the limits that apply to it. Throws UserError while moderators or the operator have paused
   * the bot.
   */
  claim(job: MeteredJob, settings: Decisions): UsageClaim;
  /**
   * Counts a song for a voice channel, unless `queue` throws. Throws UserError if a limit is reached, and while moderators or the
   * operator have paused the bot.
   */
  countQueued<Value>(song: QueuedSong, settings: Decisions, queue: () => Promise<Value>): Promise<Value>;
  /** Counts a job permanently, because the gateway charged or may have charged. Safe to repeat, even when it becomes certain. */
  settle(job: MeteredJob, charge: 'yes' | 'uncertain'): Promise<void>;
  /** Refunds a failed job. Safe to repeat. Settled usage stays. */
  refund(job: MeteredJob): Promise<void>;
  /** Returns every limit here with the person's usage. */
  inForce(address: Address, person: Person, settings: Decisions): Promise<LimitInForce[]>;
}

export interface MeterOptions {
  readonly usage: UsageStore;
  /** The operator's limits, which moderators cannot raise. */
  readonly ceilings: readonly Limit[];
  readonly costs: Costs;
  readonly now: () => number;
  /** Whether the operator has paused new requests. */
  readonly isPaused: () => boolean;
  /** Records metrics. */
  readonly measure: Measure;
}

interface Applied {
  readonly limit: Limit;
  /** Set by the operator, so moderators cannot change it. */
  readonly isCeiling: boolean;
  readonly counter: string;
}

export function createMeter({ usage, ceilings, costs, now, isPaused, measure }: MeterOptions): Meter {
  function reservationOf({ invocation: id, work, createdAt: at, ...rest }: MeteredJob): Reservation {
    return reservationFor({ ...rest, id, at, units: unitsOf(work, costs), family: familyOf(work) });
  }

  function refusalFor(
    { ceiling, freesAt }: LimitRefusal,
    applied: readonly Applied[],
    { units, facts }: Reservation,
  ): UserError {
    const refusing = applied[ceiling];
    if (!refusing) throw new TypeError('An unknown limit refused the request');
    const { platform, family } = facts;
    measure('minstrel_limit_refusals_total', { platform, scope: refusing.limit.scope, family });
    const sentence = refusalSentence(refusing, { units, freesAt, now: now(), where: { platform } });
    return new UserError(sentence, undefined, freesAt ?? Number.POSITIVE_INFINITY);
  }

  function limitsOn(
    family: Limited,
    { address, person }: Pick<MeteredJob, 'address' | 'person'>,
    settings: Decisions,
  ): Applied[] {
    const counts = (limit: Limit) =>
      limit.family === undefined ? family !== 'party' : limit.family === family;
    return [
      ...applicableLimits(limitNames(family), person, settings).map((limit) =>
        applied(limit, address, person),
      ),
      ...operatorsLimits(ceilings, address, person).filter(({ limit }) => counts(limit)),
    ];
  }

  function assertNotPaused(address: Address, settings: Decisions): void {
    if (isPaused()) throw refusedByDecision(PAUSED_BY_OPERATOR);
    if (settings.server.paused) throw refusedByDecision(pausedSentence(address));
  }

  return {
    claim(job, settings) {
      assertNotPaused(job.address, settings);
      const limits = limitsOn(familyOf(job.work), job, settings);
      const reservation = reservationOf(job);
      return {
        reservation,
        ceilings: limits.map(ceilingOf),
        refusal: (refused) => refusalFor(refused, limits, reservation),
      };
    },

    async countQueued(song, settings, queue) {
      assertNotPaused(song.address, settings);
      const limits = limitsOn('party', song, settings);
      const at = now();
      const reservation = reservationFor({ ...song, at, units: 0, family: 'party' });
      const refused = await usage.reserve(reservation, limits.map(ceilingOf), at);
      if (refused) throw refusalFor(refused, limits, reservation);
      try {
        const value = await queue();
        await usage.settle(reservation, 'yes');
        return value;
      } catch (error) {
        await usage.refund(song.id);
        throw error;
      }
    },

    async settle(job, charge) {
      const reservation = reservationOf(job);
      if (!(await usage.settle(reservation, charge))) return;
      const { work, address } = job;
      const model = modelOf(work) ?? 'none';
      const labels = { platform: address.platform, family: familyOf(work), model };
      measure('minstrel_usage_requests_total', labels);
      measure('minstrel_usage_units_total', labels, reservation.units);
    },

    refund: ({ invocation }) => usage.refund(invocation),

    async inForce(address, person, settings) {
      const withUsage = async (
        from: LimitInForce['from'],
        { limit, counter }: Applied,
      ): Promise<LimitInForce> => {
        const used = await usage.used(counter, now() - PERIOD_MS[limit.per]);
        return { ...limit, from, used: used[limit.of], sentence: describeLimit(limit, address) };
      };
      return Promise.all([
        // Moderators also see limits for other people.
        ...limitRules(settings).flatMap(({ rule, from }) =>
          rule.type === 'limit' ? [withUsage(from, applied(limitOf(rule, from), address, person))] : [],
        ),
        ...operatorsLimits(ceilings, address, person).map((limit) => withUsage('deployment', limit)),
      ]);
    },
  };
}

function reservationFor({
  address,
  person,
  family,
  ...counted
}: Pick<Reservation, 'id' | 'at' | 'units'> &
  Pick<MeteredJob, 'address' | 'person'> & { readonly family: Limited }): Reservation {
  return {
    ...counted,
    counters: countersOf(address, person.id, family),
    facts: {
      platform: address.platform,
      guild: serverOf(address) ?? '',
      person: person.id,
      displayName: person.displayName,
      family,
    },
  };
}

function ceilingOf({ limit, counter }: Applied): Ceiling {
  return { counter, windowMs: PERIOD_MS[limit.per], of: limit.of, most: limit.most };
}

function applied(limit: Limit, address: Address, person: Person): Applied {
  return { limit, counter: counterOf(limit.scope, address, person.id, limit.family), isCeiling: false };
}

/** Limits accidental questions in channels where every message is a question. */
const TALK_RULE = {
  type: 'limit',
  who: EVERYONE,
  what: 'ask',
  per: 'hour',
  of: 'requests',
  most: TALK_QUESTIONS,
} as const satisfies LimitRule;

/** Returns moderators' limits, plus the default for talk channels unless they limit these questions for everyone. */
function limitRules(settings: Decisions): PlacedRule<LimitRule | UnlimitedRule>[] {
  const rules = placedRules(settings).filter(isAboutLimits);
  const isReplaced = rules.some(
    ({ rule }) => ruleKind(rule) === ruleKind(TALK_RULE) && isSameSubject(rule.who, EVERYONE),
  );
  const isAdded = settings.channel.talk === true && !isReplaced;
  return isAdded ? [...rules, { rule: TALK_RULE, from: 'default' }] : rules;
}

/** Returns the names in limits that apply to a family, the most specific first. */
export const limitNames = (what: string): readonly string[] => (what === 'party' ? [what] : [what, ALL]);

/** Returns moderators' limits for a person: for each kind, the one set by the deciding rule. */
export function applicableLimits(ruleNames: readonly string[], person: Who, settings: Decisions): Limit[] {
  const rules = limitRules(settings).filter(({ rule }) => ruleNames.includes(rule.what));
  const limits = rules.filter(({ rule }) => rule.type === 'limit');
  // A channel's shared limit applies in addition to the server's.
  const kinds = Map.groupBy(limits, ({ rule, from }) =>
    rule.type === 'limit' && rule.together ? `${ruleKind(rule)} ${from}` : ruleKind(rule),
  );
  return [...kinds.values()].flatMap((ofKind) => {
    const exemptions = rules.filter(
      ({ rule }) => rule.type === 'unlimited' && (rule.what === ALL || rule.what === ofKind[0]?.rule.what),
    );
    const deciding = decisive([...ofKind, ...exemptions], {
      person,
      ruleNames,
      betweenRoles: 'most generous',
    });
    return deciding?.rule.type === 'limit' ? [limitOf(deciding.rule, deciding.from)] : [];
  });
}

function operatorsLimits(ceilings: readonly Limit[], address: Address, person: Person): Applied[] {
  return ceilings
    .filter(({ scope }) => scope !== 'server' || serverOf(address) !== undefined)
    .map((limit) => ({ ...applied(limit, address, person), isCeiling: true }));
}

/** Units by `family:model`, by route (such as `music.vocalRemoval`) or by family. The first match applies. */
export type Costs = Readonly<Record<string, number>>;

/** By route. */
export const FAMILY_OF = {
  'music.generate': 'song',
  'music.extend': 'song',
  'music.generateLyrics': 'song',
  'music.generateCover': 'song',
  'music.uploadCover': 'song',
  'music.uploadExtend': 'song',
  'music.addVocals': 'song',
  'music.addInstrumental': 'song',
  'music.vocalRemoval': 'song',
  'music.wavGenerate': 'song',
  'music.mp4Generate': 'song',
  'music.timestampedLyrics': 'song',
  'music.generatePersona': 'song',
  'media.image': 'image',
  'gen.image': 'image',
  'media.video': 'video',
  answer: 'ask',
} as const satisfies Record<Route, Family>;

export function familyOf({ route }: Pick<Work, 'route'>): Family {
  return FAMILY_OF[route];
}

/** Returns the model named in the work. */
export function modelOf({ request }: Work): string | undefined {
  return 'model' in request ? request.model : undefined;
}

/** Returns 0 if no price is set. */
function unitsOf(work: Work, costs: Costs): number {
  const [family, model] = [familyOf(work), modelOf(work)];
  const keys = [...(model === undefined ? [] : [`${family}:${model}`]), work.route, family];
  const priced = keys.find((key) => Object.hasOwn(costs, key));
  return priced === undefined ? 0 : (costs[priced] ?? 0);
}

type Scope = Limit['scope'];
const SCOPES = [
  'personInServer',
  'personInChannel',
  'personOnPlatform',
  'channel',
  'server',
  'deployment',
] as const satisfies readonly Scope[];

function counterOf(scope: Scope, where: Address, person: string, family: Limited | undefined): string {
  const { platform } = where;
  const guild = serverOf(where) ?? '';
  const parts = {
    personInServer: [platform, guild, person],
    personInChannel: [platform, guild, channelOf(where), person],
    personOnPlatform: [platform, person],
    channel: [platform, guild, channelOf(where)],
    server: [platform, guild],
    deployment: [],
  } as const satisfies Record<Scope, readonly string[]>;
  return [scope, ...parts[scope], family ?? '*'].map(encodeURIComponent).join(':');
}

/** Returns all counters that work of a family adds to, so that a new limit includes earlier usage. */
function countersOf(where: Address, person: string, family: Limited): string[] {
  return SCOPES.filter((scope) => scope !== 'server' || serverOf(where) !== undefined).flatMap((scope) => [
    counterOf(scope, where, person, family),
    ...(family === 'party' ? [] : [counterOf(scope, where, person, undefined)]),
  ]);
}
