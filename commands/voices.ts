import { defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import { notModerator, UserError } from '../src/core/errors.ts';
import { plain } from '../src/core/message.ts';
import { dayMark } from '../src/core/util/moment.ts';
import { findVoice, suggestVoices } from './song/save-voice.ts';
import { completedText } from './text/options.ts';

/** The `voice` option completes the rest by name. */
const MOST_LISTED = 40;

export const voices = defineGroup({
  name: 'voices',
  description: 'Saved voices',
  answersPrivately: true,

  subcommands: {
    show: defineSubcommand({
      description: 'List saved voices and who saved them',
      options: {},
      run: (_invocation, context) => show(context),
    }),

    remove: defineSubcommand({
      description: 'Remove a saved voice (moderators and the person who saved it)',
      form: { title: 'Remove a voice', submitLabel: 'Remove voice' },
      options: {
        voice: { ...completedText('Voice to remove'), help: 'Songs created with it stay.', required: true },
      },
      autocomplete: { voice: suggestVoices },

      async run({ options, person }, context) {
        const voice = await findVoice(options.voice, context);
        if (!person.moderator && voice.savedBy.id !== person.id) {
          throw notModerator(
            person,
            `Only ${voice.savedBy.displayName}, who saved “${voice.name}”, or a moderator can remove it.`,
          );
        }
        if (!(await context.voices.remove(voice.personaId)))
          throw new UserError(`“${voice.name}” was already removed.`, 'voice');
        return privately(
          `Removed “${plain(voice.name)}”. Songs created with it stay. To save it again at no cost, choose **Save voice** in the menu under its song.`,
        );
      },
    }),
  },
});

async function show({ voices }: Context): Promise<Outcome> {
  const saved = await voices.list();
  if (saved.length === 0) {
    return privately(
      'No voices are saved here yet. To add one, choose **Save voice** in the menu under a song.',
    );
  }
  const lines = saved.slice(0, MOST_LISTED).map(({ name, description, savedFrom, savedBy, savedAt }) => {
    const facts = [
      ...(description ? [plain(description)] : []),
      ...(savedFrom ? [`from ${plain(savedFrom)}`] : []),
      `saved by ${plain(savedBy.displayName)} on ${dayMark(savedAt)}`,
    ];
    return `- **${plain(name)}**: ${facts.join('; ')}`;
  });
  const more = saved.length > MOST_LISTED ? [`And ${saved.length - MOST_LISTED} more.`] : [];
  return privately({ title: 'Saved voices here', text: [lines.join('\n'), ...more].join('\n\n') });
}
