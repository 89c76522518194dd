import { defineCommand } from '../src/core/bot/command.ts';
import { UserError } from '../src/core/errors.ts';
import type { JobView } from '../src/core/job.ts';
import { againButton, button, type Message, plain } from '../src/core/message.ts';
import { SONG_LIMITS } from '../src/core/music/song-limits.ts';
import type { OptionDeclarations } from '../src/core/options.ts';
import { lyricsMarkdown } from './song/lyrics-text.ts';
import { singForm } from './song.ts';
import { clip, quoted } from './text/phrases.ts';

/** Characters. Platforms show fields in columns and cut long ones, so longer lyrics go into the text. */
const LONGEST_COLUMN = 900;
const LONGEST_COLUMNS = 2000;
/** A message has 25 buttons; the last is Again. */
const MOST_TO_SING = 24;

const options = {
  topic: {
    type: 'text',
    description: 'Topic of the lyrics',
    help: 'What are the lyrics about?',
    required: true,
    maximumLength: 2000,
    multiline: true,
  },
} as const satisfies OptionDeclarations;

export const lyrics = defineCommand({
  name: 'lyrics',
  family: 'song',
  description: 'Write several versions of the lyrics',
  options,
  form: { title: 'New lyrics', submitLabel: 'Write lyrics' },
  suggestion: { title: 'Write lyrics', message: 'Write lyrics about the last train home.' },

  async run({ options: { topic } }, context) {
    const count = topic.split(/\s+/).length;
    const most = SONG_LIMITS.lyricsPromptWords;
    if (count > most) {
      throw new UserError(`The topic is too long: ${count} words. The limit is ${most}.`, 'topic');
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
      ...variantsContent(variants),
      variants: variants.slice(0, MOST_TO_SING).map(({ title, text }, index) => {
        const name = title ?? versionName(index);
        return {
          title: name,
          text: lyricsMarkdown(text),
          action: { ...button(job, 'sing', 'Sing this', index), about: name },
        };
      }),
      actions: [
        ...variants.slice(0, MOST_TO_SING).map((_, index) => ({
          ...button(job, 'sing', variants.length > 1 ? `Sing ${index + 1}` : 'Sing it', index),
          icon: 'karaoke' as const,
        })),
        againButton(job),
      ],
    };
  },

  actions: {
    sing: {
      async run({ job, index }) {
        const variant = job.result?.lyrics[index];
        if (!variant)
          throw new UserError('Those lyrics are no longer available. Write new ones with /lyrics.');
        const { text, title } = variant;
        return singForm({ lyrics: text, title: title ? clip(title, 80) : undefined });
      },
    },
  },
});

type Variants = NonNullable<JobView['result']>['lyrics'];

const versionName = (index: number): string => `Version ${index + 1}`;

/** Short variants as columns, long ones as text. */
function variantsContent(variants: Variants): Pick<Message, 'text' | 'fields'> {
  const titled = variants.map(({ title, text }, index) => ({
    name: title === undefined ? versionName(index) : `${versionName(index)}: ${title}`,
    text,
  }));
  const totalLength = titled.reduce((sum, { name, text }) => sum + name.length + text.length, 0);
  if (totalLength <= LONGEST_COLUMNS && titled.every(({ text }) => text.length <= LONGEST_COLUMN))
    return { fields: titled.map(({ name, text }) => ({ name, value: text })) };
  return {
    text: titled.map(({ name, text }) => `### ${plain(name)}\n\n${lyricsMarkdown(text)}`).join('\n\n---\n\n'),
  };
}
