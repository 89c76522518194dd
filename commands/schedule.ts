import { type AnyCommand, defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import { notModerator, refusedByDecision, UserError } from '../src/core/errors.ts';
import { type Invocation, type Person, serverOf } from '../src/core/invocation.ts';
import { actionId, type Button, type Icon, type Message, plain } from '../src/core/message.ts';
import { type ChoiceOption, validateOptions } from '../src/core/options.ts';
import type { ScheduledRequest } from '../src/core/scheduled-request.ts';
import { timeMark, timeText } from '../src/core/util/moment.ts';
import { capitalised } from '../src/core/util/words.ts';
import { choicesOf, completedText } from './text/options.ts';
import { shortened } from './text/phrases.ts';

/** Commands that need only text. */
const SCHEDULABLE: ReadonlySet<string> = new Set(['song', 'image', 'video', 'ask']);
/** Schedules with two buttons each in the list. Subcommands change the rest. */
const MOST_WITH_BUTTONS = 5;
const LONGEST_PROMPT = 80;
const EXAMPLES = [
  'every day at 9:00',
  'every friday at 17:00',
  'every month on the 1st at 9:00',
  'tomorrow at 18:00',
];

const scheduleOption = { ...completedText('One of the schedules here'), required: true } as const;

/** The command that runs some of these commands at set times. */
export function scheduleFor(features: readonly AnyCommand[]): AnyCommand {
  const commands = features.filter(({ name }) => SCHEDULABLE.has(name));
  const what = {
    type: 'choice',
    description: 'Kind of result',
    label: 'Result',
    help: 'What should it create?',
    required: true,
    choices: choicesOf(commands.map(({ name }) => name)),
  } as const satisfies ChoiceOption;

  const change = (description: string, run: Change) =>
    defineSubcommand({
      description,
      options: { schedule: scheduleOption },
      autocomplete: { schedule: (_request, context) => suggestions(context) },
      run: async ({ options: { schedule }, person }, context) =>
        privately(await run(await find(schedule, person, context), context)),
    });

  return defineGroup({
    name: 'schedule',
    description: 'Create something at set times',
    answersPrivately: true,

    subcommands: {
      show: defineSubcommand({
        description: 'List the schedules here, and pause or remove them',
        options: {},
        run: async (_invocation, context) => privately(await list(context)),
      }),

      add: defineSubcommand({
        description: 'Create a song, image, video or answer in this channel at set times',
        form: { title: 'New schedule', submitLabel: 'Add schedule' },
        options: {
          what,
          when: {
            ...completedText('Such as “every friday at 17:00” or “tomorrow at 18:00”', 100),
            required: true,
          },
          prompt: {
            type: 'text',
            description: 'Your prompt or question',
            required: true,
            maximumLength: 3000,
            multiline: true,
          },
        },
        autocomplete: {
          when: async ({ typed }) =>
            choicesOf(EXAMPLES.filter((example) => example.startsWith(typed.trim().toLowerCase()))),
        },
        async run({ options: { what: name, when, prompt } }, context) {
          const command = commands.find((each) => each.name === name);
          const option = Object.entries(command?.options ?? {}).find(([, { type }]) => type === 'text')?.[0];
          if (!command || option === undefined) throw new UserError(`I can't schedule “${name}”.`, 'what');
          const options = { [option]: prompt };
          validateOptions(options, command.options);
          const added = await context.schedules.add({ command: name, options, prompt, when });
          const zone = await context.schedules.timeZone();
          return privately({
            title: 'Scheduled',
            text: line(added, zone),
            actions: buttons(added),
            footer: 'The result appears here and counts towards your limits.',
          });
        },
      }),

      pause: change('Pause a schedule', pause),
      resume: change('Resume a paused schedule', resume),
      remove: change('Remove a schedule', remove),

      zone: defineSubcommand({
        description: 'Set the time zone of all schedules here (moderators)',
        options: { zone: { ...completedText('Such as Europe/Berlin', 60), required: true } },
        autocomplete: {
          zone: async ({ typed }) => {
            const query = typed.trim().toLowerCase().replaceAll(' ', '_');
            return choicesOf(
              Intl.supportedValuesOf('timeZone').filter((name) => name.toLowerCase().includes(query)),
            );
          },
        },
        async run({ options: { zone }, address, person }, { schedules }) {
          if (!person.moderator && serverOf(address) !== undefined)
            throw notModerator(person, 'Only moderators can set the time zone here.');
          await schedules.setTimeZone(zone);
          return privately(`Schedules here now use the time zone ${plain(zone)}.`);
        },
      }),
    },

    controls: { pause: control(pause), resume: control(resume), remove: control(remove) },
  });
}

type Change = (request: ScheduledRequest, context: Context) => Promise<string>;

/** The button of a schedule in the list. */
const control =
  (run: Change) =>
  async ({ action, person }: Invocation, context: Context): Promise<Outcome> =>
    privately(await run(await find(action?.job ?? '', person, context), context));

async function pause({ id, prompt }: ScheduledRequest, { schedules }: Context): Promise<string> {
  if (!(await schedules.setPaused(id, true))) throw gone();
  return `Paused “${summary(prompt)}”. To continue, use /schedule resume.`;
}

async function resume({ id }: ScheduledRequest, { schedules }: Context): Promise<string> {
  const resumed = await schedules.setPaused(id, false);
  if (!resumed) throw gone();
  return `Resumed: ${line(resumed, await schedules.timeZone())}`;
}

async function remove({ id, prompt }: ScheduledRequest, { schedules }: Context): Promise<string> {
  if (!(await schedules.remove(id))) throw gone();
  return `Removed “${summary(prompt)}”.`;
}

const gone = () => new UserError('This schedule no longer exists.', 'schedule');

/** Finds a schedule by id, or by its number in the list. Throws UserError if the person may not change it. */
async function find(query: string, person: Person, { schedules }: Context): Promise<ScheduledRequest> {
  const all = await schedules.list();
  const found = all.find(({ id }) => id === query) ?? all[Number(query) - 1];
  if (!found)
    throw new UserError('There is no such schedule here. To see all, use /schedule show.', 'schedule');
  if (found.person.id !== person.id && !person.moderator)
    throw refusedByDecision(`Only ${found.person.displayName} or a moderator can change this schedule.`);
  return found;
}

async function suggestions({ schedules }: Context) {
  return (await schedules.list()).map(({ id, command, prompt, when }, index) => ({
    name: shortened(`${index + 1}. ${command} ${when}: ${prompt}`, 100),
    value: id,
    typed: String(index + 1),
  }));
}

async function list({ schedules }: Context): Promise<Message> {
  const [all, zone] = await Promise.all([schedules.list(), schedules.timeZone()]);
  if (all.length === 0) return { text: 'Nothing is scheduled here. To add something, use /schedule add.' };
  return {
    title: 'Schedules here',
    text: all.map((request, index) => `${index + 1}\\. ${line(request, zone)}`).join('\n\n'),
    actions: all.slice(0, MOST_WITH_BUTTONS).flatMap((request, index) => buttons(request, index + 1)),
    footer: `Time zone: ${zone}`,
  };
}

/** @param number tells the buttons of several schedules apart */
function buttons({ id: job, prompt, nextAt }: ScheduledRequest, number?: number): Button[] {
  const of = (action: string, label: string, icon: Icon): Button => ({
    type: 'action',
    id: actionId({ command: 'schedule', action, job, index: 0 }),
    label: number === undefined ? label : `${label} ${number}`,
    icon,
    about: shortened(prompt, LONGEST_PROMPT),
  });
  const turn = nextAt === undefined ? of('resume', 'Resume', 'play') : of('pause', 'Pause', 'pause');
  return [turn, of('remove', 'Remove', 'remove')];
}

function line({ command, prompt, when, nextAt, person, address }: ScheduledRequest, zone: string): string {
  const time = nextAt === undefined ? undefined : timeMark(nextAt, timeText(nextAt, zone));
  const facts = [
    plain(capitalised(when)),
    time === undefined ? 'paused' : when === 'once' ? time : `next on ${time}`,
    ...(address.channelName === undefined ? [] : [plain(`#${address.channelName}`)]),
    `by ${plain(person.displayName)}`,
  ];
  return `**${capitalised(command)}** “${summary(prompt)}”\n${facts.join(' · ')}`;
}

const summary = (prompt: string): string => plain(shortened(prompt, LONGEST_PROMPT));
