/** Limits and access, in words. */
import type { Context } from '../src/command.ts';
import { type Message, plain } from '../src/message.ts';
import type { AccessInForce, AccessRule, LimitInForce, Where } from '../src/moderation.ts';
import { amount, because, here, nameOf } from './moderation-text.ts';

/** Everything that is decided here, with what is used of it. */
export async function limitsMessage({ moderation }: Context): Promise<Message> {
  const [limits, access] = await Promise.all([moderation.limits.inForce(), moderation.access.inForce()]);
  return {
    title: 'Limits and access here',
    text: [
      ...section('Limits', limits.map(limitLine), 'Nothing is limited.'),
      ...section('Who may use what', accessLines(access), 'Everybody may use everything.'),
    ].join('\n\n'),
    footer: 'Used is what counts for you now, or for all together. /limits report tells who used what.',
  };
}

function section(title: string, lines: readonly string[], empty: string): string[] {
  return [`**${title}**`, lines.length === 0 ? empty : lines.map((line) => `- ${line}`).join('\n')];
}

function limitLine({ sentence, from, used, of, who }: LimitInForce): string {
  const counted = who === undefined ? `: ${amount(used)} ${of} used` : '';
  return `${plain(sentence)} (${from === 'deployment' ? 'set by whoever runs this bot' : because(from)})${counted}`;
}

function accessLines(access: AccessInForce): string[] {
  const rules = (['channel', 'server'] as const).flatMap((where) =>
    Object.entries(access[where]).map(
      ([name, rule]) =>
        `${name === 'all' ? 'all commands' : `/${name}`} in ${here(where)}: ${ruleText(rule)}`,
    ),
  );
  const named = (title: string, subjects: AccessInForce['blocked']) =>
    subjects.length === 0 ? [] : [`${title}: ${subjects.map(nameOf).join(', ')}`];
  return [
    ...rules,
    ...named('blocked', access.blocked),
    ...named('moderators of this bot, beside the server’s own', access.moderators),
    ...(access.exemptModerators ? ['moderators are exempt from the limits set here'] : []),
  ];
}

function ruleText({ everyone, roles, people }: AccessRule): string {
  if (everyone) return 'everyone';
  const named = [...roles, ...people].map(nameOf);
  return named.length === 0 ? 'nobody' : named.join(', ');
}

/** What holds for a command after it was changed. */
export async function ruleSentence(
  typed: string,
  where: Where,
  moderation: Context['moderation'],
): Promise<string> {
  const name = typed.trim().replace(/^\//, '').toLowerCase();
  const rule = (await moderation.access.inForce())[where][name];
  const what = name === 'all' ? 'all commands' : `/${name}`;
  return `In ${here(where)}, ${plain(what)} ${name === 'all' ? 'are' : 'is'} now for: ${rule ? ruleText(rule) : 'everyone'}. Moderators may always.`;
}
