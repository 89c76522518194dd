import { defineCommand, type OptionDeclarations } from '../src/command.ts';
import { actionId, type MediaItem, plain } from '../src/message.ts';
import type { JobView } from '../src/work.ts';
import { animate } from './studio/animate.ts';
import { clip, quoted } from './text.ts';

/** Width and height in pixels that every public model of this dialect takes. */
const SIZES = [
  { name: 'square', value: '1328*1328' },
  { name: 'wide', value: '1664*928' },
  { name: 'tall', value: '928*1664' },
  { name: 'landscape', value: '1472*1104' },
  { name: 'portrait', value: '1104*1472' },
] as const;

const options = {
  prompt: {
    type: 'text',
    description: 'What the picture shows',
    required: true,
    maximumLength: 800,
    multiline: true,
  },
  size: { type: 'choice', description: 'Its shape', choices: SIZES },
  avoid: { type: 'text', description: 'What it must not show', maximumLength: 500 },
  model: {
    type: 'text',
    description: 'The picture model',
    maximumLength: 100,
    suggest: ({ typed }, { models }) => models.suggest('image', typed),
  },
} as const satisfies OptionDeclarations;

export const image = defineCommand({
  name: 'image',
  description: 'Paint a picture',
  options,

  async run({ options: { prompt, size, avoid, model: named } }, context) {
    const model = await context.models.resolve('image', named);
    const [, genModel] = /^gen:(.+)$/.exec(model) ?? [];
    const title = `Painting ${quoted(prompt)}`;
    if (genModel) {
      const text = avoid ? `${prompt}\n\nDo not show: ${avoid}` : prompt;
      return context.jobs.start({
        work: {
          route: 'gen.image',
          request: { model: genModel, turns: [{ role: 'user', parts: [{ type: 'text', text }] }] },
        },
        title,
      });
    }
    return context.jobs.start({
      work: {
        route: 'media.image',
        request: {
          model,
          prompt,
          ...(size === undefined ? {} : { size }),
          ...(avoid === undefined ? {} : { negativePrompt: avoid }),
        },
      },
      title,
    });
  },

  done(job) {
    const prompt = promptOf(job);
    const images = job.result?.images ?? [];
    const text = job.result?.answer?.text;
    return {
      title: clip(prompt, 200),
      ...(text ? { text: plain(text) } : {}),
      media: images.map(
        (source, index): MediaItem => ({
          kind: 'image',
          name: images.length > 1 ? `${clip(prompt, 60)} ${index + 1}` : clip(prompt, 60),
          source,
          alt: prompt,
        }),
      ),
      footer: `Asked by ${job.person.displayName}`,
      actions: [
        ...images.map((_, index) => ({
          type: 'action' as const,
          id: actionId({ command: 'image', action: 'animate', job: job.id, index }),
          label: images.length > 1 ? `Animate ${index + 1}` : 'Animate',
        })),
        {
          type: 'action',
          id: actionId({ command: 'image', action: 'again', job: job.id, index: 0 }),
          label: 'Again',
        },
      ],
    };
  },

  actions: { animate },
});

function promptOf({ work }: JobView): string {
  if (work.route === 'media.image') return work.request.prompt;
  if (work.route !== 'gen.image') return 'Picture';
  const [part] = work.request.turns.at(-1)?.parts ?? [];
  return part?.type === 'text' ? part.text : 'Picture';
}
