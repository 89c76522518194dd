/** What moderators decided, in words. */
import type { Context } from '../../src/core/bot/context.ts';
import { FAMILY_NOUNS } from '../../src/core/family.ts';
import { type Address, serverOf, serverWord } from '../../src/core/invocation.ts';
import { type Field, type Message, plain } from '../../src/core/message.ts';
import {
  type AnswersInForce,
  EVERYONE,
  type LimitInForce,
  type ModelInForce,
  type Origin,
  type PagesInForce,
  placeText,
  type RuleName,
  type RuleReport,
  TALK_QUESTIONS,
  type Where,
} from '../../src/core/moderation.ts';
import { counted } from '../../src/core/util/words.ts';
import { shortened } from './phrases.ts';

type Somewhere = Pick<Address, 'platform'>;

export function onOrOff({ on }: { readonly on: boolean }): string {
  return on ? 'on' : 'off';
}

export function because(from: Origin, at: Somewhere): string {
  switch (from) {
    case 'channel':
    case 'server':
      return `chosen for ${placeText(from, at)}`;
    case 'deployment':
      return 'the default of whoever runs this bot';
    case 'none':
      return 'nobody has chosen';
    default:
      return from satisfies never;
  }
}

/** The model of a family, who chose it, and choices that would hold if their model was still there. */
export function modelField({ family, model, from, chosenBy, gone }: ModelInForce, at: Somewhere): Field {
  const by = chosenBy ? ` by ${chosenBy.displayName}` : '';
  const lost = gone.map(
    (choice) => `\n⚠️ ${choice.model}, ${because(choice.from, at)}, is not offered to this bot any more.`,
  );
  const value = `${model === undefined ? '' : `${model}, `}${because(from, at)}${by}${lost.join('')}`;
  return { name: FAMILY_NOUNS[family].title, value };
}

/** Characters of a prompt that are shown; its form has it whole. */
const PROMPT_SHOWN = 500;

const TALK_DETAILS = `. Each message is answered in its own thread. Replies, and messages that name somebody else, are left alone. Each person may ask ${TALK_QUESTIONS} times an hour; /limits set with what:ask and per:hour sets another limit.`;

/** How questions are answered. */
export function answerFields(
  { systemPrompt, assistant, footer, talk }: AnswersInForce,
  at: Pick<Address, 'platform' | 'guild' | 'direct'>,
): Field[] {
  const decided = (flag: AnswersInForce['footer'], meaning: string) =>
    `${onOrOff(flag)}, ${because(flag.from, at)} (${meaning})`;
  const { text = '', from = 'none' } = systemPrompt ?? {};
  const prompt = text.length <= PROMPT_SHOWN ? text : shortened(text, PROMPT_SHOWN);
  const talking = `${onOrOff({ on: talk })} (every message in this channel is a question)`;
  return [
    { name: 'System prompt', value: prompt === '' ? 'none' : `${prompt} (${because(from, at)})` },
    { name: 'Assistant', value: decided(assistant, 'questions may use the bot’s own commands') },
    { name: 'Footer', value: decided(footer, 'model and tokens under an answer') },
    ...(serverOf(at) === undefined ? [] : [{ name: 'Talk', value: `${talking}${talk ? TALK_DETAILS : ''}` }]),
  ];
}

/** Whether songs have pages, and why. */
export function pagesText(pages: PagesInForce, at: Somewhere): string {
  if (pages.from === 'channel' || pages.from === 'server')
    return `Pages are ${onOrOff(pages)}, chosen for ${placeText(pages.from, at)}.`;
  return pages.on
    ? 'Pages are on, because everybody can read this channel.'
    : 'Pages are off, because this is private, or I cannot tell whether everybody can read this channel.';
}

/** Channels or rules that are listed. */
const MOST_LISTED = 10;

/** A sentence to follow what was said of a server; empty where no channel has a choice of its own. `channels` are plain. */
export function ownChoiceWins(channels: readonly string[]): string {
  if (channels.length === 0) return '';
  const listed = channels.slice(0, MOST_LISTED).map(plain);
  const more = channels.length > listed.length ? ` and ${channels.length - listed.length} more` : '';
  return ` Their own choice still wins in ${listed.join(', ')}${more}.`;
}

/** The rule of precedence, in one sentence. */
function precedence(at: Somewhere): string {
  const server = serverWord(at);
  return `A channel’s rules win over the ${server}’s, and in each a person’s over a role’s over everyone’s; but a channel never loosens what the ${server} decided for somebody more specifically.`;
}

/** Everything that is decided here, with what is used of it. */
export async function limitsMessage({ inForce }: Context, at: Somewhere): Promise<Message> {
  const { limits, rules, paused } = await inForce.rules();
  return {
    title: 'Limits and access here',
    text: [
      ...(paused ? ['**Paused**: I take no new requests here until /limits resume.'] : []),
      ...section(
        'Limits',
        limits.map((limit) => limitLine(limit, at)),
        'Nothing is limited.',
      ),
      ...section('Who may use what', rules.map(plain), 'Everybody may use everything.'),
      'Moderators may use everything. /limits report shows who used what.',
    ].join('\n\n'),
    footer: precedence(at),
  };
}

function section(title: string, lines: readonly string[], empty: string): string[] {
  return [`**${title}**`, lines.length === 0 ? empty : list(lines)];
}

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

const UNITS = { requests: 'request', units: 'unit' } as const;

function limitLine({ sentence, from, used, of, who }: LimitInForce, at: Somewhere): string {
  const usedNow = who === undefined ? `: ${counted(used, UNITS[of])} used` : '';
  return `${plain(sentence)} (${from === 'deployment' ? 'set by whoever runs this bot' : because(from, at)})${usedNow}`;
}

interface RuleChange {
  readonly report: RuleReport;
  readonly at: Somewhere;
  readonly hint?: string | undefined;
  /** What was taken back; absent where something was set. */
  readonly removed?: readonly string[];
}

/** What applies after a rule was changed, why, and how to undo it. */
export function changeMessage(
  name: RuleName,
  where: Where,
  { report: { now, related, channels }, at, hint, removed }: RuleChange,
): Message {
  const isContested = related.length + channels.length > 0;
  const footer = [
    ...(isContested ? [precedence(at)] : []),
    ...(removed === undefined ? [`Undo: ${undo(name, where, at)}`] : []),
  ].join(' ');
  const listed = related.slice(0, MOST_LISTED).map(plain);
  const more = related.length > listed.length ? [`and ${related.length - listed.length} more`] : [];
  const tookBack =
    removed === undefined
      ? []
      : removed.length === 0
        ? ['There was nothing to take back.']
        : [`Taken back: ${plain(removed.join('; '))}.`];
  return {
    text: [
      ...tookBack,
      ...now.map(plain),
      ...(hint === undefined ? [] : [hint]),
      ...(listed.length > 0 ? [`Related rules:\n${list([...listed, ...more])}`] : []),
      ...(channels.length > 0 ? [ownChoiceWins(channels).trim()] : []),
    ].join('\n\n'),
    ...(footer !== '' && { footer }),
  };
}

function undo({ what, who }: RuleName, where: Where, at: Somewhere): string {
  const whom = who === EVERYONE ? '' : ` who:@${who.name ?? who.id}`;
  return `/limits reset what:${what}${whom}${where === 'server' ? ` where:${serverWord(at)}` : ''}`;
}
