/** Who may use what. Every invocation is checked before anything else is done. */
import type { Admission } from '../../core/bot/bot.ts';
import type { AnyCommand } from '../../core/bot/command.ts';
import { notModerator, UserError } from '../../core/errors.ts';
import { type Address, type Invocation, type Person, serverOf } from '../../core/invocation.ts';
import { type AccessRule, EVERYONE, type Subject } from '../../core/moderation.ts';
import type { DecisionStore, Decisions } from '../decisions.ts';

/** In rules: every command. */
export const ALL_COMMANDS = 'all';

export interface AccessOptions {
  readonly decisions: Pick<DecisionStore, 'read'>;
  /** What the operator serves, as `platform:id` or as an id; `direct` lets direct messages in. Empty: all. */
  readonly served: readonly string[];
  readonly commands: readonly Pick<AnyCommand, 'name' | 'moderatorsOnly' | 'alwaysAllowed'>[];
}

/**
 * Admits a person, as who they are here: who was named a moderator is one. `known` are the settings, where they were read
 * already. Throws UserError with the reason.
 */
export type Admit = (
  asking: Pick<Invocation, 'command' | 'address' | 'person'>,
  known?: Decisions,
) => Promise<Admission<Decisions>>;

export function createAccess({ decisions, served, commands }: AccessOptions): Admit {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return async ({ command, address, person }, known) => {
    if (!isServed(address, served)) {
      throw new UserError('Whoever runs this bot has not opened it to this place. Please ask them.');
    }
    const settings = known ?? (await decisions.read(address));
    if (person.moderator || settings.server.moderators.some((subject) => isMeant(subject, person))) {
      return { person: { ...person, moderator: true }, settings };
    }
    const { moderatorsOnly, alwaysAllowed } = byName.get(command) ?? {};
    if (moderatorsOnly) throw notModerator(person, `Only moderators may use /${command}.`);
    if (alwaysAllowed) return { person, settings };
    if (person.visitor === true && serverOf(address) !== undefined && !visitorsAllowed(settings))
      throw new UserError(
        'You belong to another workspace, and I serve those people here only where a moderator of this one allows it, with /limits visitors.',
      );
    if (person.visitor === 'unknown' && serverOf(address) !== undefined && !visitorsAllowed(settings))
      throw new UserError(
        'I could not check in time whether you belong to this workspace. Nothing was spent; please try again in a moment.',
      );
    if (settings.server.blocked.some((subject) => isMeant(subject, person))) {
      throw new UserError('A moderator has blocked you from using me here. Please talk to the moderators.');
    }
    if (barredFrom(command, settings).some((subject) => isMeant(subject, person))) {
      throw new UserError(`A moderator has barred you from /${command} here. Please talk to the moderators.`);
    }
    const rule = ruleFor(command, settings);
    if (rule && !passes(rule, person)) throw notModerator(person, refusal(command, rule));
    return { person, settings };
  };
}

/** Whether people of other workspaces that share the channel are served: not, unless moderators allowed it. */
export function visitorsAllowed({ channel, server }: Decisions): boolean {
  return channel.visitors ?? server.visitors ?? false;
}

/** The channel decides before the server, and a command's own rule before the one for all. */
function ruleFor(command: string, { channel, server }: Decisions): AccessRule | undefined {
  return [channel.access, server.access].flatMap((access) => saidOf(command, access))[0];
}

/** No rule lets those in again who are barred by name. */
function barredFrom(command: string, { channel, server }: Decisions): readonly Subject[] {
  return [channel.barred, server.barred].flatMap((barred) => saidOf(command, barred)).flat();
}

function saidOf<Said>(command: string, said: Readonly<Record<string, Said>>): Said[] {
  return [command, ALL_COMMANDS].flatMap((name) =>
    Object.entries(said).flatMap(([known, value]) => (known === name ? [value] : [])),
  );
}

function passes({ everyone, roles, people }: AccessRule, person: Person): boolean {
  return everyone || [...roles, ...people].some((subject) => isMeant(subject, person));
}

export function isMeant({ type, id }: Subject, person: Pick<Person, 'id' | 'roles'>): boolean {
  return type === 'person' ? id === person.id : id === EVERYONE.id || person.roles.includes(id);
}

function refusal(command: string, { roles, people }: AccessRule): string {
  const named = roles.map(({ name }) => name).filter((name) => name !== undefined);
  if (roles.length + people.length === 0) return `Moderators have switched /${command} off here.`;
  if (named.length > 0) return `Here /${command} is for ${named.join(', ')} only.`;
  return `Here /${command} is only for people whom moderators have named.`;
}

function isServed({ platform, guild }: Address, served: readonly string[]): boolean {
  // The terminal and the chat in the browser are the operator's own.
  if (served.length === 0 || platform === 'terminal' || platform === 'web') return true;
  if (guild === undefined) return served.includes('direct');
  return served.includes(guild) || served.includes(`${platform}:${guild}`);
}
