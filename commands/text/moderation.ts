/** What moderators decided, in words. */
import type { Context } from '../../src/core/bot/context.ts';
import { type Address, serverWord } from '../../src/core/invocation.ts';
import { counted, type Message, plain } from '../../src/core/message.ts';
import {
  EVERYONE,
  type LimitInForce,
  type Origin,
  type PagesInForce,
  placeText,
  type RuleName,
  type RuleReport,
  type Where,
} from '../../src/core/moderation.ts';

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
export async function limitsMessage({ moderation }: Context, at: Somewhere): Promise<Message> {
  const { limits, rules, paused } = await moderation.rules.inForce();
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
