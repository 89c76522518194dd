/** Changes of rules by moderators. */
import { UserError } from '../../core/errors.ts';
import type { Rule, RuleName, ScopeAddress, Where } from '../../core/moderation.ts';
import { type Edit, MOST_RULES } from '../decisions.ts';
import { limitedText, ruleText, thingText } from '../words.ts';
import { hasRuleName } from './precedence.ts';

interface Place {
  readonly from: Where;
  readonly at: ScopeAddress;
}

/** Adds a rule, replacing the one it conflicts with. Throws UserError if there are too many rules. */
export function setRule(rule: Rule, { from, at }: Place): Edit {
  return (settings) => {
    const replaced = settings.rules.filter((existing) => replaces(rule, existing));
    const rest = settings.rules.filter((existing) => !replaced.includes(existing));
    if (rest.length >= MOST_RULES)
      throw new UserError(
        `There are already ${MOST_RULES} rules, which is the limit. Remove some with /limits reset, or set one rule for a role instead of several for people.`,
      );
    return {
      settings: { ...settings, rules: [...rest, rule] },
      trace: traceOf(rule, replaced, [rule], { from, at }),
    };
  };
}

/** Removes all rules and limits with that name. */
export function resetRules(name: RuleName, place: Place): Edit {
  return (settings) => {
    const removed = settings.rules.filter((existing) => hasRuleName(existing, name));
    if (removed.length === 0) return undefined;
    return {
      settings: { ...settings, rules: settings.rules.filter((existing) => !removed.includes(existing)) },
      trace: traceOf(name, removed, [], place),
    };
  };
}

/** An `unlimited` rule replaces all limits, and any limit replaces it. */
function replaces(rule: Rule, existing: Rule): boolean {
  const kinds = [ruleKind(rule), ruleKind(existing)];
  const isSameKind = kinds[0] === kinds[1] || (kinds.includes('unlimited') && !kinds.includes('access'));
  return hasRuleName(existing, rule) && isSameKind;
}

/** Rules of one kind replace each other. Limits of different kinds apply together. */
export function ruleKind(rule: Rule): string {
  switch (rule.type) {
    case 'allow':
    case 'deny':
      return 'access';
    case 'unlimited':
      return 'unlimited';
    case 'limit':
      return `${rule.what} ${rule.per} ${rule.of}${rule.together ? ' together' : ''}`;
    default:
      return rule satisfies never;
  }
}

function traceOf({ what }: RuleName, before: readonly Rule[], after: readonly Rule[], { from, at }: Place) {
  const inWords = (rules: readonly Rule[]) =>
    rules.map((rule) => ruleText({ rule, from }, at)).join('; ') || 'no rule';
  const isAccess = [...before, ...after].some((rule) => ruleKind(rule) === 'access');
  const about = isAccess ? `access to ${thingText(what)}` : `limit on ${limitedText(what)}`;
  return { what: about, from: inWords(before), to: inWords(after) };
}

/** Returns undefined if nothing changes. */
export function setPause(paused: boolean): Edit {
  return (settings) =>
    (settings.paused ?? false) === paused
      ? undefined
      : {
          settings: { ...settings, paused },
          trace: { what: 'paused', from: paused ? 'no' : 'yes', to: paused ? 'yes' : 'no' },
        };
}
