import { type Autocomplete, defineCommand, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { plain } from '../src/core/message.ts';
import { EVERYONE, type LimitName, type Moderation, type Subject } from '../src/core/moderation.ts';
import {
  type ChoiceOption,
  type OptionDeclarations,
  type OptionValues,
  present,
} from '../src/core/options.ts';
import { here, limitsMessage, nameOf, ruleSentence } from './text/moderation.ts';
import {
  choicesOf,
  completedText,
  limitedChoices,
  subjectOf,
  whereOption,
  whoOption,
} from './text/options.ts';
import { privately } from './text/text.ts';
import { usageReport } from './text/usage.ts';

const scope = {
  type: 'choice',
  description: 'Whom it counts: each person, or all in this channel or server together',
  required: true,
  choices: choicesOf(['person', 'channel', 'server']),
} as const satisfies ChoiceOption;

const limitName = {
  family: {
    type: 'choice',
    description: 'Of what; everything together if left out',
    choices: limitedChoices,
  },
  per: {
    type: 'choice',
    description: 'In any stretch of this length; a day if left out',
    choices: choicesOf(['hour', 'day']),
  },
  of: {
    type: 'choice',
    description: 'What is counted; requests if left out',
    choices: choicesOf(['requests', 'units']),
  },
} as const satisfies OptionDeclarations;

const command = { ...completedText('The command, or all', 40), required: true } as const;

const exemptChoice = {
  type: 'choice',
  description: 'Whether moderators pass the limits set here',
  required: true,
  choices: choicesOf(['on', 'off']),
} as const satisfies ChoiceOption;

const suggestCommands: Autocomplete = async ({ typed }, { moderation }) =>
  moderation.access.commands
    .filter((name) => name.includes(typed.trim().replace(/^\//, '').toLowerCase()))
    .map((name) => ({ name, value: name }));

export const limits = defineCommand({
  name: 'limits',
  description: 'How much may be used here, and who may use what',
  options: {},
  moderatorsOnly: true,
  answersPrivately: true,
  run: async ({ address }, context) => privately(await limitsMessage(context, address)),

  subcommands: {
    show: defineSubcommand({
      description: 'What is limited here, and how much of it is used',
      options: {},
      run: async ({ address }, context) => privately(await limitsMessage(context, address)),
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
          maximum: 1e9,
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
      options: { exempt: { type: 'flag', description: 'On: moderators are exempt' } },
      asks: true,
      async run({ options: { exempt } }, { moderation }) {
        if (exempt === undefined) {
          const { exemptModerators } = await moderation.access.inForce();
          return {
            type: 'form',
            form: {
              id: 'limits exempt',
              title: 'Limits for moderators',
              submitLabel: 'Keep',
              options: { exempt: exemptChoice },
              initial: { exempt: exemptModerators ? 'on' : 'off' },
            },
          };
        }
        await moderation.limits.exemptModerators(exempt);
        return privately(
          exempt
            ? 'Moderators are exempt from the limits set here. Those of whoever runs this bot still hold.'
            : 'The limits set here hold for moderators too.',
        );
      },
    }),

    visitors: defineSubcommand({
      description: 'Whether people of other workspaces that share a channel are served, on Slack',
      options: {
        allow: { type: 'flag', description: 'On: they may use what everybody may', required: true },
        where: whereOption,
      },
      async run({ options: { allow, where = 'channel' }, address }, { moderation }) {
        await moderation.access.allowVisitors(allow, where);
        const there = here(where, address);
        return privately(
          allow
            ? `People of other workspaces are served in ${there}, as everybody is.`
            : `People of other workspaces are not served in ${there}, and told so.`,
        );
      },
    }),

    pause: defineSubcommand({
      description: 'Take nothing new in this server until it is resumed; what runs is finished',
      options: {},
      async run({ address }, { moderation }) {
        const changed = await moderation.limits.pause(true);
        const there = here('server', address);
        return privately(
          changed
            ? `Nothing new is made in ${there} now, for moderators either. What runs is finished. /limits resume goes on.`
            : `I am paused in ${there} already. /limits resume goes on.`,
        );
      },
    }),

    resume: defineSubcommand({
      description: 'Go on after a pause',
      options: {},
      async run({ address }, { moderation }) {
        const changed = await moderation.limits.pause(false);
        const there = here('server', address);
        return privately(changed ? `I take requests in ${there} again.` : `I was not paused in ${there}.`);
      },
    }),

    allow: ruleSubcommand('allow', {
      description: 'Say who may use a command: those who are named, or everyone',
      who: 'A person or a role; everyone if left out',
    }),

    forbid: ruleSubcommand('forbid', {
      description: 'Switch a command off, or keep somebody from it',
      who: 'A person or a role that may not; nobody may if left out',
    }),

    inherit: defineSubcommand({
      description: 'Take back what was said about who may use a command',
      options: { command, where: whereOption },
      autocomplete: { command: suggestCommands },
      async run({ options: { command: name, where = 'channel' }, address }, { moderation }) {
        const had = await moderation.access.reset(name, where);
        return privately(had ? 'Taken back.' : `Nothing was said about that in ${here(where, address)}.`);
      },
    }),

    block: subjectSubcommand(
      'Keep somebody from using the bot in this server',
      async (who, access, there) => {
        await access.block(who);
        return `${nameOf(who)} cannot use me in ${there} any more.`;
      },
    ),

    unblock: subjectSubcommand('Let somebody use the bot again', async (who, access) =>
      (await access.unblock(who)) ? `${nameOf(who)} can use me again.` : `${nameOf(who)} was not blocked.`,
    ),

    appoint: subjectSubcommand(
      'Let somebody moderate the bot, beside the server’s own moderators',
      async (who, access, there) => {
        await access.appoint(who);
        const seen =
          there === 'this server'
            ? ' On Discord, Server Settings → Integrations lets them see these commands.'
            : '';
        return `${nameOf(who)} can now use /models and /limits in ${there}.${seen}`;
      },
    ),

    dismiss: subjectSubcommand('Take back that somebody moderates the bot', async (who, access) =>
      (await access.dismiss(who))
        ? `${nameOf(who)} does not moderate me any more.`
        : `${nameOf(who)} was not named before.`,
    ),

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

/** Changes who may use a command, and answers with the rule that holds then. */
function ruleSubcommand(
  change: 'allow' | 'forbid',
  { description, who: whoDescription }: { readonly description: string; readonly who: string },
) {
  return defineSubcommand({
    description,
    options: { command, who: { ...whoOption, description: whoDescription }, where: whereOption },
    autocomplete: { command: suggestCommands },
    async run({ options: { command: name, who, where = 'channel' }, address }, { moderation }) {
      await moderation.access[change](name, particular(who), where);
      return privately(await ruleSentence(name, where, moderation, address));
    },
  });
}

/** Something about one person or role, answered with the sentence that `run` resolves to. */
function subjectSubcommand(
  description: string,
  run: (who: Subject, access: Moderation['access'], there: string) => Promise<string>,
) {
  return defineSubcommand({
    description,
    options: { who: { ...whoOption, required: true } },
    run: async ({ options: { who }, address }, { moderation }) =>
      privately(await run(subjectOf(who), moderation.access, here('server', address))),
  });
}

/** The subject that an option names; undefined for everyone. */
function particular(named: string | undefined): Subject | undefined {
  const who = named === undefined ? undefined : subjectOf(named);
  return who?.id === EVERYONE.id ? undefined : who;
}

type NamedLimit = OptionValues<typeof limitName & { scope: typeof scope; who: typeof whoOption }>;

function nameFrom({
  scope: counted,
  family,
  per = 'day',
  of = 'requests',
  who: named,
}: NamedLimit): LimitName {
  const who = particular(named);
  // A limit with a subject counts each person, also when another scope was named.
  return present({ scope: who ? 'person' : counted, per, of, family, who });
}

async function takeBack(name: LimitName, { limits: kept }: Context['moderation']) {
  const { changed, sentence } = await kept.reset(name);
  const what = plain(sentence);
  return privately(changed ? `There is no limit on ${what} any more.` : `There was no limit on ${what}.`);
}
