import { defineCommand } from '../src/core/bot/command.ts';
import { UserError } from '../src/core/errors.ts';
import { againButton } from '../src/core/message.ts';
import type { OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import { capitalised } from '../src/core/util/words.ts';
import { choicesOf, durationOption, exactOption, modelOption } from './text/options.ts';
import { clip, lineage, quoted, requestedBy, shortened } from './text/phrases.ts';

const MEGABYTE = 1024 * 1024;

const options = {
  prompt: {
    type: 'text',
    description: 'Describe the video',
    label: 'Description',
    help: 'Describe what happens, or add a starting image instead.',
    maximumLength: 800,
    multiline: true,
  },
  image: {
    type: 'file',
    description: 'An image to start from',
    label: 'Starting image',
    help: 'The video starts from this image.',
    accept: ['image'],
    maximumBytes: 10 * MEGABYTE,
  },
  audio: {
    type: 'file',
    description: 'Audio to use in the video',
    label: 'Sound',
    help: 'Audio to use in the video.',
    rare: true,
    accept: ['audio'],
    maximumBytes: 15 * MEGABYTE,
  },
  duration: durationOption,
  resolution: {
    type: 'choice',
    description: 'Resolution',
    help: 'By default, the model decides.',
    choices: choicesOf(['720P', '1080P']),
  },
  silent: {
    type: 'flag',
    description: 'No sound',
    label: 'Silent',
    help: 'Create it without sound.',
    rare: true,
  },
  shots: {
    type: 'choice',
    description: 'One camera shot or several',
    label: 'Camera shots',
    help: 'One continuous shot, or several.',
    rare: true,
    choices: [
      { name: 'one', value: 'single' },
      { name: 'several', value: 'multi' },
    ],
  },
  exact: exactOption,
  model: modelOption('Video model'),
} as const satisfies OptionDeclarations;

export const video = defineCommand({
  name: 'video',
  description: 'Create a video from a description or an image',
  options,
  needsOption: true,
  form: { title: 'New video', submitLabel: 'Make video' },
  suggestion: {
    title: 'Make a video',
    message: 'Create a video of waves breaking on a rocky coast at dawn.',
  },
  autocomplete: { model: ({ typed }, { models }) => models.suggest('video', typed) },

  async run(
    { options: { image, audio, silent, shots, exact, duration, model: requestedModel, ...rest } },
    context,
  ) {
    const { prompt } = rest;
    if (prompt === undefined && image === undefined) {
      throw new UserError('Describe the video, or attach an image to start from.', 'prompt');
    }
    // The public API needs prompt_extend for several shots.
    if (exact && shots === 'multi')
      throw new UserError(
        'For videos with several shots, the service adds to your description. Leave out “exact” or “shots”.',
        'shots',
      );
    if (silent && audio !== undefined)
      throw new UserError("A silent video can't use your audio. Leave out “silent” or “audio”.", 'silent');
    const model = await context.models.resolve('video', requestedModel);
    const promptExtend = shots === 'multi' ? true : exact ? false : undefined;
    return context.jobs.start({
      work: present({
        route: 'media.video' as const,
        request: present({
          model,
          ...rest,
          duration: duration === undefined ? undefined : Number(duration),
          promptExtend,
          audio: silent ? false : undefined,
          shotType: shots,
        }),
        image,
        audio,
      }),
      title: `Creating a video of ${prompt === undefined ? 'your image' : quoted(prompt)}`,
    });
  },

  done(job) {
    const work = job.work.route === 'media.video' ? job.work : undefined;
    const prompt = work?.request.prompt ?? (work?.image ? 'Video from an image' : 'Video');
    const url = job.result?.videoUrl;
    const { fields, actions } = lineage(job);
    return {
      title: capitalised(shortened(prompt, 200)),
      media: url
        ? [{ kind: 'video', name: clip(prompt, 60), source: { type: 'remote', url }, alt: prompt }]
        : [],
      footer: requestedBy(job),
      fields,
      actions: [againButton(job), ...actions],
    };
  },
});
