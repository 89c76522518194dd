/** The buttons under a song. */
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
import { lyricsMarkdown } from './lyrics-text.ts';
import { page, publish, withdraw } from './page.ts';
import { saveVoice } from './save-voice.ts';
import { startOn, type Take, takeName, takeWithIds } from './takes.ts';

/** A button that starts work on a take. `workOf` throws UserError if the work is not possible. */
function workOnTake(stage: string, workOf: (take: Take) => Work): CommandAction {
  return {
    run: async ({ job, index }, context) => {
      const take = { job, index };
      return startOn(take, { work: workOf(take), title: `${stage} ${takeName(take)}` }, context);
    },
  };
}

const wav = workOnTake('Converting to WAV:', (take) => TAKE_WORK.wav(takeWithIds(take)));

const musicVideo = workOnTake('Creating a music video for', (take) => TAKE_WORK.video(takeWithIds(take)));

const karaoke = workOnTake('Syncing the lyrics of', (take) => {
  const { job } = take;
  if (!hasVoice(job))
    throw new UserError('This song is instrumental, so it has no lyrics to sync. Choose a song with vocals.');
  const withIds = takeWithIds(take);
  const { title = titleOf(job), durationSeconds } = withIds.song;
  const artist = artistOf(job);
  return { ...TAKE_WORK.words(withIds), song: present({ title, artist, durationSeconds }) };
});

/** The gateway creates cover art for a song, not for a take. */
const coverArt: CommandAction = {
  async run({ job }, { jobs }) {
    if (job.taskId === undefined) {
      throw new UserError(
        "The service sent no ID for this song, so I can't create cover art for it. Create an image with /image instead.",
      );
    }
    const name = quoted(titleOf(job));
    return jobs.start({
      work: { route: 'music.generateCover', request: { taskId: job.taskId } },
      title: `Creating cover art for ${name}`,
      parent: job.id,
      basedOn: name,
      command: 'song',
    });
  },
};

export const splitOption = {
  type: 'choice',
  description: 'Two stems (vocals and band), or one for each instrument',
  label: 'Split into',
  help: 'Two stems, or one for each instrument.',
  choices: [
    { name: 'vocals and band', typed: 'vocals', value: 'separate_vocal' },
    { name: 'every instrument', typed: 'all', value: 'split_stem' },
  ],
} as const satisfies ChoiceOption;

const splitOptions = { split: { ...splitOption, required: true } } as const satisfies OptionDeclarations;

const stems = defineFormAction({
  options: splitOptions,

  async form({ job, index }) {
    takeWithIds({ job, index });
    return { title: 'Split into stems', submitLabel: 'Split song', initial: { split: 'separate_vocal' } };
  },

  run: ({ job, index, options: { split } }, context) => splitTake({ job, index }, split, context),
});

/** Splits a take into vocals and band, or into every instrument. Throws UserError if its ids are unknown. */
export async function splitTake(
  take: Take,
  type: 'separate_vocal' | 'split_stem',
  context: Context,
): Promise<Outcome> {
  const work = TAKE_WORK.stems(takeWithIds(take), type);
  return startOn(take, { work, title: `Splitting ${takeName(take)} into stems`, command: 'stems' }, context);
}

export const studioActions = {
  extend,
  /** Plays in the person's voice channel. */
  play: { answersPrivately: true, run: ({ job, index }, context) => playTake({ job, index }, context) },
  stems,
  cover: coverArt,
  karaoke,
  wav,
  video: musicVideo,
  voice: saveVoice,
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
