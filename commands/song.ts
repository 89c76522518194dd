import { defineCommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import type { StartRequest } from '../src/core/bot/start-request.ts';
import { UserError } from '../src/core/errors.ts';
import type { Invocation } from '../src/core/invocation.ts';
import type { OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import { studioActions } from './song/actions.ts';
import { composeSong, type SongRequest } from './song/compose.ts';
import { firstLine } from './song/lyrics-text.ts';
import { againWithVoice, findVoice, suggestVoices } from './song/save-voice.ts';
import { earlySongMessage, resultMessage, songCard, storedOptions } from './song/song-message.ts';
import { suggestedSong } from './song/suggested.ts';
import { findTake, suggestTakes } from './song/takes.ts';
import { completedText, modelOption, songOptions } from './text/options.ts';
import { quoted } from './text/phrases.ts';

const options = {
  prompt: { ...songOptions.prompt, help: 'Describe the song, or fill in a style or lyrics instead.' },
  style: {
    type: 'text',
    description: 'Style, such as “lofi, rainy, soft piano”',
    help: 'Genres, instruments and mood, such as “lofi, rainy, soft piano”.',
    maximumLength: 1000,
  },
  lyrics: {
    type: 'text',
    description: 'Lyrics; mark sections with [Verse] and [Chorus]',
    help: "Leave this empty and I'll have them written. Mark sections with [Verse] and [Chorus].",
    maximumLength: 5000,
    multiline: true,
  },
  title: songOptions.title,
  instrumental: songOptions.instrumental,
  voice: { ...completedText('A saved voice'), help: 'Choose a voice that was saved here.', rare: true },
  model: modelOption('Song model'),
  earlier: {
    ...completedText('Show an earlier song from this channel instead'),
    label: 'Earlier song',
    help: 'Show an earlier song of this channel instead of creating a new one.',
    rare: true,
  },
} as const satisfies OptionDeclarations;

export const song = defineCommand({
  name: 'song',
  family: 'song',
  description: 'Create a song',
  options,
  needsOption: true,
  form: { title: 'New song', submitLabel: 'Make song' },
  autocomplete: {
    voice: suggestVoices,
    model: ({ typed }, { models }) => models.suggest('song', typed),
    earlier: suggestTakes,
  },
  messageMenu: { label: 'Make a song from text', option: 'prompt' },
  suggestion: { title: 'Make a song', message: 'Create a song about rain on a tin roof, slow and warm.' },

  async run({ options: { earlier, voice: voiceName, model: modelName, ...request } }, context) {
    if (earlier !== undefined) return showEarlier(earlier, request, context);
    const model = await context.models.song(modelName);
    const voice = voiceName === undefined ? undefined : await findVoice(voiceName, context);
    const started = songRequest(request, { model, voice });
    return (await context.contests.enter(started)) ?? context.jobs.start(started);
  },

  early: earlySongMessage,
  done: resultMessage,
  again: againWithVoice,

  actions: {
    ...studioActions,
    make: {
      async run({ job }, context) {
        const request = suggestedSong(job);
        if (!request) throw new UserError("This answer doesn't suggest a song. Use /song to create one.");
        return context.jobs.start(songRequest(request, { model: await context.models.song(undefined) }));
      },
    },
    sing: {
      async run({ job: { result } }, { voices }) {
        const saved = result?.voice;
        if (saved?.outcome !== 'saved') throw new UserError('This result has no voice.');
        const voice = (await voices.list()).find(({ personaId }) => personaId === saved.personaId);
        if (!voice) throw new UserError('That voice was removed. To see the saved voices, use /voices show.');
        return singForm({ voice: voice.name });
      },
    },
  },
});

function songRequest(request: SongRequest, means: Parameters<typeof composeSong>[1]): StartRequest {
  const work = composeSong(request, means);
  const { title, prompt, lyrics, style } = request;
  const name = title ?? prompt ?? firstLine(lyrics) ?? style ?? 'a song';
  return { work, title: `Composing ${quoted(name)}`, options: storedOptions(request) };
}

async function showEarlier(name: string, options: Invocation['options'], context: Context): Promise<Outcome> {
  if (Object.values(options).some((value) => value !== undefined && value !== false)) {
    throw new UserError(
      'Use “earlier” alone, or describe a new song. To create a changed version of an earlier song, press **Change** under it.',
      'earlier',
    );
  }
  const { job, index } = await findTake(name, 'earlier', context);
  const pageUrl = job.pageWithdrawn ? undefined : await context.pages.of(job);
  return privately(songCard(present({ ...job, pageUrl }), index));
}

/** The form of /song with initial values. */
export function singForm(initial: Invocation['options'], title = 'Sing it'): Outcome {
  return {
    type: 'form',
    form: { id: 'song', title, submitLabel: 'Make song', options, initial },
  };
}
