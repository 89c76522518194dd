import { defineCommand } from '../src/core/bot/command.ts';
import type { AnswerSettings, Context } from '../src/core/bot/context.ts';
import type { Outcome } from '../src/core/bot/outcome.ts';
import type { JobView } from '../src/core/job.ts';
import { actionId, type Field, type Judgement, type MediaItem, type Message } from '../src/core/message.ts';
import { type FileReference, type OptionDeclarations, present } from '../src/core/options.ts';
import type { AnswerResult, AnswerWork } from '../src/core/work.ts';
import {
  isPicture,
  keepAttached,
  pictureIn,
  readConversation,
  withoutEarlierPictures,
} from './ask/conversation.ts';
import { emptyAnswer, endingNote } from './ask/ending.ts';
import { planAnswer, suggestModels } from './ask/route.ts';
import { closeMarkdown } from './ask/unfinished-markdown.ts';
import { modelOption } from './text/options.ts';
import { againButton, clip, privately, quoted } from './text/text.ts';

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
    description: 'A picture to look at, or a text to read',
    accept: ['image', 'text'],
    maximumBytes: 25 * MEGABYTE,
  },
  model: modelOption('The model that answers'),
} as const satisfies OptionDeclarations;

export const ask = defineCommand({
  name: 'ask',
  description: 'Ask a question',
  options,
  autocomplete: { model: suggestModels },
  messageMenu: { label: 'Ask about this', option: 'question' },
  suggestion: { title: 'Ask a question', message: 'What is a mixolydian scale, and which songs use it?' },

  async run(
    { options: { question, image, model: named }, conversation, isMessage, files = [], person },
    context,
  ) {
    const own = await keepAttached(distinct([...(image ? [image] : []), ...files]), context);
    const settings = context.settings.answers;
    const isShown = own.some(({ type }) => type === 'image');
    const isRepliedTo = conversation?.at(-1)?.files.some(isPicture) === true;
    const picture = isShown ? 'attached' : isRepliedTo ? 'replied-to' : 'none';
    const plan = await planAnswer({ named, picture, settings }, context);
    const seesPictures = plan.dialect !== 'chat';
    const { turns, isGroup } = await readConversation(
      { question, files: own, conversation: conversation ?? [], person, seesPictures },
      context,
    );
    const { maxTokens, contextTokens } = context.answers;
    const { dialect, model, way, note } = plan;
    return context.jobs.start({
      work: present({
        route: 'answer' as const,
        dialect,
        request: present({ model, turns, maxTokens, system: systemOf(settings, isGroup) }),
        contextTokens,
        way,
        note,
        reply: isMessage ? true : undefined,
        footer: footerOf(settings),
      }),
      title: quoted(question),
    });
  },

  async again({ work }, context) {
    if (work.route !== 'answer') return work;
    const settings = context.settings.answers;
    const { request } = work;
    const isGroup = request.system?.endsWith(GROUP_PROMPT) ?? false;
    const tools = work.way?.type === 'tools' ? work.way : undefined;
    const named = tools?.named ? `${work.dialect}:${request.model}` : undefined;
    // Moderators or operators may have decided otherwise about commands and their model.
    const { model, dialect, way, note } = tools
      ? await planAnswer({ named, picture: pictureIn(request.turns), settings }, context)
      : { ...work, model: request.model };
    const turns = dialect === 'chat' ? withoutEarlierPictures(request.turns) : request.turns;
    return present({
      ...work,
      dialect,
      request: present({ ...request, model, turns, system: systemOf(settings, isGroup) }),
      way,
      note,
      footer: footerOf(settings),
      // Asked by a button, no message before it says the question.
      reply: false,
    });
  },

  early(job) {
    const answer = job.result?.answer;
    const title = isReply(job) ? { title: '' } : {};
    if (!answer) return title;
    const text = closeMarkdown(answer.text);
    return {
      ...title,
      ...present({ text: text.trim() === '' ? undefined : text, fields: callFields(answer) }),
    };
  },

  done(job) {
    const answer = job.result?.answer ?? { text: '' };
    const work = job.work.route === 'answer' ? job.work : undefined;
    const pictures = (job.result?.images ?? []).map((source, index): MediaItem => {
      const name = `Picture ${index + 1}`;
      return { kind: 'image', name, source, caption: name, alt: `${name} of the answer to ${job.title}` };
    });
    const text = withoutLastMarks(answer.text).trim();
    const isEmpty = text === '' && pictures.length === 0;
    const footer = [isEmpty ? '' : endingNote(answer), ...(work ? smallPrint(answer, work) : [])];
    return {
      ...(isReply(job) ? {} : { title: job.title }),
      text: isEmpty && work ? emptyAnswer(answer, work) : text,
      ...present({ fields: callFields(answer), media: pictures.length > 0 ? pictures : undefined }),
      footer: footer.filter((part) => part !== '').join(' · '),
      conversation: true,
      ...(isEmpty ? {} : { feedback: { good: judgementId(job, 'good'), bad: judgementId(job, 'bad') } }),
      actions: [againButton(job)],
    } satisfies Message;
  },

  actions: {
    good: { run: ({ job }, context) => judged(job, 'good', context) },
    bad: { run: ({ job }, context) => judged(job, 'bad', context) },
  },
});

/** Only what moderators turned off is stored. */
function footerOf({ footer }: AnswerSettings): false | undefined {
  return footer ? undefined : false;
}

function systemOf({ systemPrompt }: AnswerSettings, isGroup: boolean): string | undefined {
  return [systemPrompt, isGroup ? GROUP_PROMPT : undefined].filter(Boolean).join('\n\n') || undefined;
}

function judgementId({ id, command }: JobView, action: Judgement): string {
  return actionId({ command, action, job: id, index: 0 });
}

async function judged(answer: JobView, judgement: Judgement, context: Context): Promise<Outcome> {
  await context.judge(answer, judgement);
  return privately(`Thank you. I noted that this answer is ${judgement}; press the other one to change it.`);
}

function isReply({ work }: JobView): boolean {
  return work.route === 'answer' && work.reply === true;
}

/** A platform may give the same file as an option and as an attachment. */
function distinct(files: readonly FileReference[]): FileReference[] {
  return files.filter(({ url }, index) => files.findIndex((other) => other.url === url) === index);
}

/** Pictures after the last words need no mark: the platform shows them there. */
function withoutLastMarks(text: string): string {
  const paragraphs = text.split('\n\n');
  const last = paragraphs.findLastIndex((paragraph) => !/^(?:\*Picture \d+\*)?$/.test(paragraph.trim()));
  return paragraphs.slice(0, last + 1).join('\n\n');
}

const OUTCOMES = { started: 'started', answered: 'done', refused: 'not done' } as const;

/** The commands that the model used; undefined when it used none. */
function callFields({ calls = [] }: AnswerResult): Field[] | undefined {
  if (calls.length === 0) return undefined;
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
  const tokens = isKnown ? `${inputTokens} + ${outputTokens} tokens` : '';
  return [`${dialect}:${request.model}`, tokens, note ?? ''];
}
