import {
  type AnyCommand,
  defineCommand,
  defineFormAction,
  defineSubcommand,
} from '../src/core/bot/command.ts';
import { UserError } from '../src/core/errors.ts';
import type { JobView } from '../src/core/job.ts';
import {
  againButton,
  type Button,
  button,
  type MediaItem,
  type MediaSource,
  parseActionId,
  plain,
} from '../src/core/message.ts';
import { parseModelName } from '../src/core/models/model-name.ts';
import type { OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import { capitalised } from '../src/core/util/words.ts';
import type { Work, WorkFile } from '../src/core/work.ts';
import { emptyAnswer } from './ask/ending.ts';
import { durationOption, exactOption, modelOption } from './text/options.ts';
import { clip, lineage, quoted, shortened } from './text/phrases.ts';

const MEGABYTE = 1024 * 1024;
/** Characters of a description. Similar public services have this limit. */
const LONGEST_PROMPT = 800;

/**
 * The shapes, the first by default. `value` is one of the five sizes of qwen-image
 * (https://www.alibabacloud.com/help/en/model-studio/qwen-image-api). Models with free sizes get `free`, because wan2.6 requires 1280² to 1440²
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

function referenceOption(description: string, label: string) {
  return {
    type: 'file',
    description,
    label,
    help: 'The new image is made from it.',
    accept: ['image'],
    maximumBytes: 25 * MEGABYTE,
  } as const;
}

/** Three fit into one request: https://ai.google.dev/gemini-api/docs/image-generation. */
const references = {
  reference: referenceOption('An image to change or build on', 'Reference image'),
  reference2: { ...referenceOption('A second image to use', 'Second image'), rare: true },
  reference3: { ...referenceOption('A third image to use', 'Third image'), rare: true },
} as const;

const ownOptions = {
  prompt: {
    type: 'text',
    description: 'Describe the image',
    label: 'Description',
    help: 'What should the image show, and in which style?',
    required: true,
    maximumLength: LONGEST_PROMPT,
    multiline: true,
  },
  size: {
    type: 'choice',
    description: 'Shape of the image',
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

const { prompt: promptOption, ...otherOptions } = ownOptions;
const options = {
  prompt: promptOption,
  ...references,
  ...otherOptions,
} as const satisfies OptionDeclarations;

const changeOptions = {
  prompt: {
    type: 'text',
    description: 'Describe the change',
    label: 'What should change?',
    help: 'Such as “make it night” or “remove the people”.',
    required: true,
    maximumLength: LONGEST_PROMPT,
    multiline: true,
  },
} as const satisfies OptionDeclarations;

const animateOptions = {
  prompt: {
    type: 'text',
    description: 'Describe the video',
    label: 'Description',
    help: 'Leave this empty to use the description of the image.',
    maximumLength: LONGEST_PROMPT,
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
    // The words of a changed image describe the change only.
    const about = prompt ?? (job.basedOn === undefined ? promptOf(job) : undefined);
    return context.jobs.start({
      work: {
        route: 'media.video',
        request: present({
          model,
          prompt: about && clip(about, LONGEST_PROMPT),
          duration: duration === undefined ? undefined : Number(duration),
        }),
        image: { job: job.id, source },
      },
      title: `Creating a video of ${about === undefined ? 'your image' : quoted(about)}`,
      parent: job.id,
      basedOn: quoted(promptOf(job)),
      command: 'video',
    });
  },
});

/** Starts an image that is made from an image of a result. */
const change = defineFormAction({
  options: changeOptions,

  async form({ job, index }, context) {
    imageOf(job, index);
    await context.models.imageEditor({ previous: genModelOf(job) });
    return { title: 'Change the image', submitLabel: 'Make image', initial: {} };
  },

  async run({ job, index, options: { prompt } }, context) {
    const source = imageOf(job, index);
    const model = await context.models.imageEditor({ previous: genModelOf(job) });
    const original = quoted(promptOf(job));
    return context.jobs.start({
      work: genWork(model, [prompt], [{ job: job.id, source }]),
      title: `Changing ${original}`,
      parent: job.id,
      basedOn: original,
    });
  },
});

/** Starts an image that is made from an image of any message. */
const changeAttached = defineSubcommand({
  description: 'Change an image',
  options: { ...changeOptions, image: { ...references.reference, label: 'Image', required: true } },
  form: { title: 'Change the image', submitLabel: 'Make image' },

  async run({ options: { prompt, image: file } }, context) {
    const model = await context.models.imageEditor();
    const name = shortened(file.name, 60);
    return context.jobs.start({
      work: genWork(model, [prompt], [file]),
      title: `Changing ${quoted(name)}`,
      basedOn: name,
    });
  },
});

export const image = defineCommand({
  name: 'image',
  description: 'Create an image',
  options,
  form: { title: 'New image', submitLabel: 'Make image' },
  messageMenu: {
    label: 'Change this image',
    form: changeAttached,
    file: {
      option: 'image',
      missing: 'This message has no image that I can read. Choose a message with an image.',
    },
  },
  suggestion: { title: 'Make an image', message: 'Create an image of a lighthouse at night, in oil.' },
  autocomplete: { model: ({ typed }, { models }) => models.suggest('image', typed) },

  async run(
    { options: { prompt, size, avoid, exact, model: named, reference, reference2, reference3 } },
    context,
  ) {
    const images = [reference, reference2, reference3].filter((file) => file !== undefined);
    const { models } = context;
    const name =
      images.length > 0 ? await models.imageEditor({ named }) : await models.resolve('image', named);
    const { route, id: model } = parseModelName('image', name);
    const work: Work = route
      ? genWork(name, [prompt, ...details(size, avoid)], images)
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
    const basedOn = images.map((file) => shortened(file.name, 60)).join(', ') || undefined;
    return context.jobs.start(present({ work, title: `Creating an image of ${quoted(prompt)}`, basedOn }));
  },

  done(job) {
    const prompt = promptOf(job);
    const images = job.result?.images ?? [];
    const suffix = (index: number, word = '') => (images.length > 1 ? `${word} ${index + 1}` : '');
    const text = textOf(job, images.length);
    const { fields, actions } = lineage(job);
    const from = job.basedOn === undefined ? '' : ` (made from ${job.basedOn})`;
    return {
      title: capitalised(shortened(prompt, 200)),
      ...present({ text: text || undefined }),
      fields,
      media: images.map(
        (source, index): MediaItem => ({
          kind: 'image',
          name: `${clip(prompt, 60)}${suffix(index)}`,
          source,
          alt: `${images.length > 1 ? `Image ${index + 1} of ${images.length}: ` : ''}${prompt}${from}`,
        }),
      ),
      footer: `Requested by ${job.person.displayName}`,
      actions: [
        ...images.flatMap((_, index): Button[] => [
          {
            ...button(job, 'change', `Change${suffix(index, ' image')}`, index),
            short: `Change${suffix(index)}`,
            icon: 'change',
          },
          {
            ...button(job, 'animate', `Animate${suffix(index, ' image')}`, index),
            short: `Animate${suffix(index)}`,
            icon: 'video',
          },
        ]),
        againButton(job),
        ...actions,
      ],
    };
  },

  actions: { change, animate },
});

/** The text of a gen model next to its images, or the reason for the missing text. */
function textOf({ work, result }: JobView, images: number): string | undefined {
  const answer = result?.answer;
  if (work.route !== 'gen.image' || answer === undefined) return undefined;
  const isEmpty = images === 0 && answer.text.trim() === '';
  return isEmpty ? emptyAnswer(answer, work) : plain(answer.text);
}

/** Gen models have no size or avoid parameter, so the text describes both. */
function details(size: string | undefined, avoid: string | undefined): string[] {
  const shape = SIZES.find(({ value }) => value === size);
  return [
    ...(shape ? [`Its shape: ${shape.typed}, ${shape.value.replace('*', ' by ')} pixels.`] : []),
    ...(avoid ? [`Do not show: ${avoid}`] : []),
  ];
}

/** @param name of the model, with its route. @param texts the prompt first */
function genWork(name: string, texts: readonly string[], images: readonly WorkFile[]): Work {
  const { id: model } = parseModelName('image', name);
  const parts = texts.map((text) => ({ type: 'text' as const, text }));
  return present({
    route: 'gen.image' as const,
    request: { model, turns: [{ role: 'user' as const, parts }] },
    images: images.length > 0 ? images : undefined,
  });
}

/** The model that made the image, with its route, if it is a gen model. */
function genModelOf({ work }: JobView): string | undefined {
  return work.route === 'gen.image' ? `gen:${work.request.model}` : undefined;
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

/** The command, limited to the abilities of the services: videos from images, and images from images. */
export function imageFor({
  animates,
  changes,
}: Readonly<Record<'animates' | 'changes', boolean>>): AnyCommand {
  const { done, messageMenu, ...command } = image;
  const removed = [...(animates ? [] : ['animate']), ...(changes ? [] : ['change'])];
  const isOffered = (offered: Button) =>
    offered.type === 'link' || !removed.includes(parseActionId(offered.id)?.action ?? '');
  return {
    ...command,
    ...(changes && messageMenu && { messageMenu }),
    options: changes ? options : ownOptions,
    actions: { ...(changes && { change }), ...(animates && { animate }) },
    ...(done && {
      done(job: JobView) {
        const message = done(job);
        return { ...message, actions: (message.actions ?? []).filter(isOffered) };
      },
    }),
  };
}
