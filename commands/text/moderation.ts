/** Texts about settings, limits and access rules. */
import type { Context } from '../../src/core/bot/context.ts';
import { serverOf, serverWord } from '../../src/core/invocation.ts';
import { type Button, type Field, type Message, plain } from '../../src/core/message.ts';
import { FAMILY_NOUNS } from '../../src/core/models/family.ts';
import {
  ALL,
  type AnswersInForce,
  EVERYONE,
  type LimitInForce,
  MODERATION,
  type ModelInForce,
  type Origin,
  type PagesInForce,
  type RuleName,
  type RuleReport,
  type ScopeAddress,
  scopeText,
  TALK_QUESTIONS,
  type Where,
} from '../../src/core/moderation.ts';
import { amount, capitalised } from '../../src/core/util/words.ts';
import { formControl, runControl, subjectCode } from './controls.ts';
import { shortened } from './phrases.ts';

export function onOrOff({ on }: { readonly on: boolean }): string {
  return on ? 'on' : 'off';
}

export function originReason(from: Origin, at: ScopeAddress): string {
  switch (from) {
    case 'channel':
    case 'server':
      return scopeText(from, at);
    case 'deployment':
    case 'none':
      return 'default';
    default:
      return from satisfies never;
  }
}

/** The model of a family, who chose it, and choices whose model is no longer available. */
export function modelField(
  { family, model, from, chosenBy, unavailable }: ModelInForce,
  at: ScopeAddress,
): Field {
  const by = chosenBy ? `, by ${chosenBy.displayName}` : '';
  const warnings = unavailable.map(
    (choice) => `\n⚠️ ${choice.model} (${originReason(choice.from, at)}) is no longer available to this bot.`,
  );
  const value = model === undefined ? 'not set' : `${model} (${originReason(from, at)}${by})`;
  return { name: `${capitalised(FAMILY_NOUNS[family].one)} model`, value: `${value}${warnings.join('')}` };
}

/** In characters. The form shows the whole prompt. */
const LONGEST_PROMPT = 500;

/** Explains channels where every message is a question. */
export const TALK_DETAILS = `Each answer starts a thread. I ignore replies to other people and messages that mention someone else. By default, each person gets ${TALK_QUESTIONS} answers an hour. To change this, use /limits set what:ask per:hour most:10.`;

export function answerFields(
  { systemPrompt, assistant, footer, talk }: AnswersInForce,
  at: ScopeAddress,
): Field[] {
  const flagText = (flag: AnswersInForce['footer']) => `${onOrOff(flag)} (${originReason(flag.from, at)})`;
  const { text = '', from = 'none' } = systemPrompt ?? {};
  const prompt = text.length <= LONGEST_PROMPT ? text : shortened(text, LONGEST_PROMPT);
  return [
    { name: 'System prompt', value: prompt === '' ? 'none' : `${prompt} (${originReason(from, at)})` },
    { name: 'Answers use commands', value: flagText(assistant) },
    { name: 'Model and tokens shown', value: flagText(footer) },
    ...(serverOf(at) === undefined ? [] : [{ name: 'Answer every message', value: onOrOff({ on: talk }) }]),
  ];
}

const pagesDefault = ({ on }: PagesInForce): string =>
  on ? 'everyone can read this channel' : "this channel is private, or I can't tell whether it is";

const arePagesSet = ({ from }: PagesInForce) => from === 'channel' || from === 'server';

/** States whether songs have pages, and why. */
export function pagesText(pages: PagesInForce, at: ScopeAddress): string {
  const reason = arePagesSet(pages)
    ? `, set for ${originReason(pages.from, at)}`
    : ` because ${pagesDefault(pages)}`;
  return `Pages are ${onOrOff(pages)}${reason}.`;
}

/** States the same as a field. */
export function pagesField(pages: PagesInForce, at: ScopeAddress): Field {
  const reason = arePagesSet(pages) ? originReason(pages.from, at) : pagesDefault(pages);
  return { name: 'Song pages', value: `${onOrOff(pages)} (${reason})` };
}

const MOST_LISTED = 10;

/** Names channels that override a server setting, or returns an empty text. `channels` are plain. */
export function overridesText(channels: readonly string[]): string {
  if (channels.length === 0) return '';
  const listed = channels.slice(0, MOST_LISTED).map(plain);
  const more = channels.length > listed.length ? ` and ${channels.length - listed.length} more` : '';
  return ` These channels have their own settings: ${listed.join(', ')}${more}.`;
}

function precedence(at: ScopeAddress): string {
  return `Channel rules override ${serverWord(at)} rules, and rules for a person override rules for a role.`;
}

/** All limits and access rules here, with current usage. */
export async function limitsMessage({ inForce }: Context, at: ScopeAddress): Promise<Message> {
  const { limits, exemptions, rules, paused } = await inForce.rules();
  const to = (subcommand: string) => ({ command: 'limits', subcommand });
  return {
    title: 'Limits and access here',
    actions: [
      ...formControl(to('set'), 'Set a limit'),
      ...formControl(to('allow'), 'Allow a command'),
      ...formControl(to('deny'), 'Deny a command'),
      ...formControl(to('reset'), 'Remove a rule'),
      ...runControl(to('report'), 'Usage'),
      ...(paused ? runControl(to('resume'), 'Resume') : []),
    ],
    text: [
      ...(paused ? ["**Paused**: I'm not starting new jobs. To continue, use /limits resume."] : []),
      ...section(
        'Limits',
        [...limits.map((limit) => limitLine(limit, at)), ...exemptions.map(plain)],
        'There are no limits.',
      ),
      ...section(
        'Access',
        rules.map(plain),
        'There are no rules, so members can use all commands except those for moderators.',
      ),
      "Access rules don't apply to moderators.",
    ].join('\n\n'),
    footer: precedence(at),
  };
}

function section(title: string, lines: readonly string[], emptyText: string): string[] {
  return [`**${title}**`, lines.length === 0 ? emptyText : list(lines.map(capitalised))];
}

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

const SHARED: ReadonlySet<string> = new Set(['channel', 'server', 'deployment']);

function limitLine({ sentence, from, used, most, who, scope }: LimitInForce, at: ScopeAddress): string {
  const count = `${amount(used)} of ${amount(most)}`;
  const usage = SHARED.has(scope) ? `${count} used` : `you have used ${count}`;
  const origin =
    from === 'deployment'
      ? 'set by the operator'
      : from === 'default'
        ? `the default in ${scopeText('channel', at)}`
        : originReason(from, at);
  // The sentence of a limit for the channel names it.
  return `${plain(sentence)}${from === 'channel' ? '' : ` (${origin})`}${who === undefined ? `: ${usage}` : ''}`;
}

interface RuleChange {
  readonly report: RuleReport;
  readonly at: ScopeAddress;
  /** The subcommand that made the change; its form can change it again. */
  readonly by: 'set' | 'allow' | 'deny' | 'reset';
  readonly hint?: string | undefined;
  /** The rules that were removed. */
  readonly removed?: readonly string[];
}

/** States which rules apply after a change, with buttons to change or undo it. */
export function changeMessage(
  name: RuleName,
  where: Where,
  { report: { now, related, channels }, at, by, hint, removed }: RuleChange,
): Message {
  const isContested = related.length + channels.length > 0;
  const listed = related.slice(0, MOST_LISTED).map(plain);
  const more = related.length > listed.length ? [`and ${related.length - listed.length} more`] : [];
  const removedLines =
    removed === undefined
      ? []
      : removed.length === 0
        ? ['There was nothing to remove.']
        : [`Removed: ${plain(removed.join('; '))}.`];
  return {
    text: [
      ...removedLines,
      ...now.map(plain),
      ...(hint === undefined ? [] : [hint]),
      ...(listed.length > 0 ? [`Related rules:\n${list([...listed, ...more])}`] : []),
      ...(channels.length > 0 ? [overridesText(channels).trim()] : []),
    ].join('\n\n'),
    ...(isContested && { footer: precedence(at) }),
    actions: ruleButtons(name, where, { at, by }),
  };
}

function undoLabel(by: RuleChange['by'], { what, who }: RuleName): string {
  if (by === 'set') return 'Remove this limit';
  const isCommand = what !== ALL && what !== MODERATION;
  return by === 'deny' && who === EVERYONE && isCommand ? `Allow /${what} again` : 'Remove this rule';
}

function ruleButtons(
  { what, who }: RuleName,
  where: Where,
  { at, by }: Pick<RuleChange, 'at' | 'by'>,
): Button[] {
  const options = { what, who: who === EVERYONE ? undefined : subjectCode(who), where };
  const change = { command: 'limits', subcommand: by, options };
  const showAll = runControl({ command: 'limits', subcommand: 'show' }, 'Show all');
  if (by === 'reset') return showAll;
  // Slack's menu of people has no roles.
  const canChange = who === EVERYONE || who.type === 'person' || at.platform !== 'slack';
  return [
    ...(canChange ? formControl(change, 'Change') : []),
    ...runControl({ ...change, subcommand: 'reset' }, undoLabel(by, { what, who })),
    ...showAll,
  ];
}
