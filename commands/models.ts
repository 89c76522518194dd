import { type Context, defineCommand, defineSubcommand } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { plain } from '../src/message.ts';
import type { AnswersInForce, ModelInForce } from '../src/moderation.ts';
import { because, FAMILY_NAMES, familyChoices, here, privately, whereOption } from './moderation-text.ts';
import { clip } from './text.ts';

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

async function show({ moderation }: Context) {
  const [models, answers] = await Promise.all([moderation.models.inForce(), moderation.answers.inForce()]);
  return privately({
    title: 'Models and answers here',
    text: [...models.map(modelLine), ...answerLines(answers)].join('\n\n'),
    footer: 'A channel’s choice wins over the server’s. Threads belong to their channel.',
  });
}

function modelLine({ family: name, model, from, chosenBy, gone }: ModelInForce): string {
  const by = chosenBy ? ` by ${plain(chosenBy.displayName)}` : '';
  const line = `**${FAMILY_NAMES[name]}**: ${model ? `**${plain(model)}**, ` : ''}${because(from)}${by}`;
  const lost = gone.map(
    (choice) =>
      `⚠️ ${plain(choice.model)}, chosen for ${here(choice.from)}, is not offered to this bot any more.`,
  );
  return [line, ...lost].join('\n');
}

function answerLines({ systemPrompt, assistant, footer }: AnswersInForce): string[] {
  const prompt = systemPrompt
    ? `${plain(shortened(systemPrompt.text))} (${because(systemPrompt.from)})`
    : 'none';
  return [
    `**System prompt**: ${prompt}`,
    `**Assistant** (questions may use the bot’s own commands): ${assistant.on ? 'on' : 'off'}, ${because(assistant.from)}`,
    `**Footer** (model and tokens under an answer): ${footer.on ? 'on' : 'off'}, ${because(footer.from)}`,
  ];
}

function shortened(text: string): string {
  return text.length <= PROMPT_SHOWN ? text : `${clip(text, PROMPT_SHOWN)}…`;
}

export const models = defineCommand({
  name: 'models',
  description: 'Which models are used here, and how questions are answered',
  options: {},
  moderatorsOnly: true,
  answersPrivately: true,
  run: (_invocation, context) => show(context),

  subcommands: {
    show: defineSubcommand({
      description: 'What is in force here, and why',
      options: {},
      run: (_invocation, context) => show(context),
    }),

    set: defineSubcommand({
      description: 'Choose a model for this channel or server',
      options: {
        family,
        model: {
          type: 'text',
          description: 'The model’s id or name',
          required: true,
          maximumLength: 100,
          suggest: async ({ typed }, context) => {
            const [songs, others] = await Promise.all([
              context.models.suggest('song', typed),
              context.models.suggest('ask', typed),
            ]);
            return [...songs, ...others];
          },
        },
        where: whereOption,
      },
      async run({ options: { family: name, model: named, where = 'channel' } }, { moderation }) {
        const { model, label, checked } = await moderation.models.choose(name, named, where);
        const known = label === undefined ? '' : ` “${plain(label)}” is the name of **${plain(model)}**.`;
        const unsure = checked ? '' : ' The list of models could not be had, so I could not check the name.';
        return privately(
          `${FAMILY_NAMES[name]} in ${here(where)} now use **${plain(model)}**.${known}${unsure}`,
        );
      },
    }),

    reset: defineSubcommand({
      description: 'Take a choice back, so that the server or the default decides',
      options: { family, where: whereOption },
      async run({ options: { family: name, where = 'channel' } }, { moderation }) {
        const had = await moderation.models.reset(name, where);
        if (!had) return privately(`There was no choice for ${name} in ${here(where)}.`);
        const now = (await moderation.models.inForce()).find((one) => one.family === name);
        return privately(`Taken back.${now ? ` ${modelLine(now)}` : ''}`);
      },
    }),

    refresh: defineSubcommand({
      description: 'Ask the gateway again which models there are',
      options: {},
      async run(_invocation, { moderation }) {
        const count = await moderation.models.refresh();
        return privately(`This account may use ${count} models.`);
      },
    }),

    prompt: defineSubcommand({
      description: 'What every question here is prefaced with',
      options: {
        text: promptText,
        where: whereOption,
        reset: { type: 'flag', description: 'Take it back' },
      },
      async run({ options: { text, where = 'channel', reset } }, { moderation }) {
        if (reset) {
          const had = await moderation.answers.reset('systemPrompt', where);
          return privately(had ? 'Taken back.' : `There was no system prompt for ${here(where)}.`);
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
        await moderation.answers.change({ systemPrompt: text }, where);
        return privately(`Every question in ${here(where)} is prefaced with this from now on.`);
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
      async run({ options: { assistant, footer, where = 'channel', reset } }, { moderation }) {
        if (reset) {
          const had = [
            await moderation.answers.reset('assistant', where),
            await moderation.answers.reset('footer', where),
          ];
          return privately(had.includes(true) ? 'Taken back.' : `Nothing was decided for ${here(where)}.`);
        }
        if (assistant === undefined && footer === undefined) {
          throw new UserError('Say what to change: “assistant” or “footer”, on or off.');
        }
        await moderation.answers.change(
          { ...(assistant === undefined ? {} : { assistant }), ...(footer === undefined ? {} : { footer }) },
          where,
        );
        return privately(
          answerLines(await moderation.answers.inForce())
            .slice(1)
            .join('\n\n'),
        );
      },
    }),
  },
});
