/** Precedence of rules for access and limits. */
import type { AnyCommand } from '../../core/bot/command.ts';
import type { Person } from '../../core/invocation.ts';
import { LIMITED } from '../../core/models/family.ts';
import {
  type AccessRule,
  ALL,
  EVERYONE,
  type Limit,
  type LimitRule,
  MODERATION,
  MODERATORS,
  type Rule,
  type RuleName,
  type Subject,
  type UnlimitedRule,
  VISITORS,
  type Where,
} from '../../core/moderation.ts';
import type { Decisions } from '../decisions.ts';

/** A rule and where it was set; `default` applies if nobody set one. */
export interface PlacedRule<Some extends Rule = Rule> {
  readonly rule: Some;
  readonly from: Where | 'default';
}

const DEFAULTS: readonly PlacedRule<AccessRule>[] = [
  { rule: { type: 'deny', who: VISITORS, what: ALL }, from: 'default' },
  { rule: { type: 'deny', who: EVERYONE, what: MODERATION }, from: 'default' },
];

export function placedRules({ channel, server }: Decisions): PlacedRule[] {
  return [
    ...channel.rules.map((rule) => ({ rule, from: 'channel' as const })),
    ...server.rules.map((rule) => ({ rule, from: 'server' as const })),
  ];
}

export function isAccessRule(placed: PlacedRule): placed is PlacedRule<AccessRule> {
  return placed.rule.type === 'allow' || placed.rule.type === 'deny';
}

export function isAboutLimits(placed: PlacedRule): placed is PlacedRule<LimitRule | UnlimitedRule> {
  return !isAccessRule(placed);
}

/** Converts a rule to the limit that the meter counts. */
export function limitOf({ who, what, per, of, most, together }: LimitRule, from: PlacedRule['from']): Limit {
  const family = LIMITED.find((one) => one === what);
  const [own, shared] =
    from === 'channel' ? (['personInChannel', 'channel'] as const) : (['personInServer', 'server'] as const);
  const isForSome = who.type === 'person' || who.id !== EVERYONE.id;
  return {
    scope: together ? shared : own,
    ...(isForSome && { who }),
    ...(family && { family }),
    per,
    of,
    most,
  };
}

/** Returns the names in rules that apply to a command, the most specific first. */
export function ruleNamesOf({
  name,
  family,
  moderatorsOnly,
}: Pick<AnyCommand, 'name' | 'family' | 'moderatorsOnly'>): readonly string[] {
  if (moderatorsOnly) return [MODERATION];
  return family === undefined || family === name ? [name, ALL] : [name, family, ALL];
}

export type Who = Pick<Person, 'id' | 'roles' | 'moderator' | 'visitor'>;

function appliesTo({ type, id }: Subject, person: Who): boolean {
  if (type === 'person') return id === person.id;
  switch (id) {
    case EVERYONE.id:
      return true;
    case VISITORS.id:
      return person.visitor === true || person.visitor === 'unknown';
    case MODERATORS.id:
      return person.moderator;
    default:
      return person.roles.includes(id);
  }
}

interface Question {
  readonly person: Who;
  /** The most specific first. */
  readonly ruleNames: readonly string[];
  readonly betweenRoles: 'strictest' | 'most generous';
}

/**
 * Returns the rule that applies to a person. The channel's rules win over the server's. Within each, a rule for a person wins over
 * a role and a role over everyone, then the most specific command wins. A channel cannot loosen a more specific rule of the server.
 */
export function decisive<Some extends Rule>(
  rules: readonly PlacedRule<Some>[],
  question: Question,
): PlacedRule<Some> | undefined {
  const { person, ruleNames } = question;
  const matching = rules.filter(({ rule }) => ruleNames.includes(rule.what) && appliesTo(rule.who, person));
  const places = (['default', 'server', 'channel'] as const).flatMap(
    (place) =>
      decisiveIn(
        matching.filter(({ from }) => from === place),
        question,
      ) ?? [],
  );
  return places.reduce<PlacedRule<Some> | undefined>((wider, narrower) => {
    if (!wider) return narrower;
    const loosens = amountOf(narrower.rule) > amountOf(wider.rule);
    return loosens && rankOf(wider.rule.who) > rankOf(narrower.rule.who) ? wider : narrower;
  }, undefined);
}

/** The deciding rule of one place. */
function decisiveIn<Some extends Rule>(
  rules: readonly PlacedRule<Some>[],
  { ruleNames, betweenRoles }: Question,
): PlacedRule<Some> | undefined {
  const rank = Math.max(...rules.map(({ rule }) => rankOf(rule.who)));
  const ranking = rules.filter(({ rule }) => rankOf(rule.who) === rank);
  const perSubject = [...Map.groupBy(ranking, ({ rule }) => rule.who.id).values()].flatMap((own) =>
    own
      .toSorted((one, other) => ruleNames.indexOf(one.rule.what) - ruleNames.indexOf(other.rule.what))
      .slice(0, 1),
  );
  const [strictest] = perSubject.toSorted((one, other) => amountOf(one.rule) - amountOf(other.rule));
  const [generous] = perSubject.toSorted((one, other) => amountOf(other.rule) - amountOf(one.rule));
  return betweenRoles === 'strictest' ? strictest : generous;
}

function rankOf({ type, id }: Subject): number {
  if (type === 'person') return 2;
  return id === EVERYONE.id ? 0 : 1;
}

function amountOf(rule: Rule): number {
  switch (rule.type) {
    case 'deny':
      return 0;
    case 'limit':
      return rule.most;
    case 'allow':
    case 'unlimited':
      return Number.POSITIVE_INFINITY;
    default:
      return rule satisfies never;
  }
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** The deciding rule, if any. */
  readonly by?: PlacedRule<AccessRule>;
}

/** Decides whether a person may use a command. Visitors first need a rule that admits them; then the usual rules apply. */
export function decideAccess(ruleNames: readonly string[], person: Who, settings: Decisions): AccessDecision {
  const rules = [...placedRules(settings).filter(isAccessRule), ...DEFAULTS];
  const question = { person, ruleNames, betweenRoles: 'strictest' } as const;
  const isForVisitors = ({ rule }: PlacedRule) => isSameSubject(rule.who, VISITORS);
  const visitorRule = decisive(
    rules.filter((placed) => isForVisitors(placed) || placed.rule.who.type === 'person'),
    question,
  );
  if (visitorRule?.rule.type === 'deny') return { allowed: false, by: visitorRule };
  const otherRules = rules.filter((placed) => !isForVisitors(placed));
  const by = decisive(otherRules, question) ?? visitorRule;
  return { allowed: by?.rule.type !== 'deny', ...(by && { by }) };
}

export function isSameSubject(one: Subject, other: Subject): boolean {
  return one.type === other.type && one.id === other.id;
}

export function hasRuleName(rule: Rule, { who, what }: RuleName): boolean {
  return rule.what === what && isSameSubject(rule.who, who);
}
