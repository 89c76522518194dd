import { defineCommand, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import type { Outcome } from '../src/core/bot/outcome.ts';
import { UserError } from '../src/core/errors.ts';
import { FAMILIES, FAMILY_NOUNS } from '../src/core/family.ts';
import { type Address, type Invocation, serverOf, serverWord } from '../src/core/invocation.ts';
import { counted, plain } from '../src/core/message.ts';
import type { AnswersInForce, ModelInForce, Where } from '../src/core/moderation.ts';
import { present } from '../src/core/options.ts';
import { because, here, onOrOff, ownChoiceWins } from './text/moderation.ts';
import { choicesOf, familyChoices, modelOption, whereOption } from './text/options.ts';
import { clip, privately } from './text/text.ts';

type Somewhere = Pick<Address, 'platform'>;

/** Characters of a prompt; it is sent with every question. */
const LONGEST_PROMPT = 4000;
/** Characters of a prompt that `show` shows. */
const PROMPT_SHOWN = 500;

const family = {
  type: 'choice',
  description: 'What the model is for',
  required: true,
  choices: familyChoices,
} as const;

const promptText = {
  type: 'text',
  description: 'What every question is prefaced with; empty opens a form',
  maximumLength: LONGEST_PROMPT,
  multiline: true,
} as const;

async function show({ address }: Pick<Invocation, 'address'>, { moderation }: Context) {
  const [models, answers] = await Promise.all([moderation.models.inForce(), moderation.answers.inForce()]);
  return privately({
    title: 'Models and answers here',
    text: [...models.map((model) => modelLine(model, address)), ...answerLines(answers, address)].join(
      '\n\n',
    ),
    footer: `A channel’s choice wins over the ${serverWord(address)}’s. Threads belong to their channel.`,
  });
}

function modelLine({ family: name, model, from, chosenBy, gone }: ModelInForce, at: Somewhere): string {
  const by = chosenBy ? ` by ${plain(chosenBy.displayName)}` : '';
  const line = `**${FAMILY_NOUNS[name].title}**: ${model ? `**${plain(model)}**, ` : ''}${because(from, at)}${by}`;
  const lost = gone.map(
    (choice) => `⚠️ ${plain(choice.model)}, ${because(choice.from, at)}, is not offered to this bot any more.`,
  );
  return [line, ...lost].join('\n');
}

function answerLines({ systemPrompt, assistant, footer, talk }: AnswersInForce, at: Somewhere): string[] {
  const prompt = systemPrompt
    ? `${plain(shortened(systemPrompt.text))} (${because(systemPrompt.from, at)})`
    : 'none';
  return [
    `**System prompt**: ${prompt}`,
    `**Assistant** (questions may use the bot’s own commands): ${onOrOff(assistant)}, ${because(assistant.from, at)}`,
    `**Footer** (model and tokens under an answer): ${onOrOff(footer)}, ${because(footer.from, at)}`,
    ...(talk ? ['**Talk**: every message in this channel is a question'] : []),
  ];
}

function shortened(text: string): string {
  return text.length <= PROMPT_SHOWN ? text : `${clip(text, PROMPT_SHOWN)}…`;
}

/** What is left as it is changes nothing: only what was decided for `where` is filled in. */
function answersForm(inForce: AnswersInForce, where: Where, at: Somewhere): Outcome {
  const choice = (name: 'assistant' | 'footer', description: string) => ({
    type: 'choice' as const,
    description: `${description}; now ${onOrOff(inForce[name])}, ${because(inForce[name].from, at)}`,
    choices: choicesOf(['on', 'off']),
  });
  const kept = (name: 'assistant' | 'footer') =>
    inForce[name].from === where ? { [name]: onOrOff(inForce[name]) } : {};
  return {
    type: 'form',
    form: {
      id: 'models answers',
      title: 'How questions are answered',
      submitLabel: 'Keep',
      options: {
        assistant: choice('assistant', 'Commands in answers'),
        footer: choice('footer', 'Model and tokens below'),
        where: whereOption,
      },
      initial: { ...kept('assistant'), ...kept('footer'), where },
    },
  };
}

export const models = defineCommand({
  name: 'models',
  description: 'Which models are used here, and how questions are answered',
  options: {},
  moderatorsOnly: true,
  answersPrivately: true,
  run: show,

  subcommands: {
    show: defineSubcommand({
      description: 'What is in force here, and why',
      options: {},
      run: show,
    }),

    set: defineSubcommand({
      description: 'Choose a model for this channel or server',
      options: {
        family,
        model: { ...modelOption('The model’s id or name'), required: true },
        where: whereOption,
      },
      autocomplete: {
        model: async ({ typed, options }, context) => {
          const chosen = FAMILIES.find((name) => name === options.family);
          if (chosen) return context.models.suggest(chosen, typed);
          const [songs, others] = await Promise.all([
            context.models.suggest('song', typed),
            context.models.suggest('ask', typed),
          ]);
          return [...songs, ...others];
        },
      },
      async run({ options: { family: name, model: named, where = 'channel' }, address }, { moderation }) {
        const { model, label, checked, others } = await moderation.models.choose(name, named, where);
        const known = label === undefined ? '' : ` “${plain(label)}” is the name of **${plain(model)}**.`;
        const unsure = checked ? '' : ' The list of models could not be had, so I could not check the name.';
        const still = ownChoiceWins(others.map((own) => `${own.channel} (${own.model})`));
        return privately(
          `${FAMILY_NOUNS[name].title} in ${here(where, address)} now use **${plain(model)}**.${known}${unsure}${still}`,
        );
      },
    }),

    reset: defineSubcommand({
      description: 'Take a choice back, so that the server or the default decides',
      options: { family, where: whereOption },
      async run({ options: { family: name, where = 'channel' }, address }, { moderation }) {
        const had = await moderation.models.reset(name, where);
        if (!had) return privately(`There was no choice for ${name} in ${here(where, address)}.`);
        const now = (await moderation.models.inForce()).find((one) => one.family === name);
        return privately(`Taken back.${now ? ` ${modelLine(now, address)}` : ''}`);
      },
    }),

    refresh: defineSubcommand({
      description: 'Ask the gateway again which models there are',
      options: {},
      run: async (_invocation, { moderation }) =>
        privately(`This account may use ${counted(await moderation.models.refresh(), 'model')}.`),
    }),

    prompt: defineSubcommand({
      description: 'What every question here is prefaced with',
      options: {
        text: promptText,
        where: whereOption,
        reset: { type: 'flag', description: 'Take it back' },
      },
      asks: true,
      async run({ options: { text, where = 'channel', reset }, address }, { moderation }) {
        if (reset) {
          const had = await moderation.answers.reset('systemPrompt', where);
          return privately(had ? 'Taken back.' : `There was no system prompt for ${here(where, address)}.`);
        }
        if (text === undefined) {
          const { systemPrompt } = await moderation.answers.inForce();
          return {
            type: 'form',
            form: {
              id: 'models prompt',
              title: 'System prompt',
              submitLabel: 'Keep',
              options: { text: { ...promptText, required: true }, where: whereOption },
              initial: { where, ...(systemPrompt?.from === where ? { text: systemPrompt.text } : {}) },
            },
          };
        }
        const others = await moderation.answers.change({ systemPrompt: text }, where);
        return privately(
          `Every question in ${here(where, address)} is prefaced with this from now on.${ownChoiceWins(others)}`,
        );
      },
    }),

    answers: defineSubcommand({
      description: 'How questions are answered: with the bot’s own commands, with a footer',
      options: {
        assistant: { type: 'flag', description: 'Questions may use the bot’s own commands' },
        footer: { type: 'flag', description: 'Model and tokens stand under an answer' },
        where: whereOption,
        reset: { type: 'flag', description: 'Take it back' },
      },
      asks: true,
      async run({ options: { assistant, footer, where = 'channel', reset }, address }, { moderation }) {
        if (reset) {
          const hadAssistant = await moderation.answers.reset('assistant', where);
          const had = (await moderation.answers.reset('footer', where)) || hadAssistant;
          return privately(had ? 'Taken back.' : `Nothing was decided for ${here(where, address)}.`);
        }
        if (assistant === undefined && footer === undefined) {
          return answersForm(await moderation.answers.inForce(), where, address);
        }
        const others = await moderation.answers.change(present({ assistant, footer }), where);
        const [, ...lines] = answerLines(await moderation.answers.inForce(), address);
        return privately([...lines, ownChoiceWins(others).trim()].filter(Boolean).join('\n\n'));
      },
    }),

    talk: defineSubcommand({
      description: 'Whether every message in this channel is a question, without the bot’s name',
      options: {
        all: { type: 'flag', description: 'On: each message is answered in a thread', required: true },
      },
      async run({ options: { all }, address }, { moderation, hearsOnlyItsName }) {
        if (all && hearsOnlyItsName !== undefined) throw new UserError(hearsOnlyItsName, 'all');
        if (all && serverOf(address) === undefined)
          throw new UserError('In direct messages every message is a question already.', 'all');
        await moderation.answers.talk(all);
        return privately(
          all
            ? 'Every message in this channel is a question now, and answered in a thread of its own. What people say to each other there, replies and messages that name somebody else, stays theirs. Each person may ask 30 times an hour; **/limits set** with scope:person, family:ask and per:hour sets another limit.'
            : 'Messages in this channel are questions only when they name me.',
        );
      },
    }),
  },
});
