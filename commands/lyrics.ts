import { defineCommand, type OptionDeclarations } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { actionId, type Message, plain } from '../src/message.ts';
import type { JobView } from '../src/work.ts';
import { singForm } from './song.ts';
import { lyricsMarkdown } from './studio/sections.ts';
import { clip, quoted } from './text.ts';

/** Platforms draw facts beside each other; longer ones would be broken off, so those stand one after the other. */
const LONGEST_BESIDE = 900;
const LONGEST_BESIDE_TOGETHER = 2000;
/** A message has 25 buttons; the last is Again. */
const MOST_TO_SING = 24;

const options = {
  topic: {
    type: 'text',
    description: 'What the lyrics are about',
    required: true,
    maximumLength: 2000,
    multiline: true,
  },
} as const satisfies OptionDeclarations;

export const lyrics = defineCommand({
  name: 'lyrics',
  description: 'Write lyrics, in several variants',
  options,

  async run({ options: { topic } }, context) {
    const count = topic.split(/\s+/).length;
    const most = context.limits.music.lyricsPromptWords;
    if (count > most) {
      throw new UserError(
        `The topic has ${count} words, and ${most} are allowed. Please shorten it.`,
        'topic',
      );
    }
    return context.jobs.start({
      work: { route: 'music.generateLyrics', request: { prompt: topic } },
      title: `Writing lyrics about ${quoted(topic)}`,
    });
  },

  done(job) {
    const variants = job.result?.lyrics ?? [];
    return {
      title:
        job.work.route === 'music.generateLyrics'
          ? `Lyrics about ${quoted(job.work.request.prompt)}`
          : 'Lyrics',
      ...sideBySide(variants),
      actions: [
        ...variants.slice(0, MOST_TO_SING).map((_, index) => ({
          type: 'action' as const,
          id: actionId({ command: 'lyrics', action: 'sing', job: job.id, index }),
          label: variants.length > 1 ? `Sing it (${index + 1})` : 'Sing it',
          emphasis: 'primary' as const,
        })),
        {
          type: 'action',
          id: actionId({ command: 'lyrics', action: 'again', job: job.id, index: 0 }),
          label: 'Again',
        },
      ],
    };
  },

  actions: {
    sing: {
      async run({ job, index }) {
        const variant = job.result?.lyrics[index];
        if (!variant) throw new UserError('These lyrics are gone. Ask for new ones with /lyrics.');
        return singForm({
          lyrics: variant.text,
          ...(variant.title ? { title: clip(variant.title, 80) } : {}),
        });
      },
    },
  },
});

type Variants = NonNullable<JobView['result']>['lyrics'];

/** Short variants beside each other; long ones whole, one after the other. */
function sideBySide(variants: Variants): Pick<Message, 'text' | 'fields'> {
  const named = variants.map(({ title, text }, index) => ({
    name: `${index + 1}. ${title ?? 'Untitled'}`,
    text,
  }));
  const together = named.reduce((sum, { name, text }) => sum + name.length + text.length, 0);
  if (together <= LONGEST_BESIDE_TOGETHER && named.every(({ text }) => text.length <= LONGEST_BESIDE))
    return { fields: named.map(({ name, text }) => ({ name, value: text })) };
  return {
    text: named.map(({ name, text }) => `**${plain(name)}**\n\n${lyricsMarkdown(text)}`).join('\n\n---\n\n'),
  };
}
