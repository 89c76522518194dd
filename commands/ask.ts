import { attachmentNote, inquiryTurn, pictureIn } from '../src/core/attachments.ts';
import { defineCommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import type { JobView } from '../src/core/job.ts';
import {
  actionId,
  againButton,
  type Field,
  type Judgement,
  type MediaItem,
  type Message,
} from '../src/core/message.ts';
import type { AnswersInForce } from '../src/core/moderation.ts';
import type { FileReference, OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import type { AnswerResult, AnswerWork, InquiryTurn } from '../src/core/work.ts';
import { emptyAnswer, endingNote } from './ask/ending.ts';
import { planAnswer, suggestModels } from './ask/plan.ts';
import { closeMarkdown } from './ask/unfinished-markdown.ts';
import { modelOption } from './text/options.ts';
import { clip, quoted } from './text/phrases.ts';

const MEGABYTE = 1024 * 1024;
/** Attached to one question. */
const MOST_FILES = 10;

const options = {
  question: {
    type: 'text',
    description: 'Your question',
    required: true,
    maximumLength: 6000,
    multiline: true,
  },
  image: {
    type: 'file',
    description: 'An image or a text file to ask about',
    accept: ['image', 'text'],
    maximumBytes: 25 * MEGABYTE,
  },
  model: modelOption('Model'),
} as const satisfies OptionDeclarations;

export const ask = defineCommand({
  name: 'ask',
  description: 'Ask a question',
  options,
  autocomplete: { model: suggestModels },
  messageMenu: { label: 'Ask about this', option: 'question' },
  suggestion: { title: 'Ask a question', message: 'What is a mixolydian scale, and which songs use it?' },

  async run(
    { options: { question, image, model: named }, conversation = [], history, isMessage, files = [], person },
    context,
  ) {
    const own = distinct([...(image ? [image] : []), ...files]).slice(0, MOST_FILES);
    const turn = {
      author: 'person' as const,
      name: person.displayName,
      person: person.id,
      text: question,
      files: own,
    };
    const turns = [...conversation, turn].map(inquiryTurn);
    const picture = pictureIn(turns);
    const { model, ...plan } = await planAnswer({ named, picture }, context);
    const mayShow =
      plan.dialect === 'chat' && picture === 'none' && (history !== undefined || own.length > 0);
    const seeing = mayShow ? await planAnswer({ named, picture: 'replied-to' }, context) : undefined;
    const { systemPrompt, footer } = await context.inForce.answers();
    const { maxTokens, contextTokens } = context.answerOffer;
    return context.jobs.start({
      work: present({
        route: 'answer' as const,
        ...plan,
        request: present({
          model,
          turns,
          maxTokens,
          system: systemPrompt?.text || undefined,
        }),
        history,
        seeing: seeing?.dialect === 'chat' ? undefined : seeing,
        contextTokens,
        reply: isMessage ? true : undefined,
        footer: storedFooter(footer),
      }),
      title: quoted(question),
    });
  },

  async again({ work }, context) {
    if (work.route !== 'answer') return work;
    const { systemPrompt, footer } = await context.inForce.answers();
    const { request } = work;
    const tools = work.way?.type === 'tools' ? work.way : undefined;
    const named = tools?.named ? `${work.dialect}:${request.model}` : undefined;
    // Moderators or operators may have decided otherwise about commands and their model.
    const { model, dialect, way, note } = tools
      ? await planAnswer({ named, picture: pictureIn(request.turns) }, context)
      : { ...work, model: request.model };
    const turns = dialect === 'chat' ? withoutEarlierPictures(request.turns) : request.turns;
    return present({
      ...work,
      dialect,
      request: present({ ...request, model, turns, system: systemPrompt?.text || undefined }),
      way,
      note,
      footer: storedFooter(footer),
      // Asked by a button, no message before it says the question.
      reply: false,
    });
  },

  early(job) {
    const answer = job.result?.answer;
    return present({
      title: isReply(job) ? '' : undefined,
      text: closeMarkdown(answer?.text ?? '').trimEnd() || undefined,
      fields: answer && callFields(answer),
    });
  },

  done(job) {
    const answer = job.result?.answer ?? { text: '' };
    const work = job.work.route === 'answer' ? job.work : undefined;
    const pictures = (job.result?.images ?? []).map((source, index): MediaItem => {
      const name = `Picture ${index + 1}`;
      return { kind: 'image', name, source, caption: name, alt: `${name} in the answer to ${job.title}` };
    });
    const text = withoutLastMarks(answer.text).trim();
    const isEmpty = text === '' && pictures.length === 0;
    const footer = [isEmpty ? '' : endingNote(answer), ...(work ? smallPrint(answer, work) : [])];
    return present({
      title: isReply(job) ? undefined : job.title,
      text: isEmpty && work ? emptyAnswer(answer, work) : text,
      fields: callFields(answer),
      media: pictures.length > 0 ? pictures : undefined,
      footer: footer.filter((part) => part !== '').join(' · '),
      conversation: true,
      feedback: isEmpty ? undefined : { good: judgementId(job, 'good'), bad: judgementId(job, 'bad') },
      actions: [againButton(job)],
    }) satisfies Message;
  },

  actions: {
    good: { run: ({ job }, context) => judged(job, 'good', context) },
    bad: { run: ({ job }, context) => judged(job, 'bad', context) },
  },
});

/** Only what moderators turned off is stored. */
function storedFooter({ on }: AnswersInForce['footer']): false | undefined {
  return on ? undefined : false;
}

function judgementId({ id, command }: JobView, action: Judgement): string {
  return actionId({ command, action, job: id, index: 0 });
}

async function judged(answer: JobView, judgement: Judgement, context: Context): Promise<Outcome> {
  await context.judge(answer, judgement);
  return privately(`Thank you. I noted this answer as ${judgement}. To change that, press the other button.`);
}

function isReply({ work }: JobView): boolean {
  return work.route === 'answer' && work.reply === true;
}

/** For a model that sees none: earlier pictures become notes. */
function withoutEarlierPictures(turns: readonly InquiryTurn[]): readonly InquiryTurn[] {
  return turns.map((turn, index) =>
    index === turns.length - 1
      ? turn
      : { ...turn, parts: turn.parts.map((part) => (part.type === 'image' ? attachmentNote(part) : part)) },
  );
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

const OUTCOMES = { started: 'started', answered: 'done', refused: 'refused' } as const;

/** The commands that the model used; undefined when it used none. */
function callFields({ calls = [] }: AnswerResult): Field[] | undefined {
  if (calls.length === 0) return undefined;
  return calls.map(({ command, given, outcome, sentence }) => ({
    name: `/${command}: ${OUTCOMES[outcome]}`,
    value: clip([given, sentence].filter(Boolean).join(' · ') || 'no options', 500),
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
