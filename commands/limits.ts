import { type AnyCommand, defineGroup, defineSubcommand, type FormTexts } from '../src/core/bot/command.ts';
import { privately } from '../src/core/bot/outcome.ts';
import { UserError } from '../src/core/errors.ts';
import {
  ALL,
  EVERYONE,
  LIMITABLE,
  MODERATION,
  type Subject,
  scopeText,
  type Where,
} from '../src/core/moderation.ts';
import type { ChoiceOption, OptionDeclarations } from '../src/core/options.ts';
import { runControl, withControls } from './text/controls.ts';
import { changeMessage, limitsMessage } from './text/moderation.ts';
import { choicesOf, subjectOf, whereOption, whoOption } from './text/options.ts';
import { usageReport } from './text/usage.ts';

const limitOptions = {
  what: {
    type: 'choice',
    description: 'Jobs to limit',
    label: 'Jobs',
    help: 'Which jobs should be limited?',
    required: true,
    choices: choicesOf(LIMITABLE),
  },
  most: {
    type: 'number',
    description: 'Maximum: 0 blocks everything, empty means no limit',
    label: 'Maximum',
    help: '0 blocks everything. Empty means no limit.',
    minimum: 0,
    maximum: 1e9,
  },
  per: {
    type: 'choice',
    description: 'Length of the rolling period (default: day)',
    help: 'By default, a day.',
    choices: choicesOf(['hour', 'day']),
    default: 'day',
  },
  who: {
    ...whoOption,
    description: 'A person or role (default: each person)',
    help: 'By default, each person.',
  },
  where: whereOption,
  of: {
    type: 'choice',
    description: 'What to count (default: jobs)',
    label: 'Count',
    help: 'By default, jobs.',
    choices: [
      { name: 'jobs', value: 'requests' },
      { name: 'units', value: 'units' },
    ],
    default: 'requests',
  },
  together: {
    type: 'flag',
    description: 'One limit shared by everyone',
    label: 'Shared',
    help: 'One limit shared by everyone.',
  },
} as const satisfies OptionDeclarations;

/** The command that sets access rules and usage limits for these commands. */
export function limitsFor(commands: readonly AnyCommand[]): AnyCommand {
  const names = commands
    .filter(({ moderatorsOnly, alwaysAllowed }) => !moderatorsOnly && !alwaysAllowed)
    .map(({ name }) => name);
  const what = {
    type: 'choice',
    description: 'A command, all commands, or the moderator commands',
    label: 'Commands',
    help: 'One command, all of them, or the moderator commands.',
    required: true,
    choices: choicesOf([ALL, ...names, MODERATION]),
  } as const satisfies ChoiceOption;
  // Rules about moderators apply to the server by default.
  const { default: _, ...where } = whereOption;
  const ruleOptions = { what, who: whoOption, where } as const;

  const accessRule = (type: 'allow' | 'deny', description: string, form: FormTexts) =>
    defineSubcommand({
      description,
      form,
      options: ruleOptions,
      async run({ options, address }, { moderation }) {
        const rule = { type, what: options.what, who: whoOf(options.who) };
        const where = placeOf(options);
        const report = await moderation.rules.set(rule, where);
        const isShown = type === 'deny' || options.what !== MODERATION || address.platform !== 'discord';
        const hint = isShown
          ? undefined
          : 'To show these commands to the people you allowed, go to Server Settings → Integrations.';
        return privately(changeMessage(rule, where, { report, at: address, by: type, hint }));
      },
    });

  return withControls(
    defineGroup({
      name: 'limits',
      description: 'Usage limits and access',
      moderatorsOnly: true,
      answersPrivately: true,

      subcommands: {
        show: defineSubcommand({
          description: 'Show limits, access rules and usage here',
          options: {},
          run: async ({ address }, context) => privately(await limitsMessage(context, address)),
        }),

        set: defineSubcommand({
          description: 'Set a usage limit for this channel or server',
          form: { title: 'Set a limit', submitLabel: 'Set limit' },
          options: limitOptions,
          async run({ options, address }, { moderation, hasUnits }) {
            const { what, most, per = 'day', of = 'requests', where = 'channel', together } = options;
            const who = whoOf(options.who);
            if (together && (who !== EVERYONE || most === undefined))
              throw new UserError(
                'A shared limit applies to everyone. Leave out “who” and set “most”.',
                'together',
              );
            const rule =
              most === undefined
                ? ({ type: 'unlimited', what, who } as const)
                : ({ type: 'limit', what, who, per, of, most, ...(together && { together }) } as const);
            const report = await moderation.rules.set(rule, where);
            const hint =
              of === 'units' && !hasUnits
                ? "The bot's operator hasn't set prices yet, so jobs cost no units."
                : undefined;
            return privately(changeMessage(rule, where, { report, at: address, by: 'set', hint }));
          },
        }),

        allow: accessRule('allow', 'Allow a command in this channel or server', {
          title: 'Allow a command',
          submitLabel: 'Allow',
        }),

        deny: accessRule('deny', 'Deny a command in this channel or server', {
          title: 'Deny a command',
          submitLabel: 'Deny',
        }),

        reset: defineSubcommand({
          description: 'Remove a limit or access rule',
          form: { title: 'Remove a rule', submitLabel: 'Remove' },
          options: ruleOptions,
          async run({ options, address }, { moderation }) {
            const where = placeOf(options);
            const name = { what: options.what, who: whoOf(options.who) };
            const { removed, ...report } = await moderation.rules.reset(name, where);
            return privately(changeMessage(name, where, { report, at: address, by: 'reset', removed }));
          },
        }),

        pause: defineSubcommand({
          description: 'Stop new jobs in this server; running jobs will finish',
          options: {},
          async run({ address }, { moderation }) {
            const changed = await moderation.rules.pause(true);
            const place = scopeText('server', address);
            const text = changed
              ? `Paused in ${place}. I won't start new jobs, not even for moderators. Running jobs will finish.`
              : `Already paused in ${place}.`;
            const resume = { command: 'limits', subcommand: 'resume' };
            return privately({ text, actions: runControl(resume, 'Resume') });
          },
        }),

        resume: defineSubcommand({
          description: 'Resume after a pause',
          options: {},
          async run({ address }, { moderation }) {
            const changed = await moderation.rules.pause(false);
            const place = scopeText('server', address);
            return privately(
              changed ? `Resumed in ${place}. New jobs are allowed again.` : `I wasn't paused in ${place}.`,
            );
          },
        }),

        report: defineSubcommand({
          description: 'Usage report for this server',
          form: { title: 'Usage report', submitLabel: 'Show report' },
          options: {
            days: {
              type: 'number',
              description: 'Days to include (default: 30)',
              help: 'By default, the last 30 days.',
              integer: true,
              minimum: 1,
              maximum: 90,
            },
          },
          async run({ options: { days = 30 } }, { moderation, hasUnits, now }) {
            return privately({
              ...usageReport(await moderation.report(days), { days, hasUnits, now: now() }),
              actions: PERIODS.filter((other) => other !== days).flatMap((other) =>
                runControl(
                  { command: 'limits', subcommand: 'report', options: { days: String(other) } },
                  `Last ${other} days`,
                ),
              ),
            });
          },
        }),
      },
    }),
  );
}

/** Days that the buttons of a report offer. */
const PERIODS = [7, 30, 90];

/** Access to moderation applies to the whole server. */
function placeOf({ what, where }: { readonly what: string; readonly where?: Where | undefined }): Where {
  return where ?? (what === MODERATION ? 'server' : 'channel');
}

function whoOf(mention: string | undefined): Subject {
  return mention === undefined ? EVERYONE : subjectOf(mention);
}
