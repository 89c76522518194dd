/** The parts of /limits that say who may use what. */
import { type Autocomplete, defineSubcommand, type Subcommand } from '../../src/core/bot/command.ts';
import { EVERYONE, type Moderation, type Subject } from '../../src/core/moderation.ts';
import type { ChoiceOption } from '../../src/core/options.ts';
import { here, nameOf, onOrOff, ownChoiceWins, ruleSentence } from '../text/moderation.ts';
import { choicesOf, completedText, subjectOf, whereOption, whoOption } from '../text/options.ts';
import { privately } from '../text/text.ts';

const command = { ...completedText('The command, or all', 40), required: true } as const;

const visitorsChoice = {
  type: 'choice',
  description: 'On: they may use what everybody may',
  required: true,
  choices: choicesOf(['on', 'off']),
} as const satisfies ChoiceOption;

const suggestCommands: Autocomplete = async ({ typed }, { moderation }) =>
  moderation.access.commands
    .filter((name) => name.includes(typed.trim().replace(/^\//, '').toLowerCase()))
    .map((name) => ({ name, value: name }));

export const accessSubcommands = {
  visitors: defineSubcommand({
    description: 'Whether people of other workspaces that share a channel are served, on Slack',
    options: {
      allow: { type: 'flag', description: 'On: they may use what everybody may' },
      where: whereOption,
      reset: { type: 'flag', description: 'Take it back' },
    },
    asks: true,
    async run({ options: { allow, where = 'channel', reset }, address }, { moderation }) {
      const there = here(where, address);
      const served = (visitors: boolean) => `People of other workspaces are ${visitors ? '' : 'not '}served`;
      if (reset) {
        const had = await moderation.access.resetVisitors(where);
        const { visitors } = await moderation.access.inForce();
        return privately(
          `${had ? 'Taken back.' : `Nothing was decided for ${there}.`} ${served(visitors)} in this channel.`,
        );
      }
      if (allow === undefined) {
        const { visitors } = await moderation.access.inForce();
        return {
          type: 'form',
          form: {
            id: 'limits visitors',
            title: 'Other workspaces',
            submitLabel: 'Keep',
            options: { allow: visitorsChoice, where: whereOption },
            initial: { allow: onOrOff({ on: visitors }), where },
          },
        };
      }
      const still = ownChoiceWins(await moderation.access.allowVisitors(allow, where));
      return privately(`${served(allow)} in ${there}, ${allow ? 'as everybody is' : 'and told so'}.${still}`);
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

  block: subjectSubcommand('Keep somebody from using the bot in this server', async (who, access, there) => {
    await access.block(who);
    return `${nameOf(who)} cannot use me in ${there} any more.`;
  }),

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
      return `${nameOf(who)} can now use /models, /limits and /pages in ${there}.${seen}`;
    },
  ),

  dismiss: subjectSubcommand('Take back that somebody moderates the bot', async (who, access) =>
    (await access.dismiss(who))
      ? `${nameOf(who)} does not moderate me any more.`
      : `${nameOf(who)} was not named before.`,
  ),
} as const satisfies Record<string, Subcommand>;

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
      const access = await moderation.access[change](name, particular(who), where);
      return privately(ruleSentence(access, where, address));
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
export function particular(named: string | undefined): Subject | undefined {
  const who = named === undefined ? undefined : subjectOf(named);
  return who?.id === EVERYONE.id ? undefined : who;
}
