import { type Context, defineCommand, defineSubcommand, type TextOption } from '../src/command.ts';
import { plain } from '../src/message.ts';
import { limitsMessage, ruleSentence } from './limits-text.ts';
import {
  familyChoices,
  here,
  nameOf,
  privately,
  subjectOf,
  whereOption,
  whoOption,
} from './moderation-text.ts';
import { usageReport } from './usage-text.ts';

const scope = {
  type: 'choice',
  description: 'Whom it counts: each person, or all in this channel or server together',
  required: true,
  choices: [
    { name: 'person', value: 'person' },
    { name: 'channel', value: 'channel' },
    { name: 'server', value: 'server' },
  ],
} as const;

const limitName = {
  family: { type: 'choice', description: 'Of what; everything together if left out', choices: familyChoices },
  per: {
    type: 'choice',
    description: 'In any stretch of this length; a day if left out',
    choices: [
      { name: 'hour', value: 'hour' },
      { name: 'day', value: 'day' },
    ],
  },
  of: {
    type: 'choice',
    description: 'What is counted; requests if left out',
    choices: [
      { name: 'requests', value: 'requests' },
      { name: 'units', value: 'units' },
    ],
  },
} as const;

const command = {
  type: 'text',
  description: 'The command, or all',
  required: true,
  maximumLength: 40,
  suggest: async ({ typed }, { moderation }) =>
    moderation.access.commands
      .filter((name) => name.includes(typed.trim().replace(/^\//, '').toLowerCase()))
      .map((name) => ({ name, value: name })),
} as const satisfies TextOption;

const somebody = { ...whoOption, required: true } as const;

export const limits = defineCommand({
  name: 'limits',
  description: 'How much may be used here, and who may use what',
  options: {},
  moderatorsOnly: true,
  answersPrivately: true,
  run: async (_invocation, context) => privately(await limitsMessage(context)),

  subcommands: {
    show: defineSubcommand({
      description: 'What is limited here, and how much of it is used',
      options: {},
      run: async (_invocation, context) => privately(await limitsMessage(context)),
    }),

    set: defineSubcommand({
      description: 'Limit how much may be used',
      options: {
        scope,
        family: limitName.family,
        most: {
          type: 'number',
          description: 'How much; 0 is none, left out is no limit',
          minimum: 0,
          maximum: 1_000_000_000,
        },
        per: limitName.per,
        of: limitName.of,
        who: { ...whoOption, description: 'Only for this person, or for each person with this role' },
      },
      async run({ options }, { moderation }) {
        const name = nameFrom(options);
        if (options.most === undefined) return takeBack(name, moderation);
        const sentence = await moderation.limits.set({ ...name, most: options.most });
        const idle =
          name.of === 'units' && !moderation.limits.hasUnits
            ? ' Whoever runs this bot has set no prices, so nothing counts in units yet.'
            : '';
        return privately(`The limit is now ${plain(sentence)}.${idle}`);
      },
    }),

    reset: defineSubcommand({
      description: 'Take a limit back',
      options: { scope, ...limitName, who: whoOption },
      run: ({ options }, { moderation }) => takeBack(nameFrom(options), moderation),
    }),

    exempt: defineSubcommand({
      description: 'Whether the limits set here hold for moderators',
      options: { exempt: { type: 'flag', description: 'On: moderators are exempt', required: true } },
      async run({ options: { exempt } }, { moderation }) {
        await moderation.limits.exemptModerators(exempt);
        return privately(
          exempt
            ? 'Moderators are exempt from the limits set here. Those of whoever runs this bot still hold.'
            : 'The limits set here hold for moderators too.',
        );
      },
    }),

    allow: defineSubcommand({
      description: 'Say who may use a command: those who are named, or everyone',
      options: {
        command,
        who: { ...whoOption, description: 'A person or a role; everyone if left out' },
        where: whereOption,
      },
      async run({ options: { command: name, who, where = 'channel' } }, { moderation }) {
        const subject = who === undefined ? undefined : subjectOf(who);
        await moderation.access.allow(name, subject, where);
        return privately(await ruleSentence(name, where, moderation));
      },
    }),

    forbid: defineSubcommand({
      description: 'Switch a command off, or take somebody from those who may use it',
      options: {
        command,
        who: { ...whoOption, description: 'A person or a role that was named; nobody may if left out' },
        where: whereOption,
      },
      async run({ options: { command: name, who, where = 'channel' } }, { moderation }) {
        const subject = who === undefined ? undefined : subjectOf(who);
        await moderation.access.forbid(name, subject, where);
        return privately(await ruleSentence(name, where, moderation));
      },
    }),

    inherit: defineSubcommand({
      description: 'Take back what was said about who may use a command',
      options: { command, where: whereOption },
      async run({ options: { command: name, where = 'channel' } }, { moderation }) {
        const had = await moderation.access.reset(name, where);
        return privately(had ? 'Taken back.' : `Nothing was said about that in ${here(where)}.`);
      },
    }),

    block: defineSubcommand({
      description: 'Keep somebody from using the bot in this server',
      options: { who: somebody },
      async run({ options: { who } }, { moderation }) {
        const subject = subjectOf(who);
        await moderation.access.block(subject);
        return privately(`${nameOf(subject)} cannot use me in this server any more.`);
      },
    }),

    unblock: defineSubcommand({
      description: 'Let somebody use the bot again',
      options: { who: somebody },
      async run({ options: { who } }, { moderation }) {
        const subject = subjectOf(who);
        const had = await moderation.access.unblock(subject);
        return privately(
          had ? `${nameOf(subject)} can use me again.` : `${nameOf(subject)} was not blocked.`,
        );
      },
    }),

    appoint: defineSubcommand({
      description: 'Let somebody moderate the bot, beside the server’s own moderators',
      options: { who: somebody },
      async run({ options: { who } }, { moderation }) {
        const subject = subjectOf(who);
        await moderation.access.appoint(subject);
        return privately(`${nameOf(subject)} can now use /models and /limits in this server.`);
      },
    }),

    dismiss: defineSubcommand({
      description: 'Take back that somebody moderates the bot',
      options: { who: somebody },
      async run({ options: { who } }, { moderation }) {
        const subject = subjectOf(who);
        const had = await moderation.access.dismiss(subject);
        return privately(
          had
            ? `${nameOf(subject)} does not moderate me any more.`
            : `${nameOf(subject)} was not named before.`,
        );
      },
    }),

    report: defineSubcommand({
      description: 'Who used how much in this server',
      options: {
        days: {
          type: 'number',
          description: 'How many days back; 30 if left out',
          integer: true,
          minimum: 1,
          maximum: 90,
        },
      },
      async run({ options: { days = 30 } }, { moderation }) {
        return privately(usageReport(await moderation.report(days), days, moderation.limits.hasUnits));
      },
    }),
  },
});

interface NamedLimit {
  readonly scope: 'person' | 'channel' | 'server';
  readonly family?: 'song' | 'ask' | 'image' | 'video' | undefined;
  readonly per?: 'hour' | 'day' | undefined;
  readonly of?: 'requests' | 'units' | undefined;
  readonly who?: string | undefined;
}

function nameFrom({ scope: counted, family, per = 'day', of = 'requests', who }: NamedLimit) {
  const subject = who === undefined ? undefined : subjectOf(who);
  // A limit for somebody is a limit on a person, whatever else was said.
  const counts = subject === undefined ? counted : ('person' as const);
  return { scope: counts, per, of, ...(family ? { family } : {}), ...(subject ? { who: subject } : {}) };
}

async function takeBack(name: ReturnType<typeof nameFrom>, moderation: Context['moderation']) {
  const { changed, sentence } = await moderation.limits.reset(name);
  return privately(
    changed
      ? `There is no limit on ${plain(sentence)} any more.`
      : `There was no limit on ${plain(sentence)}.`,
  );
}
