/** Songs that an answer suggests, as `/song a tune for rain --style lofi` in code. */
import type { JobView } from '../../src/core/job.ts';
import { type ActionButton, button } from '../../src/core/message.ts';
import { present } from '../../src/core/util/present.ts';
import type { SongRequest } from './compose.ts';

const SUGGESTION = /`\/song ([^`\n]{1,3000})/;
const STYLE = ' --style ';

/** The first song in the answer; undefined if it suggests none. Other options stay in the text, for people to type. */
export function suggestedSong({ result }: JobView): SongRequest | undefined {
  const [, line = ''] = SUGGESTION.exec(result?.answer?.text ?? '') ?? [];
  const [prompt = '', style = ''] = line.split(STYLE, 2).map((part) => part.trim());
  if (prompt === '' || prompt.startsWith('--') || prompt.includes(' --') || style.includes(' --'))
    return undefined;
  return present({ prompt, style: style || undefined });
}

/** A button that creates the song which the answer suggests. */
export function suggestedSongButton(job: JobView): readonly ActionButton[] {
  if (!suggestedSong(job)) return [];
  const make = button({ id: job.id, command: 'song' }, 'make', 'Make this song');
  return [{ ...make, emphasis: 'primary' }];
}
