/** Extend: the song goes on, as it is or in a new way from a second of one's choice. */
import {
  type Context,
  defineFormAction,
  type OptionDeclarations,
  type OptionValues,
} from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import type { MusicModel } from '../../src/gateway/music.ts';
import type { Work } from '../../src/work.ts';
import { beginning, duration } from '../text.ts';
import { within } from './compose.ts';
import { withSectionTags } from './sections.ts';
import { hasVoice, type KnownTake, knownTake, lyricsOf, modelOf, takeName, titleOf } from './takes.ts';

const options = {
  prompt: {
    type: 'text',
    description: 'The words that follow. Leave everything empty to go on as it is',
    maximumLength: 5000,
    multiline: true,
  },
  style: { type: 'text', description: 'A new style', maximumLength: 1000 },
  title: { type: 'text', description: 'A new title', maximumLength: 80 },
  from: { type: 'number', description: 'The second to go on from; empty: its end', minimum: 1 },
} as const satisfies OptionDeclarations;

/** Seconds: `continueAt` lies before the end (docs.sunoapi.org/suno-api/extend-music). */
const BEFORE_THE_END = 0.1;

export const extend = defineFormAction({
  options,

  async form({ job, index }) {
    knownTake({ job, index });
    return { title: 'Extend the song', submitLabel: 'Extend', initial: {} };
  },

  async run({ job, index, options: wish }, context) {
    const take = knownTake({ job, index });
    const model = modelOf(job.work) ?? 'V5';
    const name = takeName(take);
    return context.jobs.start({
      work: {
        route: 'music.extend',
        request: { audioId: take.audioId, model, ...overrides(take, wish, model, context) },
        ...(hasVoice(job) ? {} : { instrumental: true }),
      },
      title: `Extending ${name}`,
      parent: job.id,
      madeFrom: name,
      command: 'song',
    });
  },
});

type Overrides<Request> = Request extends unknown ? Omit<Request, 'audioId' | 'model'> : never;

/** With one of them the gateway wants all: what was left empty is the song's own. */
function overrides(
  { job, song }: KnownTake,
  wish: OptionValues<typeof options>,
  model: MusicModel,
  { limits }: Context,
): Overrides<Extract<Work, { route: 'music.extend' }>['request']> {
  const { style, title, from } = wish;
  const words = wish.prompt === undefined ? undefined : withSectionTags(wish.prompt);
  if (words === undefined && style === undefined && title === undefined && from === undefined)
    return { defaultParamFlag: false };
  const bounds = limits.music.models[model];
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
    throw new UserError('I do not know how long this take is. Please say the second to go on from.', 'from');
  }
  if (from === undefined) return Math.max(0.01, Math.floor((seconds - BEFORE_THE_END) * 100) / 100);
  if (from < seconds) return from;
  throw new UserError(
    `This take ends at ${duration(seconds)}, so it can go on from before second ${Math.ceil(seconds)}.`,
    'from',
  );
}
