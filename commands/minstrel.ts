import { type AnyCommand, defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import { notModerator, UserError } from '../src/core/errors.ts';
import { type Address, type Invocation, serverWord } from '../src/core/invocation.ts';
import { plain } from '../src/core/message.ts';
import { FAMILIES, FAMILY_NOUNS, FAMILY_SETTINGS, type Family } from '../src/core/models/family.ts';
import type { Change } from '../src/core/moderation.ts';
import type { FileReference } from '../src/core/options.ts';
import { timeMark } from '../src/core/util/moment.ts';
import { counted } from '../src/core/util/words.ts';
import { modelField } from './text/moderation.ts';
import { originText } from './text/origin.ts';
import { fieldLine } from './text/phrases.ts';
import { ownUsageText } from './text/usage.ts';

/** Days of usage that a person sees. */
const OWN_DAYS = 30;
const MOST_CHANGES = 20;
/** Files of a message that are checked. */
const MOST_FILES = 10;

/** The command for help, settings, and a person's own data. */
export function minstrelFor(documented: readonly AnyCommand[], families: readonly Family[]): AnyCommand {
  async function help(
    { person, address }: Pick<Invocation, 'person' | 'address'>,
    { inForce }: Context,
  ): Promise<Outcome> {
    const visible = documented.filter(({ moderatorsOnly }) => person.moderator || !moderatorsOnly);
    const models = await inForce.models();
    return privately({
      title: 'Commands',
      text: [
        visible.map(({ name, description }) => `- **/${plain(name)}**: ${plain(description)}`).join('\n'),
        '**Settings here**',
        models.map((model) => `- ${fieldLine(modelField(model, address))}`).join('\n'),
        missingText(families),
        `${families.includes('ask') ? 'To ask a question, mention me or reply to me. ' : ''}**/minstrel usage** shows your usage, and **/minstrel forget** deletes your data.`,
      ]
        .filter((part) => part !== '')
        .join('\n\n'),
    });
  }

  return defineGroup({
    name: 'minstrel',
    description: 'Help, settings, and your data',
    alwaysAllowed: true,
    answersPrivately: true,
    messageMenu: { label: 'Verify these files', subcommand: 'verify' },

    subcommands: {
      help: defineSubcommand({
        description: 'List my commands and the settings here',
        options: {},
        run: help,
      }),

      usage: defineSubcommand({
        description: 'Your usage here',
        options: {},
        async run(_invocation, { own, hasUnits }) {
          return privately(ownUsageText(await own.usage(OWN_DAYS), OWN_DAYS, hasUnits));
        },
      }),

      verify: defineSubcommand({
        description: 'Check whether a song, image or video was AI-generated, and by which job',
        options: {
          file: {
            type: 'file',
            description: 'The file',
            accept: ['image', 'audio', 'video'],
            maximumBytes: 25 * 1024 * 1024,
          },
        },
        needsOption: true,
        async run({ options: { file }, files: attached = [] }, { files }) {
          const found = [...(file ? [file] : []), ...attached].slice(0, MOST_FILES);
          if (found.length === 0)
            return privately(
              'Attach a song, an image or a video. Or open the menu of a message with files, and choose “Verify these files”.',
            );
          const texts: string[] = [];
          // One after the other, because each file is held in memory.
          for (const one of found) texts.push(await verify(one, files));
          return privately({ title: 'Origin of the files', text: texts.join('\n\n') });
        },
      }),

      forget: defineSubcommand({
        description:
          'Delete your data: jobs, results, files, voices, schedules, contest entries, votes and usage',
        options: {
          confirm: { type: 'flag', description: 'Confirm that you want to delete your data permanently' },
        },
        async run({ options: { confirm }, address }, { own }) {
          if (!confirm) {
            return privately(
              `This permanently deletes your data in every ${serverWord(address)} on this platform: jobs, results, files, saved voices, schedules, contest entries, votes and usage. My messages in channels stay, but their buttons stop working. Moderators' rules about you stay too. To continue, use **/minstrel forget confirm:true**.`,
            );
          }
          const { jobs, files } = await own.forget();
          return privately(
            `Deleted ${counted(jobs, 'job')} and all results, ${counted(files, 'file')}, your voices, schedules, contest entries, votes and usage.`,
          );
        },
      }),

      audit: defineSubcommand({
        description: 'Recent changes by moderators (moderators only)',
        options: {},
        async run({ person, address }, { moderation }) {
          if (!person.moderator) throw notModerator(person, 'Only moderators can see these changes.');
          const changes = await moderation.audit(MOST_CHANGES);
          if (changes.length === 0) return privately('No changes here yet.');
          return privately({
            title: 'Recent changes here',
            text: changes.map((change) => changeLine(change, address)).join('\n'),
          });
        },
      }),
    },
  });
}

/** The families without a service, and the settings that add each. Empty if all have one. */
function missingText(families: readonly Family[]): string {
  const missing = FAMILIES.filter((family) => !families.includes(family));
  const lines = missing.map((family) => `- ${FAMILY_NOUNS[family].title}: ${plain(FAMILY_SETTINGS[family])}`);
  if (lines.length === 0) return '';
  return ["**Not available here.** The bot's operator can add these commands with a setting:", ...lines].join(
    '\n',
  );
}

/** A file that cannot be read does not hide the others. */
async function verify(file: FileReference, files: Context['files']): Promise<string> {
  try {
    return originText(file.name, await files.originOf(file));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return plain(error.message);
  }
}

function changeLine({ at, by, where: place, what, from, to }: Change, address: Address): string {
  const where = place === 'server' ? serverWord(address) : place;
  return `- ${timeMark(at)}: ${plain(`${by.displayName}, ${where}, ${what}: ${from} → ${to}`)}`;
}
