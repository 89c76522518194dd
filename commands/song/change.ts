/** Change: creates the song again from a prefilled form. */
import { defineFormAction } from '../../src/core/bot/command.ts';
import { UserError } from '../../src/core/errors.ts';
import type { JobView } from '../../src/core/job.ts';
import { titleOf } from '../../src/core/music/song.ts';
import type { OptionDeclarations } from '../../src/core/options.ts';
import { present } from '../../src/core/util/present.ts';
import { choicesOf, songOptions } from '../text/options.ts';
import { quoted } from '../text/phrases.ts';
import { composeSong, type SongRequest } from './compose.ts';
import { sameVoice, savedVoiceOf } from './save-voice.ts';
import { storedOptions } from './song-message.ts';

/** Forms have no completion. A song of a newer model keeps that model. */
const models = choicesOf(['V5', 'V4_5ALL', 'V4_5PLUS', 'V4_5', 'V4']);

/** Five fields in either mode, Discord's limit. The voice cannot be changed. */
const options = {
  prompt: songOptions.prompt,
  lyrics: {
    type: 'text',
    description: 'Lyrics',
    help: 'Mark sections with [Verse] and [Chorus].',
    maximumLength: 5000,
    multiline: true,
  },
  style: { type: 'text', description: 'Style', help: 'Genres, instruments and mood.', maximumLength: 1000 },
  title: songOptions.title,
  instrumental: songOptions.instrumental,
  model: {
    type: 'choice',
    description: 'Song model',
    label: 'Model',
    help: 'Newer models sound better.',
    choices: models,
  },
} as const satisfies OptionDeclarations;

export const change = defineFormAction({
  options: ({ job }) => {
    const { prompt: _prompt, ...withLyrics } = options;
    const { lyrics: _lyrics, ...withPrompt } = options;
    // The cast is safe because every option is optional.
    return ('lyrics' in requestOf(job) ? withLyrics : withPrompt) as typeof options;
  },

  async form({ job }) {
    return { title: 'Change the song', submitLabel: 'Make song', initial: { ...requestOf(job) } };
  },

  async run({ job, options: values }, context) {
    const { work } = job;
    if (work.route !== 'music.generate')
      throw new UserError("I can't change this result. Create a new one with /song.");
    const model = values.model ?? work.request.model;
    const savedVoice = values.instrumental ? undefined : savedVoiceOf(work);
    const voice = savedVoice && (await sameVoice(savedVoice.personaId, savedVoice.name, context));
    const lyrics = values.instrumental ? undefined : values.lyrics;
    const prompt = values.prompt ?? (lyrics === undefined ? values.title : undefined);
    return context.jobs.start({
      work: composeSong({ ...values, lyrics, prompt }, { model, voice }),
      title: `Composing ${quoted(values.title ?? values.prompt ?? titleOf(job))}`,
      parent: job.id,
      basedOn: quoted(titleOf(job)),
      options: storedOptions({ ...values, lyrics }),
      command: 'song',
    });
  },
});

/** The original request as form values. */
function requestOf({ work }: JobView): SongRequest & { readonly model?: string } {
  if (work.route !== 'music.generate') return {};
  const { customMode, instrumental, prompt, title, style } = work.request;
  const model = models.find(({ value }) => value === work.request.model)?.value;
  if (!customMode) return present({ prompt, instrumental, model });
  // Lyrics that are not written yet have a description only.
  const description = prompt === undefined ? work.lyricsAbout : undefined;
  return present({ prompt: description, lyrics: prompt, title, style, instrumental, model });
}
