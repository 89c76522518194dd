/** Rules, limits and their refusals as plain text. */

import { serverWord } from '../core/invocation.ts';
import { LIMITED, LIMITED_NOUNS } from '../core/models/family.ts';
import {
  ALL,
  EVERYONE,
  type Limit,
  MODERATION,
  MODERATORS,
  type Rule,
  type ScopeAddress,
  type Subject,
  scopeText,
  VISITORS,
} from '../core/moderation.ts';
import { counted } from '../core/util/words.ts';
import { limitOf, type PlacedRule } from './access/precedence.ts';

export function subjectText({ type, id, name }: Subject): string {
  if (type === 'role' && id === VISITORS.id) return 'people from other workspaces';
  return name ?? (type === 'role' ? `the role ${id}` : id);
}

export function thingText(what: string): string {
  if (what === ALL) return 'all commands for members';
  if (what === MODERATION) return 'the moderator commands';
  return what === 'song' ? '/song and the other song commands' : `/${what}`;
}

/** Returns text such as `Bob can't use /image`. */
export function accessText(allowed: boolean, { who, what }: Pick<Rule, 'who' | 'what'>): string {
  const isEveryone = who.type === 'role' && who.id === EVERYONE.id;
  if (allowed) return `${subjectText(who)} can use ${thingText(what)}`;
  const denied = what === ALL ? 'any command except /minstrel and /jobs' : thingText(what);
  return `${isEveryone ? 'members' : subjectText(who)} can't use ${denied}`;
}

export function ruleText({ rule, from }: PlacedRule, at: ScopeAddress): string {
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

/** Returns text with the place, such as `Bob can't use /image (this server)`. */
export const placedText = (placed: PlacedRule, at: ScopeAddress): string =>
  `${ruleText(placed, at)} (${placed.from === 'default' ? 'the default' : scopeText(placed.from, at)})`;

export function limitedText(what: string): string {
  const family = LIMITED.find((one) => one === what);
  return family === undefined ? 'jobs' : LIMITED_NOUNS[family].many;
}

/** Returns text such as `5 songs per person per day`. */
export function describeLimit(limit: Limit, at: ScopeAddress): string {
  const { family, of, most } = limit;
  const nouns = family && LIMITED_NOUNS[family];
  if (of === 'requests')
    return `${counted(most, nouns?.one ?? 'job', nouns?.many)} ${limitScopeText(limit, at)}`;
  return `${counted(most, 'unit')}${nouns ? ` for ${nouns.many}` : ''} ${limitScopeText(limit, at)}`;
}

function limitScopeText({ scope, who, per }: Limit, at: ScopeAddress): string {
  switch (scope) {
    case 'personInServer':
    case 'personOnPlatform':
      return who === undefined ? `per person per ${per}` : `per ${per} for ${eachText(who)}`;
    case 'personInChannel':
      return `${who === undefined ? `per person per ${per}` : `per ${per} for ${eachText(who)}`} in this channel`;
    case 'channel':
      return `per ${per} in this channel, shared by everyone`;
    case 'server':
      return `per ${per} in this ${serverWord(at)}, shared by everyone`;
    case 'deployment':
      return `per ${per}, shared by everyone who uses this bot`;
    default:
      return scope satisfies never;
  }
}

function eachText(who: Subject): string {
  if (who.type === 'person') return subjectText(who);
  if (who.id === MODERATORS.id) return 'each moderator';
  if (who.id === VISITORS.id) return 'each person from another workspace';
  return `each person with the role ${who.name ?? who.id}`;
}

export const PAUSED_BY_OPERATOR =
  "The bot's operator has paused me. Running jobs will finish. Try again later.";

export const pausedSentence = (address: ScopeAddress): string =>
  `Moderators have paused me in this ${serverWord(address)}. Running jobs will finish. A moderator can end the pause with /limits resume.`;

interface RefusalFacts {
  readonly units: number;
  readonly freesAt: number | undefined;
  readonly now: number;
  readonly where: ScopeAddress;
}

/** Says which limit was reached and when to try again. `isCeiling`: set by the operator, so moderators cannot change it. */
export function refusalSentence(
  { limit, isCeiling }: { readonly limit: Limit; readonly isCeiling: boolean },
  { units, freesAt, now, where }: RefusalFacts,
): string {
  const rule = `${describeLimit(limit, where)}${isCeiling ? ', set by the operator' : ''}`;
  if (limit.most === 0) {
    const who = isCeiling ? "Only the bot's operator" : 'A moderator';
    return `A limit has turned this off: ${rule}. ${who} can change it.`;
  }
  if (freesAt === undefined)
    return `This costs ${counted(units, 'unit')}, more than the limit allows: ${rule}. Choose something that costs less.`;
  return `Limit reached: ${rule}. Try again in ${timeUntil(freesAt, now)}.`;
}

/** Returns text such as `3 h 20 min`, rounded up. */
export function timeUntil(at: number, now: number): string {
  const minutes = Math.max(1, Math.ceil((at - now) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
}
