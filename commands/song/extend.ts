/** Extend: continues a song, unchanged or from a given second with new lyrics, style or title. */
import { defineFormAction } from '../../src/core/bot/command.ts';
import { UserError } from '../../src/core/errors.ts';
import { hasVoice, lastMoment, lyricsOf, songModelOf, titleOf } from '../../src/core/music/song.ts';
import { songModelLimits } from '../../src/core/music/song-limits.ts';
import type { OptionDeclarations, OptionValues } from '../../src/core/options.ts';
import { beginning, duration } from '../../src/core/util/words.ts';
import type { SongModel, Work } from '../../src/core/work.ts';
import { assertLength } from './compose.ts';
import { withSectionTags } from './lyrics-text.ts';
import { storedOptions } from './song-message.ts';
import { startOn, type TakeWithIds, takeName, takeWithIds } from './takes.ts';

const options = {
  prompt: {
    type: 'text',
    description: 'Lyrics for the new part (leave all fields empty to continue the song as it is)',
    label: 'Lyrics of the new part',
    help: 'Leave all fields empty to continue the song as it is.',
    maximumLength: 5000,
    multiline: true,
  },
  style: {
    type: 'text',
    description: 'A new style',
    label: 'New style',
    help: 'Genres, instruments and mood.',
    maximumLength: 1000,
  },
  title: {
    type: 'text',
    description: 'A new title',
    label: 'New title',
    help: 'By default, the title of the song.',
    maximumLength: 80,
  },
  from: {
    type: 'number',
    description: 'Where to continue from, in seconds (default: the end)',
    label: 'Continue from (seconds)',
    help: 'By default, from the end.',
    minimum: 1,
  },
} as const satisfies OptionDeclarations;

export const extend = defineFormAction({
  options,

  async form({ job, index }) {
    takeWithIds({ job, index });
    return { title: 'Extend the song', submitLabel: 'Extend song', initial: {} };
  },

  async run({ job, index, options: values }, context) {
    const take = takeWithIds({ job, index });
    const model = songModelOf(job.work) ?? 'V5';
    const work: Work = {
      route: 'music.extend',
      request: { audioId: take.audioId, model, ...overrides(take, values, model) },
      ...(hasVoice(job) ? {} : { instrumental: true }),
    };
    const options = storedOptions({ mode: 'extend', ...values });
    return startOn(take, { work, title: `Extending ${takeName(take)}`, options }, context);
  },
});

type Overrides<Request> = Request extends unknown ? Omit<Request, 'audioId' | 'model'> : never;

/** The gateway requires all overrides or none, so empty ones are taken from the song. */
function overrides(
  { job, song }: TakeWithIds,
  values: OptionValues<typeof options>,
  model: SongModel,
): Overrides<Extract<Work, { route: 'music.extend' }>['request']> {
  const { style, title, from } = values;
  const lyrics = values.prompt === undefined ? undefined : withSectionTags(values.prompt);
  if (lyrics === undefined && style === undefined && title === undefined && from === undefined)
    return { defaultParamFlag: false };
  const limits = songModelLimits(model);
  if (lyrics !== undefined) assertLength(lyrics, limits.customPrompt, 'text', 'prompt');
  if (style !== undefined) assertLength(style, limits.style, 'style', 'style');
  if (title !== undefined) assertLength(title, limits.title, 'title', 'title');
  const newStyle = style ?? beginning(song.style ?? titleOf(job), limits.style);
  return {
    defaultParamFlag: true,
    prompt: lyrics ?? beginning(lyricsOf(job) ?? newStyle, limits.customPrompt),
    style: newStyle,
    title: title ?? beginning(titleOf(job), limits.title),
    continueAt: continueAt(from, song.durationSeconds),
  };
}

function continueAt(from: number | undefined, seconds: number | undefined): number {
  if (seconds === undefined) {
    if (from !== undefined) return from;
    throw new UserError(
      "I don't know how long this take is. Enter where to continue from, in seconds.",
      'from',
    );
  }
  if (from === undefined) return lastMoment(seconds);
  if (from < seconds) return from;
  throw new UserError(
    `This take ends at ${duration(seconds)}. Enter a start below ${Math.ceil(seconds)} seconds.`,
    'from',
  );
}
