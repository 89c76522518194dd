import { defineCommand, type FileReference, type OptionDeclarations } from '../src/command.ts';
import { actionId, type Field, type MediaItem, type Message } from '../src/message.ts';
import type { AnswerResult, AnswerWork, JobView } from '../src/work.ts';
import { isPicture, readConversation } from './ask-conversation.ts';
import { emptyAnswer, endingNote } from './ask-ending.ts';
import { planAnswer, suggestModels } from './ask-route.ts';
import { clip, quoted } from './text.ts';
import { closeMarkdown } from './unfinished-markdown.ts';

const MEGABYTE = 1024 * 1024;
const GROUP_PROMPT = 'Several people talk here. The name of who says it stands before each message.';

const options = {
  question: {
    type: 'text',
    description: 'What you want to know',
    required: true,
    maximumLength: 6000,
    multiline: true,
  },
  image: {
    type: 'file',
    description: 'A picture to look at',
    accept: ['image'],
    maximumBytes: 20 * MEGABYTE,
  },
  model: {
    type: 'text',
    description: 'The model that answers',
    maximumLength: 100,
    suggest: ({ typed }, context) => suggestModels(typed, context),
  },
} as const satisfies OptionDeclarations;

export const ask = defineCommand({
  name: 'ask',
  description: 'Ask a question',
  options,
  messageMenu: { label: 'Ask about this', option: 'question' },

  async run({ options: { question, image, model: named }, conversation, files = [], person }, context) {
    const own = distinct([...(image ? [image] : []), ...files]);
    const settings = await context.settings.answers();
    const plan = await planAnswer({ named, hasPicture: own.some(isPicture), settings }, context);
    const { turns, isGroup } = await readConversation(
      { question, files: own, conversation: conversation ?? [], person, looks: plan.dialect !== 'chat' },
      context,
    );
    const system = [settings.systemPrompt, isGroup ? GROUP_PROMPT : undefined].filter(Boolean).join('\n\n');
    const { maxTokens, temperature, contextTokens } = context.answers;
    const { dialect, model, way, note } = plan;
    return context.jobs.start({
      work: {
        route: 'answer',
        dialect,
        request: {
          model,
          turns,
          maxTokens,
          ...(system === '' ? {} : { system }),
          ...(temperature === undefined ? {} : { temperature }),
        },
        contextTokens,
        ...(way === undefined ? {} : { way }),
        ...(note === undefined ? {} : { note }),
        ...(conversation === undefined ? {} : { reply: true }),
        ...(settings.footer ? {} : { footer: false }),
      },
      title: quoted(question),
    });
  },

  early(job) {
    const answer = job.result?.answer;
    const title = isReply(job) ? { title: '' } : {};
    if (!answer) return title;
    const text = closeMarkdown(answer.text);
    const fields = callFields(answer);
    return { ...title, ...(text.trim() === '' ? {} : { text }), ...(fields.length > 0 ? { fields } : {}) };
  },

  done(job) {
    const answer = job.result?.answer ?? { text: '' };
    const work = job.work.route === 'answer' ? job.work : undefined;
    const pictures = (job.result?.images ?? []).map(
      (source, index): MediaItem => ({
        kind: 'image',
        name: `Picture ${index + 1}`,
        source,
        caption: `Picture ${index + 1}`,
        alt: `Picture ${index + 1} of the answer to ${job.title}`,
      }),
    );
    const text = withoutLastMarks(answer.text).trim();
    const isEmpty = text === '' && pictures.length === 0;
    const fields = callFields(answer);
    const footer = [isEmpty ? '' : endingNote(answer), ...(work ? smallPrint(answer, work) : [])];
    return {
      ...(isReply(job) ? {} : { title: job.title }),
      text: isEmpty && work ? emptyAnswer(answer, work) : text,
      ...(fields.length > 0 ? { fields } : {}),
      ...(pictures.length > 0 ? { media: pictures } : {}),
      footer: footer.filter((part) => part !== '').join(' · '),
      conversation: true,
      actions: [
        {
          type: 'action',
          id: actionId({ command: 'ask', action: 'again', job: job.id, index: 0 }),
          label: 'Again',
        },
      ],
    } satisfies Message;
  },
});

function isReply({ work }: JobView): boolean {
  return work.route === 'answer' && work.reply === true;
}

/** A platform may give the same file as an option and as an attachment. */
function distinct(files: readonly FileReference[]): FileReference[] {
  return files.filter(({ url }, index) => files.findIndex((other) => other.url === url) === index);
}

/** What stands after the words needs no mark of its place: the platform shows pictures there. */
function withoutLastMarks(text: string): string {
  return text.replace(/(?:^|\n\n)(?:\*Picture \d+\*\s*)+$/, '');
}

const OUTCOMES = { started: 'started', answered: 'done', refused: 'not done' } as const;

/** The commands that the model used. */
function callFields({ calls = [] }: AnswerResult): Field[] {
  return calls.map(({ command, given, outcome, sentence }) => ({
    name: `/${command}: ${OUTCOMES[outcome]}`,
    value: clip([given, sentence].filter(Boolean).join(' · ') || 'as it is', 500),
  }));
}

/** Hidden where moderators turned it off. */
function smallPrint(
  { usage }: AnswerResult,
  { dialect, request, footer = true, note }: AnswerWork,
): string[] {
  if (!footer) return [];
  const { inputTokens, outputTokens } = usage ?? {};
  const isKnown = inputTokens !== undefined && outputTokens !== undefined;
  return [
    `${dialect}:${request.model}`,
    ...(isKnown ? [`${inputTokens} + ${outputTokens} tokens`] : []),
    ...(note === undefined ? [] : [note]),
  ];
}
