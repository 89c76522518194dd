/** Animate: a picture becomes the beginning of a video. */
import { defineFormAction, type OptionDeclarations } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import { clip, quoted } from '../text.ts';

const options = {
  prompt: { type: 'text', description: 'What happens in it', maximumLength: 800, multiline: true },
  duration: {
    type: 'choice',
    description: 'How long it lasts',
    // Seconds that every public model of this dialect takes.
    choices: ['5', '10', '15'].map((seconds) => ({ name: `${seconds} seconds`, value: seconds })),
  },
} as const satisfies OptionDeclarations;

export const animate = defineFormAction({
  options,

  async form({ job, index }) {
    if (!job.result?.images[index])
      throw new UserError('This picture is gone. Ask for a new one with /image.');
    return { title: 'Animate the picture', submitLabel: 'Film it', initial: { duration: '5' } };
  },

  async run({ job, index, options: { prompt, duration } }, context) {
    const picture = job.result?.images[index];
    if (!picture) throw new UserError('This picture is gone. Ask for a new one with /image.');
    const model = await context.models.resolve('video', undefined);
    const request = 'request' in job.work && 'prompt' in job.work.request ? job.work.request : undefined;
    const about = prompt ?? request?.prompt;
    return context.jobs.start({
      work: {
        route: 'media.video',
        request: {
          model,
          ...(about === undefined ? {} : { prompt: clip(about, 800) }),
          ...(duration === undefined ? {} : { duration: Number(duration) }),
        },
        image: await context.files.made(job, picture, ['image']),
      },
      title: `Filming ${quoted(about ?? 'your picture')}`,
      parent: job.id,
      madeFrom: quoted(request?.prompt ?? 'the picture'),
      command: 'video',
    });
  },
});
