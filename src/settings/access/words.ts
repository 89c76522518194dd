/** Rules and limits in words. Plain. */
import { LIMITED, LIMITED_NOUNS } from '../../core/family.ts';
import { type Address, serverWord } from '../../core/invocation.ts';
import { counted } from '../../core/message.ts';
import {
  ALL,
  EVERYONE,
  type Limit,
  type LimitRule,
  MODERATION,
  MODERATORS,
  placeText,
  type Rule,
  type Subject,
  VISITORS,
} from '../../core/moderation.ts';
import type { PlacedRule } from './precedence.ts';

type Somewhere = Pick<Address, 'platform'>;

export function subjectText({ type, id, name }: Subject): string {
  if (type === 'role' && id === VISITORS.id) return 'people of other workspaces';
  return name ?? (type === 'role' ? `the role ${id}` : id);
}

function thingText(what: string): string {
  if (what === ALL) return 'any command';
  if (what === MODERATION) return 'the commands for moderators';
  return what === 'song' ? '/song and the other commands for songs' : `/${what}`;
}

/** As in `Bob may not use /image`. */
export function accessText(allowed: boolean, { who, what }: Pick<Rule, 'who' | 'what'>): string {
  const isEveryone = who.type === 'role' && who.id === EVERYONE.id;
  if (isEveryone && !allowed) return `nobody may use ${thingText(what)}`;
  return `${subjectText(who)} ${allowed ? 'may' : 'may not'} use ${thingText(what)}`;
}

export function ruleText({ rule, from }: PlacedRule, at: Somewhere): string {
  switch (rule.type) {
    case 'allow':
    case 'deny':
      return accessText(rule.type === 'allow', rule);
    case 'limit':
      return describeLimit(limitOf(rule, from), at);
    case 'unlimited':
      return `no limit${rule.what === ALL ? '' : ` on ${limitedText(rule.what)}`} for ${subjectText(rule.who)}`;
    default:
      return rule satisfies never;
  }
}

/** With its place, as in `Bob may not use /image (this server)`. */
export const placedText = (placed: PlacedRule, at: Somewhere): string =>
  `${ruleText(placed, at)} (${placed.from === 'default' ? 'the default' : placeText(placed.from, at)})`;

/** What a rule limits, as the meter counts it. */
export function limitOf({ who, what, per, of, most, together }: LimitRule, from: PlacedRule['from']): Limit {
  const family = LIMITED.find((one) => one === what);
  const isForSome = who.type === 'person' || who.id !== EVERYONE.id;
  return {
    scope: from === 'channel' ? (together ? 'channel' : 'here') : together ? 'server' : 'person',
    ...(isForSome && { who }),
    ...(family && { family }),
    per,
    of,
    most,
  };
}

export function limitedText(what: string): string {
  const family = LIMITED.find((one) => one === what);
  return family === undefined ? 'requests' : LIMITED_NOUNS[family].many;
}

/** As in `5 songs per person and day`. */
export function describeLimit(limit: Limit, at: Somewhere): string {
  const { family, of, most } = limit;
  const nouns = family && LIMITED_NOUNS[family];
  if (of === 'requests')
    return `${counted(most, nouns?.one ?? 'request', nouns?.many)} ${perWhom(limit, at)}`;
  return `${counted(most, 'unit')}${nouns ? ` for ${nouns.many}` : ''} ${perWhom(limit, at)}`;
}

function perWhom({ scope, who, per }: Limit, at: Somewhere): string {
  switch (scope) {
    case 'person':
      return who === undefined ? `per person and ${per}` : `per ${per} for ${eachText(who)}`;
    case 'here':
      return `${who === undefined ? `per person and ${per}` : `per ${per} for ${eachText(who)}`} in this channel`;
    case 'channel':
      return `per ${per} in this channel, for all together`;
    case 'server':
      return `per ${per} in this ${serverWord(at)}, for all together`;
    case 'deployment':
      return `per ${per} for everybody who uses this bot`;
    default:
      return scope satisfies never;
  }
}

function eachText(who: Subject): string {
  if (who.type === 'person') return subjectText(who);
  if (who.id === MODERATORS.id) return 'each moderator';
  if (who.id === VISITORS.id) return 'each person of another workspace';
  return `each person with the role ${who.name ?? who.id}`;
}
