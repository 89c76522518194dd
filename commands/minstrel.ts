import { type AnyCommand, type Context, defineCommand, defineSubcommand } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { plain } from '../src/message.ts';
import type { Change } from '../src/moderation.ts';
import { because, FAMILY_NAMES, privately } from './moderation-text.ts';
import { ownUsageText } from './usage-text.ts';

/** Days that a person's own usage tells of. */
const OWN_DAYS = 30;
/** Changes that are listed. */
const MOST_CHANGES = 20;

/** Help for these commands, what is set here, and what people may ask about their own data. */
export function minstrelFor(others: readonly AnyCommand[]): AnyCommand {
  async function help({ moderation }: Context, isModerator: boolean) {
    const known = others.filter(({ moderatorsOnly }) => isModerator || !moderatorsOnly);
    const models = await moderation.models.inForce();
    return privately({
      title: 'What I can do',
      text: [
        known.map(({ name, description }) => `- **/${plain(name)}**: ${plain(description)}`).join('\n'),
        '**What is set here**',
        models
          .map(
            ({ family, model, from }) =>
              `- ${FAMILY_NAMES[family]}: ${model ? `${plain(model)}, ` : ''}${because(from)}`,
          )
          .join('\n'),
        'Mention me, or reply to me, to ask a question. **/minstrel usage** shows what you used, **/minstrel forget** erases what I keep about you.',
      ].join('\n\n'),
    });
  }

  return defineCommand({
    name: 'minstrel',
    description: 'Help, what is set here, and what is kept about you',
    options: {},
    alwaysAllowed: true,
    answersPrivately: true,
    run: ({ person }, context) => help(context, person.moderator),

    subcommands: {
      help: defineSubcommand({
        description: 'What the bot can do, and what is set here',
        options: {},
        run: ({ person }, context) => help(context, person.moderator),
      }),

      usage: defineSubcommand({
        description: 'What you used here',
        options: {},
        async run(_invocation, { moderation }) {
          const rows = await moderation.ownUsage(OWN_DAYS);
          return privately(ownUsageText(rows, OWN_DAYS, moderation.limits.hasUnits));
        },
      }),

      forget: defineSubcommand({
        description: 'Erase what is kept about you: requests, results, files, voices, usage',
        options: {
          confirm: { type: 'flag', description: 'Yes, erase it; it cannot be brought back' },
        },
        async run({ options: { confirm } }, { moderation }) {
          if (!confirm) {
            return privately(
              'This erases everything I keep about you in this chat, in every server: what you asked for, the results and their files, the voices you kept, and what you used. Messages that stand in channels stay; their buttons will say that they are too old. What is erased cannot be brought back. To go on, use **/minstrel forget** again with “confirm” switched on.',
            );
          }
          const { jobs, files } = await moderation.forgetMe();
          return privately(
            `Erased: ${jobs} requests with their results, ${files} files, your voices and your usage.`,
          );
        },
      }),

      audit: defineSubcommand({
        description: 'What moderators changed here, for moderators',
        options: {},
        async run({ person }, { moderation }) {
          if (!person.moderator) throw new UserError('Only moderators may see what was changed.');
          const changes = await moderation.audit(MOST_CHANGES);
          if (changes.length === 0) return privately('Nothing was changed here yet.');
          return privately({ title: 'What was changed here', text: changes.map(changeLine).join('\n') });
        },
      }),
    },
  });
}

function changeLine({ at, by, place, what, from, to }: Change): string {
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  const where = place === 'server' ? 'server' : `channel ${place}`;
  return `- ${plain(`${when} UTC, ${by.displayName}, ${where}, ${what}: ${from} → ${to}`)}`;
}
