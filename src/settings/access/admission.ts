/** Access control. Every invocation is checked before anything else happens. */

import type { AnyCommand } from '../../core/bot/command.ts';
import { notModerator, refusedByDecision, UserError } from '../../core/errors.ts';
import {
  type Address,
  type Invocation,
  LOCAL_PLATFORMS,
  type Person,
  serverOf,
} from '../../core/invocation.ts';
import { EVERYONE, MODERATION, VISITORS } from '../../core/moderation.ts';
import type { DecisionStore, Decisions } from '../decisions.ts';
import {
  type AccessDecision,
  decideAccess,
  isAccessRule,
  isSameSubject,
  placedRules,
  ruleNamesOf,
} from './precedence.ts';

export interface AccessOptions {
  readonly decisions: Pick<DecisionStore, 'read'>;
  /** Servers that the operator serves, as `platform:id` or as an id; `direct` admits direct messages. Empty: all. */
  readonly served: readonly string[];
  readonly commands: readonly Pick<AnyCommand, 'name' | 'family' | 'moderatorsOnly' | 'alwaysAllowed'>[];
}

/**
 * Admits a person, and marks people whom a rule lets moderate as moderators. Without a command, checks only whether the place is served.
 * `known` are the settings if they were read already. Throws UserError with the reason.
 */
export type Admit = (
  asking: Pick<Invocation, 'address' | 'person'> & { readonly command?: string | undefined },
  known?: Decisions,
) => Promise<{ readonly person: Person; readonly settings: Decisions }>;

export function createAccess({ decisions, served, commands }: AccessOptions): Admit {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return async ({ command: name, address, person }, known) => {
    if (!isServed(address, served)) {
      throw new UserError("The bot's operator hasn't enabled me here. Ask them to.");
    }
    const settings = known ?? (await decisions.read(address));
    if (person.moderator || decideAccess([MODERATION], person, settings).allowed) {
      return { person: { ...person, moderator: true }, settings };
    }
    if (name === undefined) return { person, settings };
    const { moderatorsOnly, alwaysAllowed, family } = byName.get(name) ?? {};
    if (moderatorsOnly) throw notModerator(person, `Only moderators can use /${name}.`);
    if (alwaysAllowed) return { person, settings };
    const ruleNames = ruleNamesOf({ name, ...(family && { family }) });
    // There are no visitors in direct messages.
    const who = serverOf(address) === undefined ? { ...person, visitor: false } : person;
    const decision = decideAccess(ruleNames, who, settings);
    if (!decision.allowed) throw refusal(name, ruleNames, { decision, person, settings });
    return { person, settings };
  };
}

function refusal(
  command: string,
  ruleNames: readonly string[],
  {
    decision,
    person,
    settings,
  }: { readonly decision: AccessDecision; readonly person: Person; readonly settings: Decisions },
): UserError {
  const who = decision.by?.rule.who ?? EVERYONE;
  const isForVisitors = isSameSubject(who, VISITORS);
  if (isForVisitors && person.visitor === 'unknown') {
    return new UserError(
      "I can't check whether you belong to this workspace right now. Try again in a minute.",
    );
  }
  if (who.type === 'person')
    return notModerator(
      person,
      `You can't use /${command} here, because a moderator turned it off for you. If you think this is a mistake, ask a moderator.`,
    );
  if (isForVisitors) {
    return refusedByDecision(
      'You belong to another workspace. A moderator here can let you in with /limits allow what:all who:visitors.',
    );
  }
  if (!isSameSubject(who, EVERYONE))
    return notModerator(
      person,
      `${who.name === undefined ? 'One of your roles' : `The role ${who.name}`} can't use /${command} here. If you think this is a mistake, ask a moderator.`,
    );
  return notModerator(person, notForEveryone(command, ruleNames, settings));
}

/** Names the allowed roles, if there are any. */
function notForEveryone(command: string, ruleNames: readonly string[], settings: Decisions): string {
  const allowed = placedRules(settings)
    .filter(isAccessRule)
    .flatMap(({ rule: { type, who, what } }) =>
      type === 'allow' && ruleNames.includes(what) && !isSameSubject(who, EVERYONE) ? [who] : [],
    );
  if (allowed.length === 0) return `Moderators have turned off /${command} here. If you need it, ask them.`;
  const roles = allowed.flatMap(({ type, name }) => (type === 'role' && name !== undefined ? [name] : []));
  if (roles.length > 0)
    return `These roles can use /${command} here: ${[...new Set(roles)].join(', ')}. To get access, ask a moderator.`;
  return `Only people chosen by moderators can use /${command} here. To get access, ask a moderator.`;
}

function isServed({ platform, guild }: Address, served: readonly string[]): boolean {
  if (served.length === 0 || LOCAL_PLATFORMS.has(platform)) return true;
  if (guild === undefined) return served.includes('direct');
  return served.includes(guild) || served.includes(`${platform}:${guild}`);
}
