/** What moderators decided, in words. */
import type { Context } from '../../src/core/bot/context.ts';
import { type Address, serverWord } from '../../src/core/invocation.ts';
import { counted, type Message, plain } from '../../src/core/message.ts';
import {
  type AccessInForce,
  type AccessRule,
  type CommandAccess,
  EVERYONE,
  type LimitInForce,
  type Origin,
  type Subject,
  type Where,
} from '../../src/core/moderation.ts';

export function nameOf({ name, id, type }: Subject): string {
  return plain(name ?? (type === 'role' ? `the role ${id}` : id));
}

type Somewhere = Pick<Address, 'platform'>;

export function here(where: Where, at: Somewhere): string {
  return `this ${where === 'server' ? serverWord(at) : where}`;
}

export function onOrOff({ on }: { readonly on: boolean }): string {
  return on ? 'on' : 'off';
}

export function because(from: Origin, at: Somewhere): string {
  switch (from) {
    case 'channel':
    case 'server':
      return `chosen for ${here(from, at)}`;
    case 'deployment':
      return 'the default of whoever runs this bot';
    case 'none':
      return 'nobody has chosen';
    default:
      return from satisfies never;
  }
}

/** Channels that are named in a sentence. */
const MOST_LISTED = 10;

/** A sentence to follow what was said of a server; empty where no channel has a choice of its own. `channels` are plain. */
export function ownChoiceWins(channels: readonly string[]): string {
  if (channels.length === 0) return '';
  const listed = channels.slice(0, MOST_LISTED).map(plain);
  const more = channels.length > listed.length ? ` and ${channels.length - listed.length} more` : '';
  return ` Their own choice still wins in ${listed.join(', ')}${more}.`;
}

/** Everything that is decided here, with what is used of it. */
export async function limitsMessage({ moderation }: Context, at: Somewhere): Promise<Message> {
  const [limits, access] = await Promise.all([moderation.limits.inForce(), moderation.access.inForce()]);
  return {
    title: 'Limits and access here',
    text: [
      ...(access.paused ? ['**Paused**: nothing new is made here until /limits resume.'] : []),
      ...section(
        'Limits',
        limits.map((limit) => limitLine(limit, at)),
        'Nothing is limited.',
      ),
      ...section('Who may use what', accessLines(access, at), 'Everybody may use everything.'),
    ].join('\n\n'),
    footer: 'Used is what counts for you now, or for all together. /limits report tells who used what.',
  };
}

function section(title: string, lines: readonly string[], empty: string): string[] {
  return [`**${title}**`, lines.length === 0 ? empty : lines.map((line) => `- ${line}`).join('\n')];
}

const UNITS = { requests: 'request', units: 'unit' } as const;

function limitLine({ sentence, from, used, of, who }: LimitInForce, at: Somewhere): string {
  const usedNow = who === undefined ? `: ${counted(used, UNITS[of])} used` : '';
  return `${plain(sentence)} (${from === 'deployment' ? 'set by whoever runs this bot' : because(from, at)})${usedNow}`;
}

function accessLines(access: AccessInForce, at: Somewhere): string[] {
  const rules = (['channel', 'server'] as const).flatMap((where) =>
    Object.entries(access[where]).map(
      ([name, rule]) => `${commandText(name)} in ${here(where, at)}: ${ruleText(rule)}`,
    ),
  );
  const named = (title: string, subjects: AccessInForce['blocked']) =>
    subjects.length === 0 ? [] : [`${title}: ${subjects.map(nameOf).join(', ')}`];
  const barred = (['channel', 'server'] as const).flatMap((where) =>
    Object.entries(access.barred[where]).map(
      ([name, subjects]) =>
        `${commandText(name)} in ${here(where, at)}: not ${subjects.map(nameOf).join(', ')}`,
    ),
  );
  return [
    ...rules,
    ...barred,
    ...named('blocked', access.blocked),
    ...named(`moderators of this bot, beside the ${serverWord(at)}’s own`, access.moderators),
    ...(access.visitors ? ['people of other workspaces that share a channel are served'] : []),
    ...(access.exemptModerators ? ['moderators are exempt from the limits set here'] : []),
  ];
}

function commandText(name: string): string {
  return name === 'all' ? 'all commands' : `/${name}`;
}

const NO_ONE = 'nobody';

function ruleText({ everyone, roles, people }: AccessRule): string {
  if (everyone) return EVERYONE.name;
  return [...roles, ...people].map(nameOf).join(', ') || NO_ONE;
}

/** What holds for a command after it was changed. */
export function ruleSentence(
  { command, said, barred, named, others }: CommandAccess,
  where: Where,
  at: Somewhere,
): string {
  const forWhom = said ? ruleText(said.rule) : EVERYONE.name;
  const but = barred.length > 0 && forWhom !== NO_ONE ? `, but not for ${barred.map(nameOf).join(', ')}` : '';
  const origin = said && said.from !== where ? `, as the rule of ${here(said.from, at)} says` : '';
  const still =
    named.length > 0
      ? ` What was said of ${named.map((name) => plain(`/${name}`)).join(', ')} by name still holds.`
      : '';
  return `In ${here(where, at)}, ${plain(commandText(command))} ${command === 'all' ? 'are' : 'is'} now for: ${forWhom}${but}${origin}. Moderators may always.${still}${ownChoiceWins(others)}`;
}
