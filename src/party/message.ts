/** The message of a party: the current song, its requester, and the next songs. */
import { actionId, type Button, type MediaItem, type Message, plain } from '../core/message.ts';
import type { Party } from '../core/music/party.ts';
import { duration } from '../core/util/words.ts';
import { votesNeeded } from './events.ts';

const STEPS = 16;
/** For songs of unknown length. */
const UNKNOWN_STEP_SECONDS = 15;
const MOST_NEXT = 3;

export interface PartyDisplay {
  /** Position in the song. */
  readonly seconds: number;
  /** False in the audience of a stage. */
  readonly isSpeakable: boolean;
  /** Undefined if the platform has not reported them yet. */
  readonly listeners: readonly string[] | undefined;
  /** The line being sung, as plain text. */
  readonly line?: string | undefined;
  readonly cover?: MediaItem | undefined;
  /** The song's page. */
  readonly page?: string | undefined;
}

export function partyMessage(party: Party, shown: PartyDisplay): Message {
  const { current } = party;
  const controls = ['pause', 'skip', 'stop', 'queue'] as const;
  if (!current)
    return {
      title: 'Nothing is playing',
      text: "Queue a song with /party play. If the queue stays empty for two minutes, I'll leave.",
      actions: [control('stop', 'Stop')],
    };
  const { line, cover, page, seconds } = shown;
  const { title, hint } = stateOf(party, shown);
  const lyric = line && !hint ? `♪ *${plain(line)}*` : undefined;
  return {
    title: `${title}: ${current.title}`,
    titleUrl: page,
    text: [progress(seconds, current.seconds), hint ?? lyric]
      .filter((part) => part !== undefined)
      .join('\n\n'),
    fields: [
      current.by
        ? { name: 'Queued by', value: current.by.displayName }
        : { name: 'Chosen by', value: 'Radio' },
      ...nextOf(party),
      ...(party.loop === 'off' ? [] : [{ name: 'Repeating', value: `the ${party.loop}` }]),
    ],
    media: cover ? [cover] : [],
    actions: controls.map((name) => control(name, labelOf(name, party, shown.listeners))),
  };
}

/** Returns the prefix of the song's title, and a hint if it is silent. */
function stateOf(
  { paused }: Party,
  { isSpeakable, listeners }: Pick<PartyDisplay, 'isSpeakable' | 'listeners'>,
): { readonly title: string; readonly hint?: string } {
  if (paused) return { title: 'Paused' };
  if (!isSpeakable)
    return { title: 'Waiting', hint: "I'm in the audience. Invite me to speak, and I'll start." };
  if (listeners?.length === 0)
    return { title: 'Waiting', hint: "Nobody is listening. I'll leave in two minutes." };
  return { title: 'Now playing' };
}

/** The message after the end of a party. */
export const overMessage = (sentence: string, { isShown }: { readonly isShown: boolean }): Message => ({
  title: isShown ? 'The party is over' : "The party couldn't start",
  text: sentence,
});

function labelOf(
  name: 'pause' | 'skip' | 'stop' | 'queue',
  { paused, votes, queue }: Party,
  listeners: readonly string[] | undefined,
): string {
  switch (name) {
    case 'pause':
      return paused ? 'Resume' : 'Pause';
    case 'skip':
      return votes.length > 0 && listeners
        ? `Skip (${votes.length} of ${votesNeeded(listeners.length)} votes)`
        : 'Skip';
    case 'stop':
      return 'Stop';
    case 'queue':
      return queue.length === 0 ? 'Queue' : `Queue (${queue.length})`;
    default:
      return name satisfies never;
  }
}

function control(action: string, label: string): Button {
  return { type: 'action', id: actionId({ command: 'party', action, job: 'now', index: 0 }), label };
}

/** One song a line, so that this field is shown below shorter ones. */
function nextOf({ queue, radio }: Party): { name: string; value: string }[] {
  if (queue.length === 0) return radio ? [{ name: 'Up next', value: 'A song chosen by the radio' }] : [];
  const names = queue.slice(0, MOST_NEXT).map(({ title }) => title);
  const more = queue.length > names.length ? [`and ${queue.length - names.length} more`] : [];
  return [{ name: 'Up next', value: [...names, ...more].join('\n') }];
}

/** As `━━━●────────── 0:40 of 3:05`; in steps of a few seconds, to keep edits rare. */
function progress(seconds: number, length: number | undefined): string {
  if (length === undefined || length <= 0)
    return duration(Math.floor(seconds / UNKNOWN_STEP_SECONDS) * UNKNOWN_STEP_SECONDS);
  const step = Math.min(STEPS - 1, Math.floor((seconds / length) * STEPS));
  const at = Math.floor((step * length) / STEPS);
  return `${'━'.repeat(step)}●${'─'.repeat(STEPS - 1 - step)} ${duration(at)} of ${duration(Math.floor(length))}`;
}
