/** The buttons under a song: what is made of a take with one press, and what is shown of it. */
import { type CommandAction, defineFormAction } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import { type Outcome, privately } from '../../src/core/bot/outcome.ts';
import { UserError } from '../../src/core/errors.ts';
import { artistOf, hasVoice, lyricsOf, TAKE_WORK, titleOf } from '../../src/core/music/song.ts';
import type { ChoiceOption, OptionDeclarations } from '../../src/core/options.ts';
import { present } from '../../src/core/util/present.ts';
import type { Work } from '../../src/core/work.ts';
import { playTake } from '../party.ts';
import { quoted } from '../text/phrases.ts';
import { change } from './change.ts';
import { extend } from './extend.ts';
import { keepVoice } from './keep-voice.ts';
import { lyricsMarkdown } from './lyrics-text.ts';
import { page, publish, withdraw } from './page.ts';
import { knownTake, startOn, type Take, takeName } from './takes.ts';

/** One press, one piece of work on a take. `workOf` throws UserError where it cannot be had. */
function workOnTake(stage: string, workOf: (take: Take) => Work): CommandAction {
  return {
    run: async ({ job, index }, context) => {
      const take = { job, index };
      return startOn(take, { work: workOf(take), title: `${stage} ${takeName(take)}` }, context);
    },
  };
}

const wav = workOnTake('Converting to WAV:', (take) => TAKE_WORK.wav(knownTake(take)));

const musicVideo = workOnTake('Creating a music video for', (take) => TAKE_WORK.video(knownTake(take)));

const karaoke = workOnTake('Syncing the lyrics of', (take) => {
  const { job } = take;
  if (!hasVoice(job)) throw new UserError('This song is an instrumental, so it has no lyrics to sync.');
  const known = knownTake(take);
  const { title = titleOf(job), durationSeconds } = known.song;
  const artist = artistOf(job);
  return { ...TAKE_WORK.words(known), song: present({ title, artist, durationSeconds }) };
});

/** The gateway paints for the whole song, not for a take. */
const coverArt: CommandAction = {
  async run({ job }, { jobs }) {
    if (job.taskId === undefined) {
      throw new UserError(
        'The gateway gave no ID for this song, so I cannot create cover art for it. Create an image with /image instead.',
      );
    }
    const name = quoted(titleOf(job));
    return jobs.start({
      work: { route: 'music.generateCover', request: { taskId: job.taskId } },
      title: `Creating cover art for ${name}`,
      parent: job.id,
      madeFrom: name,
      command: 'song',
    });
  },
};

export const splitOption = {
  type: 'choice',
  description: 'Vocals and band, or every instrument',
  choices: [
    { name: 'vocals', value: 'separate_vocal' },
    { name: 'all', value: 'split_stem' },
  ],
} as const satisfies ChoiceOption;

const splitOptions = { split: { ...splitOption, required: true } } as const satisfies OptionDeclarations;

const stems = defineFormAction({
  options: splitOptions,

  async form({ job, index }) {
    knownTake({ job, index });
    return { title: 'Split into stems', submitLabel: 'Split', initial: { split: 'separate_vocal' } };
  },

  run: ({ job, index, options: { split } }, context) => splitTake({ job, index }, split, context),
});

/** A take split into voice and band, or into every instrument. Throws UserError when its ids are not known. */
export async function splitTake(
  take: Take,
  type: 'separate_vocal' | 'split_stem',
  context: Context,
): Promise<Outcome> {
  const work = TAKE_WORK.stems(knownTake(take), type);
  return startOn(take, { work, title: `Splitting ${takeName(take)} into stems`, command: 'stems' }, context);
}

export const studioActions = {
  extend,
  /** In the voice channel that the person is in. */
  play: { answersPrivately: true, run: ({ job, index }, context) => playTake({ job, index }, context) },
  stems,
  cover: coverArt,
  karaoke,
  wav,
  video: musicVideo,
  voice: keepVoice,
  change,
  page,
  publish,
  withdraw,

  lyrics: {
    async run({ job }) {
      const lyrics = lyricsOf(job);
      if (!lyrics) return privately('This song has no lyrics.');
      return privately({ title: titleOf(job), text: lyricsMarkdown(lyrics) });
    },
  },
} as const satisfies Record<string, CommandAction>;
