/** Extend: the song goes on, as it is or changed from a given second. */
import { defineFormAction } from '../../src/core/bot/command.ts';
import { UserError } from '../../src/core/errors.ts';
import { hasVoice, lastMoment, lyricsOf, songModelOf, titleOf } from '../../src/core/music/song.ts';
import { SONG_LIMITS } from '../../src/core/music/song-limits.ts';
import type { OptionDeclarations, OptionValues } from '../../src/core/options.ts';
import { beginning, duration } from '../../src/core/util/words.ts';
import type { SongModel, Work } from '../../src/core/work.ts';
import { within } from './compose.ts';
import { withSectionTags } from './lyrics-text.ts';
import { rememberAsked } from './song-message.ts';
import { type KnownTake, knownTake, startOn, takeName } from './takes.ts';

const options = {
  prompt: {
    type: 'text',
    description: 'Lyrics for the new part. Leave every field empty to continue as is',
    maximumLength: 5000,
    multiline: true,
  },
  style: { type: 'text', description: 'A new style', maximumLength: 1000 },
  title: { type: 'text', description: 'A new title', maximumLength: 80 },
  from: { type: 'number', description: 'Continue from this second (default: the end)', minimum: 1 },
} as const satisfies OptionDeclarations;

export const extend = defineFormAction({
  options,

  async form({ job, index }) {
    knownTake({ job, index });
    return { title: 'Extend the song', submitLabel: 'Extend', initial: {} };
  },

  async run({ job, index, options: chosen }, context) {
    const take = knownTake({ job, index });
    const model = songModelOf(job.work) ?? 'V5';
    const work: Work = {
      route: 'music.extend',
      request: { audioId: take.audioId, model, ...overrides(take, chosen, model) },
      ...(hasVoice(job) ? {} : { instrumental: true }),
    };
    const remembered = rememberAsked({ mode: 'extend', ...chosen });
    return startOn(take, { work, title: `Extending ${takeName(take)}`, asked: remembered }, context);
  },
});

type Overrides<Request> = Request extends unknown ? Omit<Request, 'audioId' | 'model'> : never;

/** With one of them the gateway wants all: what was left empty is the song's own. */
function overrides(
  { job, song }: KnownTake,
  chosen: OptionValues<typeof options>,
  model: SongModel,
): Overrides<Extract<Work, { route: 'music.extend' }>['request']> {
  const { style, title, from } = chosen;
  const words = chosen.prompt === undefined ? undefined : withSectionTags(chosen.prompt);
  if (words === undefined && style === undefined && title === undefined && from === undefined)
    return { defaultParamFlag: false };
  const bounds = SONG_LIMITS.models[model];
  if (words !== undefined) within(words, bounds.customPrompt, 'text', 'prompt');
  if (style !== undefined) within(style, bounds.style, 'style', 'style');
  if (title !== undefined) within(title, bounds.title, 'title', 'title');
  const newStyle = style ?? beginning(song.style ?? titleOf(job), bounds.style);
  return {
    defaultParamFlag: true,
    prompt: words ?? beginning(lyricsOf(job) ?? newStyle, bounds.customPrompt),
    style: newStyle,
    title: title ?? beginning(titleOf(job), bounds.title),
    continueAt: continueAt(from, song.durationSeconds),
  };
}

function continueAt(from: number | undefined, seconds: number | undefined): number {
  if (seconds === undefined) {
    if (from !== undefined) return from;
    throw new UserError('I do not know how long this take is. Enter the second to continue from.', 'from');
  }
  if (from === undefined) return lastMoment(seconds);
  if (from < seconds) return from;
  throw new UserError(
    `This take ends at ${duration(seconds)}, so continue from a second before ${Math.ceil(seconds)}.`,
    'from',
  );
}
