import { type AnyCommand, defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import { UserError } from '../src/core/errors.ts';
import { type Address, type Invocation, serverOf, serverWord } from '../src/core/invocation.ts';
import { plain } from '../src/core/message.ts';
import { FAMILIES, FAMILY_NOUNS, type Family } from '../src/core/models/family.ts';
import { joinModelNames, modelNames } from '../src/core/models/model-name.ts';
import {
  type AnswersInForce,
  type Origin,
  RESETTABLE,
  scopeText,
  type Where,
} from '../src/core/moderation.ts';
import type { Choice, OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import { formControl, runControl, withControls } from './text/controls.ts';
import {
  answerFields,
  modelField,
  onOrOff,
  originReason,
  overridesText,
  pagesField,
  TALK_DETAILS,
} from './text/moderation.ts';
import { choicesOf, completedText, whereOption } from './text/options.ts';

/** In characters. The prompt is sent with every question. */
const LONGEST_PROMPT = 4000;

const answerOptions = {
  prompt: {
    type: 'text',
    description: 'Instructions to send with every question (system prompt)',
    label: 'System prompt',
    help: 'Instructions that go with every question.',
    maximumLength: LONGEST_PROMPT,
    multiline: true,
  },
  assistant: {
    type: 'flag',
    description: "Let answers use the bot's commands",
    label: 'Answers use commands',
  },
  footer: {
    type: 'flag',
    description: 'Show model and tokens under answers',
    label: 'Model and tokens shown',
  },
  talk: {
    type: 'flag',
    description: 'Answer every message in this channel',
    label: 'Answer every message',
    help: 'In this channel, without a mention.',
  },
  where: whereOption,
} as const satisfies OptionDeclarations;

const to = (subcommand: string, options: Readonly<Record<string, string>> = {}) => ({
  command: 'models',
  subcommand,
  options,
});

const showAll = () => runControl(to('show'), 'Show all');

async function show({ address }: Pick<Invocation, 'address'>, { inForce }: Context): Promise<Outcome> {
  const [models, answers, pages] = await Promise.all([inForce.models(), inForce.answers(), inForce.pages()]);
  return privately({
    title: 'Settings here',
    fields: [
      ...models.map((model) => modelField(model, address)),
      ...answerFields(answers, address),
      pagesField(pages, address),
    ],
    ...(answers.talk && { text: TALK_DETAILS }),
    actions: [
      ...formControl(to('set'), 'Change model'),
      ...formControl(to('answers'), 'Answer settings'),
      ...formControl(to('reset'), 'Reset'),
    ],
    footer: `A channel's setting overrides the ${serverWord(address)}'s. Threads use the settings of their channel.`,
  });
}

/** Fills in only what is set for `where`, so that untouched fields change nothing. */
function answersForm(inForce: AnswersInForce, where: Where, at: Address): Outcome {
  const { systemPrompt, assistant, footer, talk } = inForce;
  const choice = (name: 'assistant' | 'footer') => ({
    type: 'choice' as const,
    description: answerOptions[name].description,
    label: answerOptions[name].label,
    help: `${answerOptions[name].description}. Now ${onOrOff(inForce[name])} (${originReason(inForce[name].from, at)}).`,
    choices: choicesOf(['on', 'off']),
  });
  const setHere = <Decided extends { readonly from: Origin }>(decided: Decided | undefined) =>
    decided?.from === where ? decided : undefined;
  const flag = (decided: AnswersInForce['footer'] | undefined) => decided && onOrOff(decided);
  return {
    type: 'form',
    form: {
      id: 'models answers',
      title: 'Answer settings',
      submitLabel: 'Save settings',
      options: {
        prompt: answerOptions.prompt,
        assistant: choice('assistant'),
        footer: choice('footer'),
        talk: { ...answerOptions.talk, type: 'choice', choices: choicesOf(['on', 'off']) },
        where: whereOption,
      },
      initial: present({
        prompt: setHere(systemPrompt)?.text,
        assistant: flag(setHere(assistant)),
        footer: flag(setHere(footer)),
        talk: onOrOff({ on: talk }),
        where,
      }),
    },
  };
}

/** Throws UserError where talk is not possible. */
async function setTalk(
  talk: boolean,
  where: Where,
  {
    address,
    inForce,
    moderation,
    mentionsOnlyNotice,
  }: { readonly address: Address } & Pick<Context, 'inForce' | 'moderation' | 'mentionsOnlyNotice'>,
): Promise<void> {
  if (talk === (await inForce.answers()).talk) return;
  if (where === 'server')
    throw new UserError('“talk” applies to one channel at a time. Leave out “where”.', 'talk');
  if (talk && mentionsOnlyNotice !== undefined) throw new UserError(mentionsOnlyNotice, 'talk');
  if (talk && serverOf(address) === undefined)
    throw new UserError('I already answer every direct message.', 'talk');
  await moderation.answers.talk(talk);
}

/** Completes the last of several models. */
async function suggestNext(typed: string, { models }: Pick<Context, 'models'>): Promise<readonly Choice[]> {
  const names = typed.split(',');
  const before = modelNames(names.slice(0, -1).join(','));
  const suggestions = await models.suggest('ask', names.at(-1) ?? '');
  if (before.length === 0) return suggestions;
  return suggestions
    .filter(({ value }) => !before.includes(value))
    .map(({ value }) => joinModelNames([...before, value]))
    .map((choice) => ({ name: choice, value: choice }));
}

const RESET_CHOICES = RESETTABLE.filter((choice) => choice !== 'pages');

/** The command for the models of these families. */
export function modelsFor(families: readonly Family[]): AnyCommand {
  const family = {
    type: 'choice',
    description: 'Kind of model',
    label: 'Used for',
    help: 'What should it create?',
    required: true,
    choices: choicesOf(families),
  } as const;

  return withControls(
    defineGroup({
      name: 'models',
      description: 'Models and answer settings',
      moderatorsOnly: true,
      answersPrivately: true,

      subcommands: {
        show: defineSubcommand({
          description: 'Show the settings here and where they come from',
          options: {},
          run: show,
        }),

        set: defineSubcommand({
          description: 'Choose a model for this channel or server',
          form: { title: 'Choose a model', submitLabel: 'Use model' },
          options: {
            family,
            model: {
              ...completedText(
                'Model ID or name. For questions, you can list several, separated by commas',
                500,
              ),
              help: 'Its ID or name. For questions, you can list several: some-id, other-id.',
              required: true,
            },
            where: whereOption,
          },
          autocomplete: {
            model: async ({ typed, options }, context) => {
              const chosen = FAMILIES.find((name) => name === options.family);
              if (chosen === 'ask') return suggestNext(typed, context);
              if (chosen) return context.models.suggest(chosen, typed);
              const usual = context.families.filter((name) => name === 'song' || name === 'ask');
              return (await Promise.all(usual.map((name) => context.models.suggest(name, typed)))).flat();
            },
          },
          async run(
            { options: { family: name, model: requestedModel, where = 'channel' }, address },
            { moderation },
          ) {
            const { model, label, checked, overrides } = await moderation.models.choose(
              name,
              requestedModel,
              where,
            );
            const labelText = label === undefined ? '' : ` “${plain(label)}” has the ID **${plain(model)}**.`;
            const several = model.includes(',') ? " If one can't answer, I ask the next." : '';
            const unchecked = checked
              ? ''
              : " I couldn't load the list of models, so I didn't check the name.";
            const exceptions = overridesText(overrides.map((other) => `${other.channel} (${other.model})`));
            const text = `${FAMILY_NOUNS[name].title} in ${scopeText(where, address)} now use **${plain(model)}**.${several}${labelText}${unchecked}${exceptions}`;
            return privately({
              text,
              actions: [
                ...formControl(to('set', { family: name, where }), 'Change'),
                ...runControl(to('reset', { what: name, where }), 'Use the default model'),
                ...showAll(),
              ],
            });
          },
        }),

        answers: defineSubcommand({
          description: 'Change how questions are answered (leave everything out to open a form)',
          options: answerOptions,
          asks: true,
          async run(
            { options: { prompt, talk, where = 'channel', ...flags }, address },
            { inForce, moderation, mentionsOnlyNotice },
          ) {
            const changed = present({ systemPrompt: prompt, ...flags });
            if (talk === undefined && Object.keys(changed).length === 0)
              return answersForm(await inForce.answers(), where, address);
            if (talk !== undefined)
              await setTalk(talk, where, { address, inForce, moderation, mentionsOnlyNotice });
            const channels = await moderation.answers.change(changed, where);
            const answers = await inForce.answers();
            const notes = [overridesText(channels).trim(), answers.talk ? TALK_DETAILS : ''].filter(Boolean);
            return privately({
              title: 'Answer settings',
              fields: answerFields(answers, address),
              ...(notes.length > 0 && { text: notes.join('\n\n') }),
              actions: [
                ...formControl(to('answers'), 'Change'),
                ...formControl(to('reset'), 'Reset'),
                ...showAll(),
              ],
            });
          },
        }),

        reset: defineSubcommand({
          description: "Reset to the server's setting or the default",
          form: { title: 'Reset settings', submitLabel: 'Reset' },
          options: {
            what: {
              type: 'choice',
              description: 'Setting to reset',
              label: 'Setting',
              help: 'It returns to the default.',
              required: true,
              choices: choicesOf(RESET_CHOICES),
            },
            where: whereOption,
          },
          async run({ options: { what, where = 'channel' }, address }, { inForce, moderation }) {
            const wasSet = await moderation.reset(what, where);
            if (!wasSet) return privately(`Nothing was set for “${what}” in ${scopeText(where, address)}.`);
            const now = (await inForce.models()).find((model) => model.family === what);
            const fields = now ? [modelField(now, address)] : answerFields(await inForce.answers(), address);
            return privately({ text: 'Reset.', fields, actions: showAll() });
          },
        }),
      },
    }),
  );
}
