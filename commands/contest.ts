import { defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import type { Contest } from '../src/core/contest.ts';
import { notModerator, UserError } from '../src/core/errors.ts';
import {
  type Address,
  type Invocation,
  LOCAL_PLATFORMS,
  type Person,
  serverOf,
} from '../src/core/invocation.ts';
import { plain } from '../src/core/message.ts';
import type { ChoiceOption } from '../src/core/options.ts';
import { timeText } from '../src/core/util/moment.ts';
import { announcement, votingTime } from './contest/messages.ts';
import { singForm } from './song.ts';
import { choicesOf, completedText } from './text/options.ts';

const HOUR = 3_600_000;
const VOTING_HOURS = {
  '1 hour': 1,
  '6 hours': 6,
  '12 hours': 12,
  '1 day': 24,
  '2 days': 48,
  '3 days': 72,
  '1 week': 168,
};
const ENDS = ['in 3 hours', 'tomorrow at 18:00', 'friday at 18:00', 'sunday at 20:00'];
const NONE = 'There is no contest in this channel. Moderators can start one with /contest start.';

const votingOption = {
  type: 'choice',
  description: 'How long people can vote (default: 1 day)',
  label: 'Voting time',
  help: 'By default, 1 day.',
  choices: Object.entries(VOTING_HOURS).map(([name, hours]) => ({ name, value: String(hours) })),
} as const satisfies ChoiceOption;

export const contest = defineGroup({
  name: 'contest',
  description: 'Song contest: a theme, entries, a vote and a winner',
  answersPrivately: true,

  subcommands: {
    show: defineSubcommand({
      description: 'Show the contest in this channel',
      options: {},
      run: async (_invocation, context) => privately(await show(context)),
    }),

    start: defineSubcommand({
      description: 'Start a contest in this channel (moderators)',
      form: { title: 'New contest', submitLabel: 'Start contest' },
      options: {
        theme: {
          type: 'text',
          description: 'Theme of the songs',
          required: true,
          maximumLength: 200,
        },
        ends: {
          ...completedText('When entries close, such as “friday at 18:00”', 100),
          label: 'Entries close',
          required: true,
        },
        entries: {
          type: 'number',
          description: 'Songs that each person can enter, 1 to 3 (default: 1)',
          label: 'Entries per person',
          help: 'By default, 1.',
          integer: true,
          minimum: 1,
          maximum: 3,
        },
        voting: votingOption,
      },
      autocomplete: {
        ends: async ({ typed }) =>
          choicesOf(ENDS.filter((each) => each.startsWith(typed.trim().toLowerCase()))),
      },
      async run({ options, address, person }, { contests }) {
        assertModerates(address, person);
        const { theme, ends, entries = 1, voting = '24' } = options;
        const started = await contests.start({
          theme,
          ends,
          entriesPerPerson: entries,
          votingMs: Number(voting) * HOUR,
        });
        const zone = await contests.timeZone();
        return privately(
          `Entries are open until ${plain(timeText(started.endsAt, zone))} (${plain(zone)}). Voting then lasts ${votingTime(started.votingMs)}. To close entries earlier, use /contest end.`,
        );
      },
    }),

    end: defineSubcommand({
      description: 'Close entries or voting now (moderators)',
      options: {},
      async run({ address, person }, { contests }) {
        assertModerates(address, person);
        const { state } = await contests.end();
        return privately(state === 'voting' ? 'Closing the vote.' : 'Closing entries.');
      },
    }),

    cancel: defineSubcommand({
      description: 'Cancel the contest without a winner (moderators)',
      options: {},
      async run({ address, person }, { contests }) {
        assertModerates(address, person);
        await contests.cancel();
        return privately('The contest is cancelled. The songs stay with the people who made them.');
      },
    }),
  },

  controls: {
    async enter(_invocation: Invocation, { contests }: Context): Promise<Outcome> {
      const current = await contests.current();
      if (current?.state !== 'entries') throw new UserError('Entries are closed here.');
      return singForm({ prompt: current.theme }, 'Enter the contest');
    },

    async vote({ action }: Invocation, { contests }: Context): Promise<Outcome> {
      const { job = '', index = 0 } = action ?? {};
      await contests.vote(job, index);
      return privately(`Your vote: entry ${index}. To change it, press another button.`);
    },
  },

  actions: {
    take: {
      async run({ job, index }, { contests }) {
        await contests.chooseTake(job, index);
        return privately(`Take ${index + 1} is your entry.`);
      },
    },
    withdraw: {
      async run({ job }, { contests }) {
        await contests.withdraw(job);
        return privately('Your entry is withdrawn. The song stays yours.');
      },
    },
  },
});

function assertModerates(address: Address, person: Person): void {
  if (serverOf(address) === undefined && !LOCAL_PLATFORMS.has(address.platform))
    throw new UserError('A contest needs other people. Use this in a channel.');
  if (!person.moderator && serverOf(address) !== undefined)
    throw notModerator(person, 'Only moderators can start, end or cancel a contest.');
}

async function show({ contests, now }: Context) {
  const current = await contests.current();
  if (!current) return { text: NONE };
  const zone = await contests.timeZone();
  const title = `Song contest: ${current.theme}`;
  if (current.state === 'voting') return { title, text: votingText(current, zone) };
  if (now() >= current.endsAt)
    return { title, text: 'Entries are closed. The vote starts when the last song is finished.' };
  return announcement(current, { zone, unfinished: 0 });
}

function votingText({ votingEndsAt = 0 }: Contest, zone: string): string {
  return `Voting is open until ${plain(timeText(votingEndsAt, zone))} (${plain(zone)}). Listen to the entries above in this channel, and vote there.`;
}
