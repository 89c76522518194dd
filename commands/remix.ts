import { defineCommand, defineFormAction } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { UserError } from '../src/core/errors.ts';
import { hasVoice, lyricsOf, titleOf } from '../src/core/music/song.ts';
import type { Voice } from '../src/core/music/voice.ts';
import type { OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import type { Recording, Work } from '../src/core/work.ts';
import {
  REMIX_MODES,
  type RemixMode,
  type RemixRequest,
  type RemixSource,
  remixWork,
} from './song/remix-work.ts';
import { againWithVoice, findVoice, sameVoice, savedVoiceOf, suggestVoices } from './song/save-voice.ts';
import { earlySongMessage, resultMessage, storedOptions } from './song/song-message.ts';
import { findTake, startOn, takeName } from './song/takes.ts';
import { completedText, modelOption, songOptions } from './text/options.ts';

const MEGABYTE = 1024 * 1024;

const options = {
  mode: {
    type: 'choice',
    description: 'How to use the recording',
    label: 'Kind of remix',
    help: 'A cover, a longer version, or the recording with vocals or a band.',
    required: true,
    choices: REMIX_MODES,
  },
  audio: {
    type: 'file',
    description: 'The recording (default: the latest song in this channel)',
    label: 'Recording',
    help: 'By default, the latest song of this channel.',
    accept: ['audio'],
    maximumBytes: 25 * MEGABYTE,
  },
  prompt: {
    type: 'text',
    description: 'Lyrics, or a description of the cover',
    label: 'Lyrics or description',
    help: 'For a cover: how it should sound, or lyrics. Otherwise: the lyrics to sing.',
    maximumLength: 5000,
    multiline: true,
  },
  style: {
    type: 'text',
    description: 'Style, such as “brass band, slow”',
    help: 'Genres, instruments and mood, such as “brass band, slow”.',
    maximumLength: 1000,
  },
  title: songOptions.title,
  instrumental: songOptions.instrumental,
  voice: {
    ...completedText('A saved voice (only for covers)'),
    help: 'A voice that was saved here, for covers only.',
    rare: true,
  },
  model: modelOption('Song model'),
} as const satisfies OptionDeclarations;

const { audio: _audio, voice: _voice, model: _model, ...changeOptions } = options;

const STAGES = {
  cover: 'Covering',
  extend: 'Extending',
  vocals: 'Adding vocals to',
  instrumental: 'Adding a band to',
} as const satisfies Record<RemixMode, string>;

export const remix = defineCommand({
  name: 'remix',
  family: 'song',
  description: 'Cover or extend a recording, or add vocals or a band to it',
  options,
  form: { title: 'Remix', submitLabel: 'Make remix' },
  messageMenu: {
    label: 'Make a song from audio',
    option: 'prompt',
    initial: { mode: 'cover' },
    file: {
      option: 'audio',
      missing: 'This message has no recording. Choose a message with a voice message or an audio file.',
    },
  },
  autocomplete: {
    voice: suggestVoices,
    model: ({ typed }, { models }) => models.suggest('song', typed),
  },

  async run({ options: { audio, voice: voiceName, model: modelName, ...request } }, context) {
    const { source, recording } = audio
      ? { source: undefined, recording: { file: audio, name: audio.name.replace(/\.\w{1,5}$/, '') } }
      : await latestRecording(context);
    const model = await context.models.song(modelName);
    const voice = voiceName === undefined ? undefined : await findVoice(voiceName, context);
    const fromInstrumental = source !== undefined && !hasVoice(source.job);
    const work = remixWork({
      ...request,
      ...recording,
      model,
      modelNamed: modelName !== undefined,
      voice,
      fromInstrumental,
    });
    const title = `${STAGES[request.mode]} ${source ? takeName(source) : `“${recording.name}”`}`;
    const options = storedOptions(request);
    if (source) return startOn(source, { work, title, command: 'remix', options }, context);
    return context.jobs.start({ work, title, basedOn: recording.name, options });
  },

  early: earlySongMessage,
  done: resultMessage,
  again: againWithVoice,

  actions: {
    change: defineFormAction({
      options: changeOptions,

      async form({ job }) {
        const { request } = remixOf(job.work);
        return { title: 'Change the song', submitLabel: 'Make song', initial: { ...request } };
      },

      async run({ job, options: request }, context) {
        const { audio, voice: savedVoice, model: modelName } = remixOf(job.work);
        const name = (job.basedOn ?? 'your recording').replace(/[“”]|, take \d+$/g, '');
        const model = await context.models.song(modelName);
        // The form has no voice field, and only covers can use one.
        const usesVoice = savedVoice !== undefined && request.mode === 'cover' && !request.instrumental;
        const voice = usesVoice ? await sameVoice(savedVoice.personaId, savedVoice.name, context) : undefined;
        const fromInstrumental = 'instrumental' in job.work && job.work.instrumental === true;
        const work = remixWork({
          ...request,
          file: audio,
          name,
          model,
          modelNamed: false,
          voice,
          fromInstrumental,
        });
        const title = `${STAGES[request.mode]} “${name}”`;
        const options = storedOptions(request);
        return context.jobs.start(
          present({ work, title, basedOn: job.basedOn, parent: job.parent, options }),
        );
      },
    }),
  },
});

async function latestRecording(context: Context) {
  const source = await findTake(undefined, 'audio', context);
  const url = source.job.result?.songs[source.index]?.audioUrl;
  if (url === undefined)
    throw new UserError(`${takeName(source)} has no audio. Attach a file instead.`, 'audio');
  const file = { job: source.job.id, source: { type: 'remote' as const, url } };
  const name = source.job.result?.songs[source.index]?.title ?? titleOf(source.job);
  const recording = { file, name, lyrics: lyricsOf(source.job) } satisfies RemixSource;
  return { source, recording };
}

interface PreviousRemix {
  readonly request: RemixRequest;
  readonly audio: Recording;
  readonly voice?: Pick<Voice, 'personaId' | 'name'> | undefined;
  readonly model?: string | undefined;
}

/** The original request as form values. Throws UserError for other work. */
function remixOf(work: Work): PreviousRemix {
  switch (work.route) {
    case 'music.uploadCover': {
      const { audio, request } = work;
      const { prompt, style, title, instrumental, model } = request;
      return {
        request: { mode: 'cover', prompt, style, title, instrumental },
        audio,
        voice: savedVoiceOf(work),
        model,
      };
    }
    case 'music.uploadExtend': {
      const { audio, request: sent } = work;
      const { model, prompt } = sent;
      if (!sent.defaultParamFlag) return { request: { mode: 'extend', prompt }, audio, model };
      const { style, title, instrumental } = sent;
      return { request: { mode: 'extend', prompt, style, title, instrumental }, audio, model };
    }
    case 'music.addVocals': {
      const { prompt, style, title, model } = work.request;
      return { request: { mode: 'vocals', prompt, style, title }, audio: work.audio, model };
    }
    case 'music.addInstrumental': {
      const { tags: style, title, model } = work.request;
      return { request: { mode: 'instrumental', style, title }, audio: work.audio, model };
    }
    default:
      throw new UserError("I can't change this result. Create a new one with /remix.");
  }
}
