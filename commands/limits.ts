import { type AnyCommand, defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import { privately } from '../src/core/bot/outcome.ts';
import { UserError } from '../src/core/errors.ts';
import {
  ALL,
  EVERYONE,
  LIMITABLE,
  MODERATION,
  placeText,
  type Subject,
  type Where,
} from '../src/core/moderation.ts';
import type { ChoiceOption, OptionDeclarations } from '../src/core/options.ts';
import { changeMessage, limitsMessage } from './text/moderation.ts';
import { choicesOf, subjectOf, whereOption, whoOption } from './text/options.ts';
import { usageReport } from './text/usage.ts';

const limitOptions = {
  what: {
    type: 'choice',
    description: 'Of what',
    required: true,
    choices: choicesOf(LIMITABLE),
  },
  most: {
    type: 'number',
    description: 'How much; 0 is none, left out is no limit',
    minimum: 0,
    maximum: 1e9,
  },
  per: {
    type: 'choice',
    description: 'In any stretch of this length; a day if left out',
    choices: choicesOf(['hour', 'day']),
  },
  who: whoOption,
  where: whereOption,
  of: {
    type: 'choice',
    description: 'What is counted; requests if left out',
    choices: choicesOf(['requests', 'units']),
  },
  together: { type: 'flag', description: 'All people there share it' },
} as const satisfies OptionDeclarations;

/** Who may use which of these commands, and how much. */
export function limitsFor(commands: readonly AnyCommand[]): AnyCommand {
  const names = commands
    .filter(({ moderatorsOnly, alwaysAllowed }) => !moderatorsOnly && !alwaysAllowed)
    .map(({ name }) => name);
  const what = {
    type: 'choice',
    description: 'A command, all of them, or moderation',
    required: true,
    choices: choicesOf([ALL, ...names, MODERATION]),
  } as const satisfies ChoiceOption;
  const ruleOptions = { what, who: whoOption, where: whereOption } as const;

  /** Allows or denies somebody something. */
  const accessRule = (type: 'allow' | 'deny', description: string) =>
    defineSubcommand({
      description,
      options: ruleOptions,
      async run({ options, address }, { moderation }) {
        const rule = { type, what: options.what, who: whoOf(options.who) };
        const where = placeOf(options);
        const report = await moderation.rules.set(rule, where);
        const isShown = type === 'deny' || options.what !== MODERATION || address.platform !== 'discord';
        const hint = isShown ? undefined : 'Server Settings → Integrations lets them see these commands.';
        return privately(changeMessage(rule, where, { report, at: address, hint }));
      },
    });

  return defineGroup({
    name: 'limits',
    description: 'How much may be used here, and who may use what',
    moderatorsOnly: true,
    answersPrivately: true,

    subcommands: {
      show: defineSubcommand({
        description: 'All limits and rules here, and how much is used',
        options: {},
        run: async ({ address }, context) => privately(await limitsMessage(context, address)),
      }),

      set: defineSubcommand({
        description: 'Limit how much somebody may use, here or in the server',
        options: limitOptions,
        async run({ options, address }, { moderation, hasUnits }) {
          const { what, most, per = 'day', of = 'requests', where = 'channel', together } = options;
          const who = whoOf(options.who);
          if (together && (who !== EVERYONE || most === undefined))
            throw new UserError(
              'Only everyone can share a limit: leave out “who”, and say how much with “most”.',
              'together',
            );
          const rule =
            most === undefined
              ? ({ type: 'unlimited', what, who } as const)
              : ({ type: 'limit', what, who, per, of, most, ...(together && { together }) } as const);
          const report = await moderation.rules.set(rule, where);
          const hint =
            of === 'units' && !hasUnits
              ? 'Whoever runs this bot has set no prices, so nothing counts in units yet.'
              : undefined;
          return privately(changeMessage(rule, where, { report, at: address, hint }));
        },
      }),

      allow: accessRule('allow', 'Let somebody use a command, here or in the server'),

      deny: accessRule('deny', 'Keep somebody from using a command, here or in the server'),

      reset: defineSubcommand({
        description: 'Take back what was set, allowed or denied',
        options: ruleOptions,
        async run({ options, address }, { moderation }) {
          const where = placeOf(options);
          const name = { what: options.what, who: whoOf(options.who) };
          const { removed, ...report } = await moderation.rules.reset(name, where);
          return privately(changeMessage(name, where, { report, at: address, removed }));
        },
      }),

      pause: defineSubcommand({
        description: 'Take nothing new in this server until it is resumed; what runs is finished',
        options: {},
        async run({ address }, { moderation }) {
          const changed = await moderation.rules.pause(true);
          const there = placeText('server', address);
          return privately(
            changed
              ? `I take no new requests in ${there} now, from moderators either. Running requests are finished. /limits resume ends the pause.`
              : `I am already paused in ${there}. /limits resume ends the pause.`,
          );
        },
      }),

      resume: defineSubcommand({
        description: 'Go on after a pause',
        options: {},
        async run({ address }, { moderation }) {
          const changed = await moderation.rules.pause(false);
          const there = placeText('server', address);
          return privately(changed ? `I take requests in ${there} again.` : `I was not paused in ${there}.`);
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
        async run({ options: { days = 30 } }, { moderation, hasUnits }) {
          return privately(usageReport(await moderation.report(days), days, hasUnits));
        },
      }),
    },
  });
}

/** Who moderates is decided for the whole server. */
function placeOf({ what, where }: { readonly what: string; readonly where?: Where | undefined }): Where {
  return where ?? (what === MODERATION ? 'server' : 'channel');
}

function whoOf(named: string | undefined): Subject {
  return named === undefined ? EVERYONE : subjectOf(named);
}
