/** Change: the same song again, with a form that comes filled in. */
import { defineFormAction } from '../../src/core/bot/command.ts';
import { UserError } from '../../src/core/errors.ts';
import type { JobView } from '../../src/core/job.ts';
import { titleOf } from '../../src/core/music/song.ts';
import type { OptionDeclarations } from '../../src/core/options.ts';
import { present } from '../../src/core/util/present.ts';
import { quoted } from '../text/phrases.ts';
import { composeSong, SONG_MODEL_CHOICES, type SongRequest } from './compose.ts';
import { keptVoiceOf, sameVoice } from './keep-voice.ts';
import { rememberAsked } from './song-message.ts';

/** Five fields in either mode, Discord's limit; the voice stays as it was. */
const options = {
  prompt: {
    type: 'text',
    description: 'Describe the song',
    maximumLength: 3000,
    multiline: true,
  },
  lyrics: { type: 'text', description: 'Lyrics', maximumLength: 5000, multiline: true },
  title: { type: 'text', description: 'Title', maximumLength: 80 },
  style: { type: 'text', description: 'Style', maximumLength: 1000 },
  instrumental: { type: 'flag', description: 'Instrumental (no vocals)' },
  model: { type: 'choice', description: 'Song model', choices: SONG_MODEL_CHOICES },
} as const satisfies OptionDeclarations;

export const change = defineFormAction({
  options: ({ job }) => {
    const { prompt: _prompt, ...withLyrics } = options;
    const { lyrics: _lyrics, ...withPrompt } = options;
    // Sound because every one of them may be missing.
    return ('lyrics' in requestOf(job) ? withLyrics : withPrompt) as typeof options;
  },

  async form({ job }) {
    return { title: 'Again, with changes', submitLabel: 'Create song', initial: { ...requestOf(job) } };
  },

  async run({ job, options: chosen }, context) {
    const { work } = job;
    if (work.route !== 'music.generate')
      throw new UserError('This result cannot be changed. Start again with /song.');
    const model = chosen.model ?? work.request.model;
    const sung = chosen.instrumental ? undefined : keptVoiceOf(work);
    const voice = sung && (await sameVoice(sung.personaId, sung.name, context));
    const lyrics = chosen.instrumental ? undefined : chosen.lyrics;
    const prompt = chosen.prompt ?? (lyrics === undefined ? chosen.title : undefined);
    return context.jobs.start({
      work: composeSong({ ...chosen, lyrics, prompt }, { model, voice }),
      title: `Composing ${quoted(chosen.title ?? chosen.prompt ?? titleOf(job))}`,
      parent: job.id,
      madeFrom: quoted(titleOf(job)),
      asked: rememberAsked({ ...chosen, lyrics }),
      command: 'song',
    });
  },
});

/** What was asked for, as the form's fields have it. */
function requestOf({ work }: JobView): SongRequest & { readonly model?: string } {
  if (work.route !== 'music.generate') return {};
  const { customMode, instrumental, model, prompt, title, style } = work.request;
  if (!customMode) return present({ prompt, instrumental, model });
  return present({ lyrics: prompt, title, style, instrumental, model });
}
