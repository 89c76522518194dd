/** The home view: forms to create something, running jobs, the settings and recent songs of a channel, and help. */
import type { AnyCommand } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import type { Address, Person } from '../../src/core/invocation.ts';
import type { JobView } from '../../src/core/job.ts';
import type { HomeSection } from '../../src/core/message.ts';
import { FAMILY_NOUNS } from '../../src/core/models/family.ts';
import type { AnswersInForce, ModelInForce } from '../../src/core/moderation.ts';
import type { FormButton } from '../../src/core/options.ts';
import { present } from '../../src/core/util/present.ts';
import { capitalised, timeAgo } from '../../src/core/util/words.ts';
import { runningList } from '../jobs.ts';
import { answerFields, modelField } from '../text/moderation.ts';
import { clip } from '../text/phrases.ts';

const MOST_RUNNING = 10;
const MOST_SONGS = 10;

export interface HomeOptions {
  readonly person: Person;
  readonly address: Address;
  readonly context: Context;
  readonly commands: readonly AnyCommand[];
}

/** `context` belongs to the channel whose settings and songs are shown. */
export async function home({ person, address, context, commands }: HomeOptions): Promise<HomeSection[]> {
  const { inForce } = context;
  const has = (name: string) => commands.some((command) => command.name === name);
  const [models, answers, running, songs] = await Promise.all([
    inForce.models(),
    inForce.answers(),
    context.jobs.running({ everywhere: true }),
    context.jobs.recentSongs(MOST_SONGS),
  ]);
  return [
    create(commands),
    jobs(running, context.now()),
    { ...settings(models, answers, { canChange: person.moderator, address }), startsChannel: true },
    ...(has('song') ? [recent(songs, context.now())] : []),
    help(commands, person.moderator, has('ask')),
  ];
}

const create = (commands: readonly AnyCommand[]): HomeSection => ({
  title: 'Create something',
  forms: commands
    .flatMap(({ name, suggestion }): FormButton[] =>
      suggestion === undefined ? [] : [{ command: name, label: `${suggestion.title}…`, initial: {} }],
    )
    .map((form, index) => (index === 0 ? { ...form, emphasis: 'primary' } : form)),
});

function settings(
  models: readonly ModelInForce[],
  answers: AnswersInForce,
  { canChange, address }: { readonly canChange: boolean; readonly address: Address },
): HomeSection {
  return {
    title: 'Settings',
    fields: [...models.map((model) => modelField(model, address)), ...answerFields(answers, address)],
    ...(canChange ? { forms: settingForms(models) } : { footer: 'Moderators can change these settings.' }),
  };
}

function settingForms(models: readonly ModelInForce[]): FormButton[] {
  const where = 'channel';
  return [
    ...models.map(
      ({ family, model }): FormButton => ({
        command: 'models',
        subcommand: 'set',
        label: `${capitalised(FAMILY_NOUNS[family].one)} model…`,
        initial: present({ family, where, model }),
      }),
    ),
    { command: 'models', subcommand: 'answers', label: 'Answer settings…', initial: { where } },
    { command: 'models', subcommand: 'reset', label: 'Reset…', initial: { where } },
  ];
}

function jobs(running: readonly JobView[], now: number): HomeSection {
  const { fields, actions, more } = runningList(running, MOST_RUNNING, now);
  const footer = fields.length === 0 ? 'You have no running jobs.' : more;
  return present({ title: 'Your running jobs', fields, actions, footer });
}

function recent(songs: readonly JobView[], now: number): HomeSection {
  return {
    title: 'Recent songs here',
    ...(songs.length === 0 ? { footer: 'No songs yet. Create one with /song.' } : {}),
    fields: songs.map(({ title, person, createdAt }) => ({
      name: clip(title, 100),
      value: `requested by ${person.displayName}, ${timeAgo(createdAt, now)}`,
    })),
  };
}

function help(commands: readonly AnyCommand[], isModerator: boolean, answers: boolean): HomeSection {
  return {
    title: 'Commands',
    fields: commands
      .filter(({ moderatorsOnly }) => isModerator || !moderatorsOnly)
      .map(({ name, description }) => ({ name: `/${name}`, value: description })),
    ...(answers && { footer: 'To ask a question, mention me in a channel or send me a message.' }),
  };
}
