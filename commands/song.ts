import type { Context, Invocation } from '../src/command.ts';
import { defineCommand, type OptionDeclarations, type Outcome } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { studioActions } from './studio/actions.ts';
import { composeSong, SONG_MODEL_CHOICES, songModel } from './studio/compose.ts';
import { resultMessage } from './studio/result-message.ts';
import { firstLine } from './studio/sections.ts';
import { earlySongMessage, songCard } from './studio/song-message.ts';
import { findTake, suggestTakes } from './studio/takes.ts';
import { findVoice, suggestVoices } from './studio/voices.ts';
import { quoted } from './text.ts';

const options = {
  prompt: { type: 'text', description: 'What the song is about', maximumLength: 3000, multiline: true },
  title: { type: 'text', description: 'Its title', maximumLength: 80 },
  style: { type: 'text', description: 'Its style, such as “lofi, rainy, soft piano”', maximumLength: 1000 },
  lyrics: {
    type: 'text',
    description: 'The words to sing; [Verse] and [Chorus] mark sections',
    maximumLength: 5000,
    multiline: true,
  },
  instrumental: { type: 'flag', description: 'Without a voice' },
  voice: {
    type: 'text',
    description: 'A voice that is kept here',
    maximumLength: 200,
    suggest: ({ typed }, context) => suggestVoices(typed, context),
  },
  model: { type: 'choice', description: 'The song model', choices: SONG_MODEL_CHOICES },
  earlier: {
    type: 'text',
    description: 'Instead of a new song: one of this channel, with its buttons',
    maximumLength: 200,
    suggest: ({ typed }, context) => suggestTakes(typed, context),
  },
} as const satisfies OptionDeclarations;

export const song = defineCommand({
  name: 'song',
  description: 'Make a song',
  options,
  messageMenu: { label: 'Make a song of this', option: 'prompt' },

  async run({ options: { earlier, voice: voiceNamed, model: modelNamed, ...wish } }, context) {
    if (earlier !== undefined) return showEarlier(earlier, wish, context);
    const model = songModel(await context.models.resolve('song', modelNamed));
    const voice = voiceNamed === undefined ? undefined : await findVoice(voiceNamed, context);
    const work = composeSong(wish, { model, voice }, context);
    const name = wish.title ?? wish.prompt ?? firstLine(wish.lyrics) ?? wish.style ?? 'a song';
    return context.jobs.start({ work, title: `Composing ${quoted(name)}` });
  },

  early: earlySongMessage,
  done: resultMessage,

  actions: {
    ...studioActions,
    sing: {
      async run({ job: { result } }, { voices }) {
        const kept = result?.voice;
        if (kept?.outcome !== 'kept') throw new UserError('This has no voice to sing with.');
        const voice = (await voices.list()).find(({ personaId }) => personaId === kept.personaId);
        if (!voice) throw new UserError('This voice is not kept any more. /voices shows those that are.');
        return singForm({ voice: voice.name });
      },
    },
  },
});

async function showEarlier(named: string, wish: Invocation['options'], context: Context): Promise<Outcome> {
  if (Object.values(wish).some((value) => value !== undefined && value !== false)) {
    throw new UserError(
      'Either name an earlier song or describe a new one. To sing an earlier one anew, press Change under it.',
      'earlier',
    );
  }
  const { job, index } = await findTake(named, 'earlier', context);
  return { type: 'message', visibility: 'person', message: songCard(job, index) };
}

/** The form of /song with some of it filled in. */
export function singForm(initial: Invocation['options']): Outcome {
  return {
    type: 'form',
    form: { id: 'song', title: 'Sing it', submitLabel: 'Make the song', options, initial },
  };
}
