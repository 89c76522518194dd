/** The report after a change of rules: what applies now, and why. Pure. */

import { FAMILIES } from '../core/models/family.ts';
import {
  ALL,
  EVERYONE,
  MODERATION,
  MODERATORS,
  type RuleName,
  type RuleReport,
  type ScopeAddress,
  scopeText,
  VISITORS,
  type Where,
} from '../core/moderation.ts';
import {
  decideAccess,
  hasRuleName,
  isAccessRule,
  type PlacedRule,
  placedRules,
  ruleNamesOf,
  type Who,
} from './access/precedence.ts';
import type { Decisions, StoredSettings } from './decisions.ts';
import { applicableLimits, limitNames } from './limits/meter.ts';
import { accessText, describeLimit, limitedText, placedText, subjectText } from './words.ts';

/** The kind of rule that changed. */
export type Aspect = 'access' | 'limits';

export interface ReportOptions {
  readonly name: RuleName;
  readonly where: Where;
  readonly aspects: readonly Aspect[];
  readonly settings: Decisions;
  readonly at: ScopeAddress;
  /** Returns the names in rules that apply to a command, the most specific first. */
  readonly ruleNamesOf: (what: string) => readonly string[];
}

export function reportOn(options: ReportOptions): Omit<RuleReport, 'channels'> {
  const { name, where, settings, aspects, at } = options;
  const isRelated = relatedTo(options);
  const related = placedRules(settings).filter(
    ({ rule, from }) => isRelated({ rule, from }) && !(from === where && hasRuleName(rule, name)),
  );
  return {
    now: aspects.map((aspect) => (aspect === 'access' ? accessNow(options) : limitsNow(options))),
    related: related.map((placed) => placedText(placed, at)),
  };
}

/** True if a channel has its own rules related to the change. */
export function hasRelatedRules(options: ReportOptions, { rules }: StoredSettings): boolean {
  const isRelated = relatedTo(options);
  return rules.some((rule) => isRelated({ rule, from: 'channel' }));
}

/** Selects rules about the same command, or one that includes it or is included. */
function relatedTo({ name: { what }, aspects, ruleNamesOf }: ReportOptions): (placed: PlacedRule) => boolean {
  return (placed) => {
    const { what: other } = placed.rule;
    return (
      aspects.includes(isAccessRule(placed) ? 'access' : 'limits') &&
      (ruleNamesOf(what).includes(other) || ruleNamesOf(other).includes(what))
    );
  };
}

function accessNow({ name, where, settings, at, ruleNamesOf }: ReportOptions): string {
  const { allowed, by } = decideAccess(
    ruleNamesOf(name.what),
    samplePerson(name),
    settingsInForce(where, settings),
  );
  const isOwn = by !== undefined && by.from === where && hasRuleName(by.rule, name);
  const reason = !by ? 'no rule denies it' : by.from === 'default' ? 'the default' : placedText(by, at);
  const exception =
    !allowed && name.who.id === EVERYONE.id && name.what !== MODERATION ? ' Moderators still can.' : '';
  return `Now in ${scopeText(where, at)}: ${accessText(allowed, name)}${isOwn ? '' : `. Reason: ${reason}`}.${exception}`;
}

function limitsNow({ name, where, settings, at }: ReportOptions): string {
  const inForce = settingsInForce(where, settings);
  const limits = (name.what === ALL ? FAMILIES : [name.what]).flatMap((what) =>
    applicableLimits(limitNames(what), samplePerson(name), inForce),
  );
  const texts = [...new Set(limits.map((limit) => describeLimit(limit, at)))];
  if (texts.length > 0) return `Now: ${texts.join('; ')}.`;
  const object = name.what === ALL ? '' : ` on ${limitedText(name.what)}`;
  const subject = name.who.id === EVERYONE.id ? '' : ` for ${subjectText(name.who)}`;
  // The operator's limits may still apply.
  return `Moderators have set no limit${object}${subject} in ${scopeText(where, at)}.`;
}

/** A sample person to whom the rule applies. */
function samplePerson({ who: { type, id } }: RuleName): Who {
  if (type === 'person') return { id, roles: [], moderator: false };
  return { id: '', roles: [id], moderator: id === MODERATORS.id, visitor: id === VISITORS.id };
}

/** The settings in force in a channel, or in a server without its channels' settings. */
function settingsInForce(where: Where, settings: Decisions): Decisions {
  return where === 'channel'
    ? settings
    : { ...settings, channel: { ...settings.channel, rules: [], talk: false } };
}

/** Returns a function from a command to the names in rules that apply to it, the most specific first. */
export function ruleNamesBy(
  commands: readonly Parameters<typeof ruleNamesOf>[0][],
): (what: string) => readonly string[] {
  const known = new Map(commands.map((command) => [command.name, ruleNamesOf(command)]));
  return (what) => (what === ALL || what === MODERATION ? [what] : (known.get(what) ?? [what, ALL]));
}
