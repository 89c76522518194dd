import { type AnyCommand, defineCommand, defineFormAction } from '../src/core/bot/command.ts';
import { UserError } from '../src/core/errors.ts';
import type { JobView } from '../src/core/job.ts';
import { againButton, button, type MediaItem, type MediaSource, plain } from '../src/core/message.ts';
import { parseModelName } from '../src/core/model-name.ts';
import type { OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import type { Work } from '../src/core/work.ts';
import { emptyAnswer } from './ask/ending.ts';
import { durationOption, exactOption, modelOption } from './text/options.ts';
import { clip, quoted, shortened } from './text/phrases.ts';

/**
 * The shapes, the first by default. `value` is one of the five sizes of qwen-image
 * (https://www.alibabacloud.com/help/en/model-studio/qwen-image-api). Models with free sizes get `free`, because wan2.6 wants 1280² to 1440²
 * pixels (https://www.alibabacloud.com/help/en/model-studio/text-to-image-v2-api-reference).
 */
const SIZES = [
  { name: 'square (1:1)', typed: 'square', value: '1328*1328', free: '1328*1328' },
  { name: 'wide (16:9)', typed: 'wide', value: '1664*928', free: '1792*1008' },
  { name: 'tall (9:16)', typed: 'tall', value: '928*1664', free: '1008*1792' },
  { name: 'landscape (4:3)', typed: 'landscape', value: '1472*1104', free: '1536*1152' },
  { name: 'portrait (3:4)', typed: 'portrait', value: '1104*1472', free: '1152*1536' },
] as const;
/** Not qwen-image-2.0, whose sizes are free. */
const HAS_FIXED_SIZES = /(?:^|\/)qwen-image(?:-plus|-max)?(?:-\d{4}-\d{2}-\d{2})?$/i;

function sizeFor(model: string, chosen: string | undefined): string {
  const size = SIZES.find(({ value }) => value === chosen) ?? SIZES[0];
  return HAS_FIXED_SIZES.test(model) ? size.value : size.free;
}

const options = {
  prompt: {
    type: 'text',
    description: 'Describe the image',
    label: 'Description',
    help: 'What should the image show, and in which style?',
    required: true,
    maximumLength: 800,
    multiline: true,
  },
  size: {
    type: 'choice',
    description: 'Aspect ratio',
    label: 'Shape',
    help: 'By default, square.',
    choices: SIZES,
  },
  avoid: {
    type: 'text',
    description: 'Things to leave out',
    label: 'Leave out',
    help: 'Things that the image should not show.',
    maximumLength: 500,
  },
  exact: exactOption,
  model: modelOption('Image model'),
} as const satisfies OptionDeclarations;

const animateOptions = {
  prompt: {
    type: 'text',
    description: 'Describe the video',
    label: 'Description',
    help: 'Leave this empty to use the description of the image.',
    maximumLength: 800,
    multiline: true,
  },
  duration: durationOption,
} as const satisfies OptionDeclarations;

/** Starts a video from an image. */
const animate = defineFormAction({
  options: animateOptions,

  async form({ job, index }) {
    imageOf(job, index);
    return { title: 'Animate the image', submitLabel: 'Make video', initial: { duration: '5' } };
  },

  async run({ job, index, options: { prompt, duration } }, context) {
    const source = imageOf(job, index);
    const model = await context.models.resolve('video', undefined);
    const request = 'request' in job.work && 'prompt' in job.work.request ? job.work.request : undefined;
    const about = prompt ?? request?.prompt;
    return context.jobs.start({
      work: {
        route: 'media.video',
        request: present({
          model,
          prompt: about && clip(about, 800),
          duration: duration === undefined ? undefined : Number(duration),
        }),
        image: { job: job.id, source },
      },
      title: `Creating a video of ${quoted(about ?? 'your image')}`,
      parent: job.id,
      basedOn: quoted(request?.prompt ?? 'the image'),
      command: 'video',
    });
  },
});

export const image = defineCommand({
  name: 'image',
  description: 'Create an image',
  options,
  form: { title: 'New image', submitLabel: 'Make image' },
  suggestion: { title: 'Create an image', message: 'Create an image of a lighthouse at night, in oil.' },
  autocomplete: { model: ({ typed }, { models }) => models.suggest('image', typed) },

  async run({ options: { prompt, size, avoid, exact, model: requestedModel } }, context) {
    const { route, id: model } = parseModelName(
      'image',
      await context.models.resolve('image', requestedModel),
    );
    const work: Work = route
      ? {
          route: 'gen.image',
          request: { model, turns: [{ role: 'user', parts: [promptPart(prompt, size, avoid)] }] },
        }
      : {
          route: 'media.image',
          request: present({
            model,
            prompt,
            size: sizeFor(model, size),
            negativePrompt: avoid,
            promptExtend: exact ? false : undefined,
          }),
        };
    return context.jobs.start({ work, title: `Creating an image of ${quoted(prompt)}` });
  },

  done(job) {
    const prompt = promptOf(job);
    const images = job.result?.images ?? [];
    const suffix = (index: number, word = '') => (images.length > 1 ? `${word} ${index + 1}` : '');
    const text = textOf(job, images.length);
    return {
      title: shortened(prompt, 200),
      ...present({ text: text || undefined }),
      media: images.map(
        (source, index): MediaItem => ({
          kind: 'image',
          name: `${clip(prompt, 60)}${suffix(index)}`,
          source,
          alt: `${images.length > 1 ? `Image ${index + 1} of ${images.length}: ` : ''}${prompt}`,
        }),
      ),
      footer: `Requested by ${job.person.displayName}`,
      actions: [
        ...images.map((_, index) => ({
          ...button(job, 'animate', `Animate${suffix(index, ' image')}`, index),
          icon: 'video' as const,
        })),
        againButton(job),
      ],
    };
  },

  actions: { animate },
});

/** The text of a gen model beside its images, or the reason for having none. */
function textOf({ work, result }: JobView, images: number): string | undefined {
  const answer = result?.answer;
  if (work.route !== 'gen.image' || answer === undefined) return undefined;
  const isEmpty = images === 0 && answer.text.trim() === '';
  return isEmpty ? emptyAnswer(answer, work) : plain(answer.text);
}

/** Gen models have no size or avoid parameter, so the text describes both. */
function promptPart(prompt: string, size: string | undefined, avoid: string | undefined) {
  const shape = SIZES.find(({ value }) => value === size);
  const parts = [
    prompt,
    ...(shape ? [`Its shape: ${shape.typed}, ${shape.value.replace('*', ' by ')} pixels.`] : []),
    ...(avoid ? [`Do not show: ${avoid}`] : []),
  ];
  return { type: 'text' as const, text: parts.join('\n\n') };
}

function promptOf({ work }: JobView): string {
  if (work.route === 'media.image') return work.request.prompt;
  if (work.route !== 'gen.image') return 'Image';
  const [part] = work.request.turns.at(-1)?.parts ?? [];
  return part?.type === 'text' ? part.text : 'Image';
}

/** Throws UserError if the result no longer has the image. */
function imageOf({ result }: JobView, index: number): MediaSource {
  const source = result?.images[index];
  if (source) return source;
  throw new UserError('That image is no longer available. Create a new one with /image.');
}

/** The command where nothing creates videos. */
export function withoutAnimate({ done, actions: _, ...command }: AnyCommand): AnyCommand {
  return {
    ...command,
    ...(done && { done: (job: JobView) => ({ ...done(job), actions: [againButton(job)] }) }),
  };
}
