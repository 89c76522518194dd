import {
  type Context,
  defineCommand,
  defineFormAction,
  type FileReference,
  type OptionDeclarations,
} from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import type { KeptFile } from '../src/message.ts';
import type { Work } from '../src/work.ts';
import { SONG_MODEL_CHOICES, songModel } from './studio/compose.ts';
import {
  REMIX_MODES,
  type Recording,
  type RemixMode,
  type RemixWish,
  remixWork,
} from './studio/remix-work.ts';
import { resultMessage } from './studio/result-message.ts';
import { earlySongMessage } from './studio/song-message.ts';
import { findTake, takeName } from './studio/takes.ts';
import { findVoice, suggestVoices } from './studio/voices.ts';
import { duration } from './text.ts';

const MEGABYTE = 1024 * 1024;

/** First those that Discord's form, which holds five, should show. */
const options = {
  audio: {
    type: 'file',
    description: 'The recording; the latest song here if left out',
    accept: ['audio'],
    maximumBytes: 25 * MEGABYTE,
  },
  mode: { type: 'choice', description: 'What becomes of it', required: true, choices: REMIX_MODES },
  prompt: {
    type: 'text',
    description: 'The words to sing, or what the cover is about',
    maximumLength: 5000,
    multiline: true,
  },
  style: { type: 'text', description: 'Its style, such as “brass band, slow”', maximumLength: 1000 },
  title: { type: 'text', description: 'Its title', maximumLength: 80 },
  instrumental: { type: 'flag', description: 'Without a voice' },
  voice: {
    type: 'text',
    description: 'A voice that is kept here, for mode cover',
    maximumLength: 200,
    suggest: ({ typed }, context) => suggestVoices(typed, context),
  },
  model: { type: 'choice', description: 'The song model', choices: SONG_MODEL_CHOICES },
} as const satisfies OptionDeclarations;

const STAGES = {
  cover: 'Covering',
  extend: 'Extending',
  vocals: 'Singing along to',
  instrumental: 'Playing along to',
} as const satisfies Record<RemixMode, string>;

export const remix = defineCommand({
  name: 'remix',
  description: 'Make something new of a recording: a cover, more of it, a voice or a band',
  options,

  async run({ options: { audio, voice: voiceNamed, model: modelNamed, ...wish } }, context) {
    const { source, recording } = audio
      ? { source: undefined, recording: await attachedRecording(audio, context) }
      : await latestRecording(context);
    const work = remixWork(wish, recording, {
      model: songModel(await context.models.resolve('song', modelNamed)),
      modelNamed: modelNamed !== undefined,
      voice: voiceNamed === undefined ? undefined : await findVoice(voiceNamed, context),
      limits: context.limits,
    });
    return context.jobs.start({
      work,
      title: `${STAGES[wish.mode]} ${source ? takeName(source) : `“${recording.name}”`}`,
      madeFrom: source ? takeName(source) : recording.name,
      ...(source ? { parent: source.job.id } : {}),
    });
  },

  early: earlySongMessage,
  done: resultMessage,

  actions: {
    change: defineFormAction({
      options: {
        mode: options.mode,
        prompt: options.prompt,
        style: options.style,
        title: options.title,
        instrumental: options.instrumental,
      },

      async form({ job }) {
        const { wish } = remixOf(job.work);
        return { title: 'Again, with changes', submitLabel: 'Make it', initial: { ...wish } };
      },

      async run({ job, options: wish }, context) {
        const { audio, voiceName, model } = remixOf(job.work);
        const name = (job.madeFrom ?? 'your recording').replace(/[“”]/g, '');
        const work = remixWork(wish, await measured(audio, name, context), {
          model: songModel(await context.models.resolve('song', model)),
          modelNamed: false,
          voice: voiceName === undefined ? undefined : await findVoice(voiceName, context),
          limits: context.limits,
        });
        return context.jobs.start({
          work,
          title: `${STAGES[wish.mode]} “${name}”`,
          ...(job.madeFrom === undefined ? {} : { madeFrom: job.madeFrom }),
          ...(job.parent === undefined ? {} : { parent: job.parent }),
        });
      },
    }),
  },
});

async function attachedRecording(audio: FileReference, context: Context): Promise<Recording> {
  return measured(await context.files.keep(audio, ['audio']), audio.name.replace(/\.\w{1,5}$/, ''), context);
}

async function latestRecording(context: Context) {
  const source = await findTake(undefined, 'audio', context);
  const url = source.job.result?.songs[source.index]?.audioUrl;
  const name = takeName(source);
  if (url === undefined)
    throw new UserError(`${name} has no sound to work on. Please attach a file.`, 'audio');
  const file = await context.files.made(source.job, { type: 'remote', url }, ['audio']);
  return { source, recording: await measured(file, name.replace(/[“”]/g, ''), context) };
}

/** Throws UserError for a recording whose length is unknown or more than the gateway takes. */
async function measured(file: KeptFile, name: string, { files, limits }: Context): Promise<Recording> {
  const seconds = await files.seconds(file);
  const most = limits.music.uploadSeconds;
  if (seconds === undefined) {
    throw new UserError(
      `I cannot tell how long ${name} is, so I do not hand it over. Please attach it as MP3 or WAV.`,
      'audio',
    );
  }
  if (seconds > most) {
    throw new UserError(
      `${name} lasts ${duration(seconds)}, and the gateway takes ${duration(most)} at most. Please attach a part of it.`,
      'audio',
    );
  }
  return { file, seconds, name };
}

interface KnownRemix {
  readonly wish: RemixWish;
  readonly audio: KeptFile;
  readonly voiceName?: string | undefined;
  readonly model?: string | undefined;
}

/** What was asked for, as the form's fields have it. Throws UserError for other work. */
function remixOf(work: Work): KnownRemix {
  switch (work.route) {
    case 'music.uploadCover': {
      const { prompt, style, title, instrumental, model } = work.request;
      return {
        wish: { mode: 'cover', prompt, style, title, instrumental },
        audio: work.audio,
        voiceName: work.voiceName,
        model,
      };
    }
    case 'music.uploadExtend': {
      const { request, audio } = work;
      const { model, prompt } = request;
      if (!request.defaultParamFlag) return { wish: { mode: 'extend', prompt }, audio, model };
      const { style, title, instrumental } = request;
      return { wish: { mode: 'extend', prompt, style, title, instrumental }, audio, model };
    }
    case 'music.addVocals': {
      const { prompt, style, title, model } = work.request;
      return { wish: { mode: 'vocals', prompt, style, title }, audio: work.audio, model };
    }
    case 'music.addInstrumental': {
      const { tags: style, title, model } = work.request;
      return { wish: { mode: 'instrumental', style, title }, audio: work.audio, model };
    }
    default:
      throw new UserError('This cannot be changed. Please ask anew with /remix.');
  }
}
