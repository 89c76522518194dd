/** Who may use what. Every invocation is checked before anything else is done. */
import type { Admission } from '../../core/bot/bot.ts';
import type { AnyCommand } from '../../core/bot/command.ts';
import { notModerator, refusedByDecision, UserError } from '../../core/errors.ts';
import { type Address, type Invocation, type Person, serverOf } from '../../core/invocation.ts';
import {
  type AccessRule,
  type CommandAccess,
  EVERYONE,
  type Subject,
  type Where,
} from '../../core/moderation.ts';
import type { DecisionStore, Decisions, KeptSettings } from '../decisions.ts';
import { isSameSubject } from './changes.ts';

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
      throw refusedByDecision(
        'You belong to another workspace, and I serve those people here only where a moderator of this one allows it, with /limits visitors.',
      );
    if (person.visitor === 'unknown' && serverOf(address) !== undefined && !visitorsAllowed(settings))
      throw new UserError(
        'I could not check in time whether you belong to this workspace. Nothing was spent; please try again in a moment.',
      );
    if (settings.server.blocked.some((subject) => isMeant(subject, person))) {
      throw refusedByDecision(
        'A moderator has blocked you from using me here. Please talk to the moderators.',
      );
    }
    if (barredFrom(command, settings).some((subject) => isMeant(subject, person))) {
      throw refusedByDecision(
        `A moderator has barred you from /${command} here. Please talk to the moderators.`,
      );
    }
    const said = ruleFor(command, settings);
    if (said && !passes(said.rule, person)) throw notModerator(person, refusal(command, said.rule));
    return { person, settings };
  };
}

/** Whether people of other workspaces that share the channel are served: not, unless moderators allowed it. */
export function visitorsAllowed({ channel, server }: Decisions): boolean {
  return channel.visitors ?? server.visitors ?? false;
}

/** What holds in a channel, and in a server as far as its channels decide nothing; what comes first wins. */
const LEVELS = { channel: ['channel', 'server'], server: ['server'] } as const satisfies Record<
  Where,
  readonly Where[]
>;

/** The channel decides before the server, and a command's own rule before the one for all. */
function ruleFor(command: string, settings: Decisions, where: Where = 'channel'): CommandAccess['said'] {
  return LEVELS[where].flatMap((from) =>
    saidOf(command, settings[from].access).map((rule) => ({ rule, from })),
  )[0];
}

/** No rule lets those in again who are barred by name. */
function barredFrom(command: string, settings: Decisions, where: Where = 'channel'): readonly Subject[] {
  return LEVELS[where].flatMap((level) => saidOf(command, settings[level].barred)).flat();
}

/** What is in force for a command, or for all of them. */
export function accessTo(command: string, where: Where, settings: Decisions): Omit<CommandAccess, 'others'> {
  const said = ruleFor(command, settings, where);
  const barred = barredFrom(command, settings, where);
  return {
    command,
    ...(said && { said }),
    barred: barred.filter((subject, at) => barred.findIndex((one) => isSameSubject(one, subject)) === at),
    named: command === ALL_COMMANDS ? namedBesideAll(said, where, settings) : [],
  };
}

/** A channel's rule for all wins over what the server says of one command, but not over whom it bars from it. */
function namedBesideAll(
  said: CommandAccess['said'],
  where: Where,
  settings: Decisions,
): CommandAccess['named'] {
  const rules = said?.from === 'channel' ? [said.from] : LEVELS[where];
  const names = [
    ...rules.flatMap((level) => Object.keys(settings[level].access)),
    ...LEVELS[where].flatMap((level) => Object.keys(settings[level].barred)),
  ];
  return [...new Set(names)].filter((name) => name !== ALL_COMMANDS).toSorted();
}

/** Whether a channel said something of a command, or of all, that wins over the server's. */
export function decidesAccess(command: string, { access, barred }: KeptSettings): boolean {
  const said = { ...access, ...barred };
  return command === ALL_COMMANDS ? Object.keys(said).length > 0 : saidOf(command, said).length > 0;
}

/** Throws UserError when the subject stays barred however the command is allowed there. */
export function assertNotBarredElsewhere(
  command: string,
  who: Subject,
  where: Where,
  settings: Decisions,
): void {
  for (const level of LEVELS[where]) {
    for (const name of new Set([command, ALL_COMMANDS])) {
      const isLifted = level === where && name === command;
      const barred = Object.hasOwn(settings[level].barred, name) ? settings[level].barred[name] : undefined;
      if (isLifted || !barred?.some((subject) => isSameSubject(subject, who))) continue;
      const called = who.name ?? who.id;
      const what = name === ALL_COMMANDS ? 'all commands' : `/${name}`;
      throw new UserError(
        `${called} is barred from ${what} by a decision for ${level === 'server' ? 'all channels' : 'this channel'}, and stays so whatever else is allowed. To take that back: /limits allow command:${name} who:@${called} where:${level}`,
        'who',
      );
    }
  }
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
