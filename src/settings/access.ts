/** Who may use what: asked at every door, before anything else is done. */
import type { Address, AnyCommand, Person } from '../command.ts';
import { UserError } from '../errors.ts';
import type { AccessRule, Subject } from '../moderation.ts';
import type { DecisionStore, Decisions } from './decisions.ts';

/** In rules: every command. */
export const ALL_COMMANDS = 'all';

/** What the operator lets the deployment serve, as `platform:id` or as a bare id; `direct` lets direct messages in. */
export type ServedServers = readonly string[];

export interface Asking {
  readonly command: string;
  readonly address: Address;
  readonly person: Person;
}

export interface AccessOptions {
  readonly decisions: DecisionStore;
  /** Empty: all. */
  readonly served: ServedServers;
  readonly commands: readonly Pick<AnyCommand, 'name' | 'moderatorsOnly' | 'alwaysAllowed'>[];
}

/** Lets a person in, as who they are here (who was named a moderator is one), or throws UserError with the reason. */
export type Admit = (asking: Asking) => Promise<Person>;

export function createAccess({ decisions, served, commands }: AccessOptions): Admit {
  const named = (property: 'moderatorsOnly' | 'alwaysAllowed') =>
    new Set(commands.filter((command) => command[property]).map(({ name }) => name));
  const moderatorsOnly = named('moderatorsOnly');
  const alwaysAllowed = named('alwaysAllowed');
  return async ({ command, address, person }) => {
    if (!isServed(address, served)) {
      throw new UserError('Whoever runs this bot has not opened it to this place. Please ask them.');
    }
    const settings = await decisions.read(address);
    if (person.moderator || settings.server.moderators.some((subject) => isMeant(subject, person))) {
      return { ...person, moderator: true };
    }
    if (moderatorsOnly.has(command)) throw new UserError(`Only moderators may use /${command}.`);
    if (alwaysAllowed.has(command)) return person;
    if (settings.server.blocked.some((subject) => isMeant(subject, person))) {
      throw new UserError('A moderator has blocked you from using me here. Please talk to the moderators.');
    }
    const rule = ruleFor(command, settings);
    if (rule && !passes(rule, person)) throw new UserError(refusal(command, rule));
    return person;
  };
}

/** The channel decides before the server, and a command's own rule before the one for all. */
function ruleFor(command: string, { channel, server }: Decisions): AccessRule | undefined {
  return (
    own(channel.access, command) ??
    own(channel.access, ALL_COMMANDS) ??
    own(server.access, command) ??
    own(server.access, ALL_COMMANDS)
  );
}

function own(rules: Readonly<Record<string, AccessRule>>, command: string): AccessRule | undefined {
  return Object.hasOwn(rules, command) ? rules[command] : undefined;
}

function passes({ everyone, roles, people }: AccessRule, person: Person): boolean {
  return everyone || [...roles, ...people].some((subject) => isMeant(subject, person));
}

export function isMeant({ type, id }: Subject, person: Pick<Person, 'id' | 'roles'>): boolean {
  return type === 'person' ? id === person.id : person.roles.includes(id);
}

function refusal(command: string, { roles, people }: AccessRule): string {
  const named = roles.map(({ name }) => name).filter((name) => name !== undefined);
  if (roles.length + people.length === 0) return `Moderators have switched /${command} off here.`;
  if (named.length > 0) return `Here /${command} is for ${named.join(', ')} only.`;
  return `Here /${command} is only for people whom moderators have named.`;
}

function isServed({ platform, guild }: Address, served: ServedServers): boolean {
  // A terminal is the operator's own.
  if (served.length === 0 || platform === 'terminal') return true;
  if (guild === undefined) return served.includes('direct');
  return served.includes(guild) || served.includes(`${platform}:${guild}`);
}
