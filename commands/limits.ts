import { defineCommand, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { plain } from '../src/core/message.ts';
import type { LimitName } from '../src/core/moderation.ts';
import {
  type ChoiceOption,
  type OptionDeclarations,
  type OptionValues,
  present,
} from '../src/core/options.ts';
import { accessSubcommands, particular } from './limits/access.ts';
import { here, limitsMessage } from './text/moderation.ts';
import { choicesOf, limitedChoices, whoOption } from './text/options.ts';
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

const exemptChoice = {
  type: 'choice',
  description: 'Whether moderators pass the limits set here',
  required: true,
  choices: choicesOf(['on', 'off']),
} as const satisfies ChoiceOption;

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

    ...accessSubcommands,

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
