import { defineCommand, type OptionDeclarations } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { actionId, plain } from '../src/message.ts';
import { song } from './song.ts';
import { clip, quoted } from './text.ts';

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
      text: variants
        .map(({ title, text }, index) => `**${index + 1}. ${plain(title ?? 'Untitled')}**\n\n${plain(text)}`)
        .join('\n\n'),
      actions: [
        ...variants.map((_, index) => ({
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
        return {
          type: 'form',
          form: {
            id: 'song',
            title: 'Sing it',
            submitLabel: 'Make the song',
            options: song.options,
            initial: {
              lyrics: variant.text,
              ...(variant.title ? { title: clip(variant.title, 80) } : {}),
            },
          },
        };
      },
    },
  },
});
