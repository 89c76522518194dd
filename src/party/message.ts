/** The message of a party: what is heard now, who asked for it, what comes next. */
import {
  actionId,
  type Button,
  type KeptFile,
  type MediaItem,
  type Message,
  plain,
} from '../core/message.ts';
import type { Party } from '../core/party.ts';

const STEPS = 16;
const MOST_NEXT = 5;

export interface PartyShown {
  readonly seconds: number;
  /** The line that is sung. Plain. */
  readonly line?: string | undefined;
  readonly cover?: KeptFile | undefined;
}

export function partyMessage(party: Party, { seconds, line, cover }: PartyShown): Message {
  const { current, queue, paused } = party;
  const controls = ['pause', 'skip', 'stop', 'queue'] as const;
  if (!current)
    return {
      title: 'Nothing is playing',
      text: 'Queue a song with /party play. I leave when nothing is queued for two minutes.',
      actions: [control('stop', 'Stop')],
    };
  return {
    title: `${paused ? 'Paused' : 'Now playing'}: ${current.title}`,
    text: [...(line ? [`♪ *${plain(line)}*`] : []), progress(seconds, current.seconds)].join('\n\n'),
    fields: [
      { name: current.by ? 'Asked for by' : 'Chosen by', value: current.by?.displayName ?? 'the radio' },
      ...nextOf(party),
      ...(party.loop === 'off' ? [] : [{ name: 'Repeats', value: `the ${party.loop}` }]),
    ],
    media: cover ? [coverOf(current.title, cover)] : [],
    actions: controls.map((name) => control(name, labelOf(name, party, queue.length))),
  };
}

/** The message that stays when it is over. */
export const overMessage = (sentence: string): Message => ({ title: 'The music has ended', text: sentence });

function labelOf(name: 'pause' | 'skip' | 'stop' | 'queue', { paused }: Party, queued: number): string {
  switch (name) {
    case 'pause':
      return paused ? 'Resume' : 'Pause';
    case 'skip':
      return 'Skip';
    case 'stop':
      return 'Stop';
    case 'queue':
      return queued === 0 ? 'Queue' : `Queue (${queued})`;
    default:
      return name satisfies never;
  }
}

function control(action: string, label: string): Button {
  return { type: 'action', id: actionId({ command: 'party', action, job: 'now', index: 0 }), label };
}

function nextOf({ queue }: Party): { name: string; value: string }[] {
  if (queue.length === 0) return [];
  const names = queue.slice(0, MOST_NEXT).map(({ title }) => title);
  const more = queue.length > names.length ? `, and ${queue.length - names.length} more` : '';
  return [{ name: 'Next', value: `${names.join(', ')}${more}` }];
}

function coverOf(title: string, file: KeptFile): MediaItem {
  return {
    kind: 'image',
    name: 'cover',
    source: { type: 'kept', file },
    cover: true,
    alt: `Cover of ${title}`,
  };
}

/** As `▬▬▬●────────── 0:40 of 3:05`; in steps of a few seconds, so that it needs few edits. */
function progress(seconds: number, length: number | undefined): string {
  if (length === undefined || length <= 0) return clock(seconds);
  const step = Math.min(STEPS - 1, Math.floor((seconds / length) * STEPS));
  const at = Math.floor((step * length) / STEPS);
  return `${'▬'.repeat(step)}●${'─'.repeat(STEPS - 1 - step)} ${clock(Math.min(at, length))} of ${clock(length)}`;
}

function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
