import { defineCommand, type OptionDeclarations } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { actionId } from '../src/message.ts';
import { lineage } from './studio/lineage.ts';
import { clip, quoted } from './text.ts';

const MEGABYTE = 1024 * 1024;

/** Seconds that every public model of this dialect takes. */
const DURATIONS = [5, 10, 15] as const;

const options = {
  prompt: { type: 'text', description: 'What happens in it', maximumLength: 800, multiline: true },
  image: {
    type: 'file',
    description: 'A picture to start from',
    accept: ['image'],
    maximumBytes: 10 * MEGABYTE,
  },
  audio: { type: 'file', description: 'Sound to go with it', accept: ['audio'], maximumBytes: 15 * MEGABYTE },
  duration: { type: 'number', description: 'Seconds: 5, 10 or 15', integer: true, minimum: 5, maximum: 15 },
  resolution: {
    type: 'choice',
    description: 'Its resolution',
    choices: [
      { name: '720P', value: '720P' },
      { name: '1080P', value: '1080P' },
    ],
  },
  model: {
    type: 'text',
    description: 'The video model',
    maximumLength: 100,
    suggest: ({ typed }, { models }) => models.suggest('video', typed),
  },
} as const satisfies OptionDeclarations;

export const video = defineCommand({
  name: 'video',
  description: 'Film a video from words or a picture',
  options,

  async run({ options: { prompt, image, audio, duration, resolution, model: named } }, context) {
    if (prompt === undefined && image === undefined) {
      throw new UserError('Tell me what happens in the video, or attach a picture to start from.', 'prompt');
    }
    if (duration !== undefined && !DURATIONS.some((seconds) => seconds === duration)) {
      throw new UserError(
        `A video takes ${DURATIONS.join(', ')} seconds; ${duration} is not one of them.`,
        'duration',
      );
    }
    const model = await context.models.resolve('video', named);
    return context.jobs.start({
      work: {
        route: 'media.video',
        request: {
          model,
          ...(prompt === undefined ? {} : { prompt }),
          ...(duration === undefined ? {} : { duration }),
          ...(resolution === undefined ? {} : { resolution }),
        },
        ...(image === undefined ? {} : { image: await context.files.keep(image, ['image']) }),
        ...(audio === undefined ? {} : { audio: await context.files.keep(audio, ['audio']) }),
      },
      title: `Filming ${quoted(prompt ?? 'your picture')}`,
    });
  },

  done(job) {
    const prompt = (job.work.route === 'media.video' ? job.work.request.prompt : undefined) ?? 'Video';
    const url = job.result?.videoUrl;
    const made = lineage(job);
    return {
      title: clip(prompt, 200),
      media: url
        ? [{ kind: 'video', name: clip(prompt, 60), source: { type: 'remote', url }, alt: prompt }]
        : [],
      footer: `Asked by ${job.person.displayName}`,
      fields: [...made.fields],
      actions: [
        {
          type: 'action',
          id: actionId({ command: 'video', action: 'again', job: job.id, index: 0 }),
          label: 'Again',
        },
        ...made.actions,
      ],
    };
  },
});
