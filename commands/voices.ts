import {
  type Context,
  defineCommand,
  defineSubcommand,
  type OptionDeclarations,
  type Outcome,
} from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { plain } from '../src/message.ts';
import { findVoice, suggestVoices } from './studio/voices.ts';

/** Past this many a list helps nobody; the option `voice` finds the others by name. */
const MOST_LISTED = 40;

const removeOptions = {
  voice: {
    type: 'text',
    description: 'The voice to remove',
    required: true,
    maximumLength: 200,
    suggest: ({ typed }, context) => suggestVoices(typed, context),
  },
} as const satisfies OptionDeclarations;

export const voices = defineCommand({
  name: 'voices',
  description: 'The voices that are kept here',
  options: {},
  answersPrivately: true,
  run: (_invocation, context) => show(context),

  subcommands: {
    show: defineSubcommand({
      description: 'Which voices are kept here, and who kept them',
      options: {},
      run: (_invocation, context) => show(context),
    }),

    remove: defineSubcommand({
      description: 'Remove a voice; for moderators and whoever kept it',
      options: removeOptions,

      async run({ options, person }, context) {
        const voice = await findVoice(options.voice, context);
        if (!person.moderator && voice.keptBy.id !== person.id) {
          throw new UserError(
            `Only a moderator, or ${voice.keptBy.displayName}, who kept it, can remove “${voice.name}”.`,
            'voice',
          );
        }
        if (!(await context.voices.remove(voice.personaId)))
          throw new UserError(`“${voice.name}” has been removed already.`, 'voice');
        return privately(`“${plain(voice.name)}” is removed. Songs that were sung with it stay.`);
      },
    }),
  },
});

async function show({ voices }: Context): Promise<Outcome> {
  const kept = await voices.list();
  if (kept.length === 0) {
    return privately('No voice is kept here yet. Keep one with the button **Keep voice** under a song.');
  }
  const lines = kept.slice(0, MOST_LISTED).map(({ name, description, madeFrom, keptBy, keptAt }) => {
    const facts = [
      ...(description ? [plain(description)] : []),
      ...(madeFrom ? [`from ${plain(madeFrom)}`] : []),
      `kept by ${plain(keptBy.displayName)} on ${new Date(keptAt).toISOString().slice(0, 10)}`,
    ];
    return `- **${plain(name)}**: ${facts.join('; ')}`;
  });
  const more = kept.length > MOST_LISTED ? [`And ${kept.length - MOST_LISTED} more.`] : [];
  return privately([lines.join('\n'), ...more].join('\n\n'), 'Voices kept here');
}

function privately(text: string, title?: string): Outcome {
  return {
    type: 'message',
    visibility: 'person',
    message: { ...(title === undefined ? {} : { title }), text },
  };
}
