import { getsImages, imagePlaceIn, inquiryTurn } from '../src/core/attachments.ts';
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
import { allPlans, planName, withPlans } from '../src/core/models/answer-plans.ts';
import type { AnswersInForce } from '../src/core/moderation.ts';
import type { FileReference, OptionDeclarations } from '../src/core/options.ts';
import { present } from '../src/core/util/present.ts';
import type { AnswerResult, AnswerWork } from '../src/core/work.ts';
import { emptyAnswer, endingNote, omissionNotes } from './ask/ending.ts';
import { planAnswer, suggestModels } from './ask/plan.ts';
import { closeMarkdown } from './ask/unfinished-markdown.ts';
import { suggestedSongButton } from './song/suggested.ts';
import { modelOption } from './text/options.ts';
import { clip, quoted } from './text/phrases.ts';

const MEGABYTE = 1024 * 1024;
/** Per question. */
const MOST_FILES = 10;

const options = {
  question: {
    type: 'text',
    description: 'Your question',
    label: 'Question',
    help: 'You can also just mention me, or reply to me.',
    required: true,
    maximumLength: 40_000,
    multiline: true,
  },
  image: {
    type: 'file',
    description: 'An image or a text file to ask about',
    label: 'File',
    help: 'An image or a text file to ask about.',
    accept: ['image', 'text'],
    maximumBytes: 25 * MEGABYTE,
  },
  model: modelOption('Model'),
} as const satisfies OptionDeclarations;

export const ask = defineCommand({
  name: 'ask',
  description: 'Ask a question',
  options,
  form: { title: 'Ask', submitLabel: 'Ask' },
  autocomplete: { model: suggestModels },
  messageMenu: { label: 'Ask about this', option: 'question' },
  suggestion: { title: 'Ask a question', message: 'What is a mixolydian scale, and which songs use it?' },

  async run(
    {
      options: { question, image, model: requestedModel },
      conversation = [],
      history,
      isMessage,
      files = [],
      person,
    },
    context,
  ) {
    const attachments = distinct([...(image ? [image] : []), ...files]).slice(0, MOST_FILES);
    const turn = {
      author: 'person' as const,
      name: person.displayName,
      person: person.id,
      text: question,
      files: attachments,
    };
    const turns = [...conversation, turn].map(inquiryTurn);
    const picture = imagePlaceIn(turns);
    const { model, ...plan } = await planAnswer({ requestedModel, picture }, context);
    const mayShow =
      !getsImages(plan) && picture === 'none' && (history !== undefined || attachments.length > 0);
    const seeing = mayShow ? await planAnswer({ requestedModel, picture: 'replied-to' }, context) : undefined;
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
    const stored = allPlans(work);
    const tools = stored.way?.type === 'tools' ? stored.way : undefined;
    const requestedModel = tools?.named ? planName(stored) : undefined;
    // The assistant setting or TOOL_MODEL may have changed since the first run.
    const plans = tools
      ? await planAnswer({ requestedModel, picture: imagePlaceIn(request.turns) }, context)
      : stored;
    const again = withPlans(work, plans);
    return present({
      ...again,
      request: present({ ...again.request, system: systemPrompt?.text || undefined }),
      footer: storedFooter(footer),
      // Again is a button press, so no message above shows the question.
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
      const name = `Image ${index + 1}`;
      return { kind: 'image', name, source, caption: name, alt: `${name} in the answer to ${job.title}` };
    });
    const text = withoutTrailingMarks(answer.text).trim();
    const isEmpty = text === '' && pictures.length === 0;
    const footer = [
      isEmpty ? '' : endingNote(answer),
      ...omissionNotes(answer),
      ...(work ? footerParts(answer, work) : []),
    ];
    return present({
      title: isReply(job) ? undefined : job.title,
      text: isEmpty && work ? emptyAnswer(answer, work) : text,
      fields: callFields(answer),
      media: pictures.length > 0 ? pictures : undefined,
      footer: footer.filter((part) => part !== '').join(' · '),
      conversation: true,
      feedback: isEmpty ? undefined : { good: judgementId(job, 'good'), bad: judgementId(job, 'bad') },
      actions: [...suggestedSongButton(job), againButton(job)],
    }) satisfies Message;
  },

  actions: {
    good: { run: ({ job }, context) => saveJudgement(job, 'good', context) },
    bad: { run: ({ job }, context) => saveJudgement(job, 'bad', context) },
  },
});

/** Stores `false` only, so a footer that is on stays the default. */
function storedFooter({ on }: AnswersInForce['footer']): false | undefined {
  return on ? undefined : false;
}

function judgementId({ id, command }: JobView, action: Judgement): string {
  return actionId({ command, action, job: id, index: 0 });
}

async function saveJudgement(answer: JobView, judgement: Judgement, context: Context): Promise<Outcome> {
  await context.judge(answer, judgement);
  return privately(
    `Thank you. I marked this answer as ${judgement}. To change your vote, press the other button.`,
  );
}

function isReply({ work }: JobView): boolean {
  return work.route === 'answer' && work.reply === true;
}

/** Removes duplicates: a platform may pass the same file as an option and as an attachment. */
function distinct(files: readonly FileReference[]): FileReference[] {
  return files.filter(({ url }, index) => files.findIndex((other) => other.url === url) === index);
}

/** Drops the marks of images after the last text: the platform shows those images there anyway. */
function withoutTrailingMarks(text: string): string {
  const paragraphs = text.split('\n\n');
  const last = paragraphs.findLastIndex((paragraph) => !/^(?:\*Image \d+\*)?$/.test(paragraph.trim()));
  return paragraphs.slice(0, last + 1).join('\n\n');
}

const OUTCOMES = { started: 'started', answered: 'done', refused: 'refused' } as const;

/** One field per command that the model called, or undefined. */
function callFields({ calls = [] }: AnswerResult): Field[] | undefined {
  if (calls.length === 0) return undefined;
  return calls.map(({ command, given, outcome, sentence }) => ({
    name: `/${command}: ${OUTCOMES[outcome]}`,
    value: clip([given, sentence].filter(Boolean).join(' · ') || 'no options', 500),
  }));
}

/** Model, those it stood in for, tokens and note, unless moderators turned the footer off. */
function footerParts(
  { usage }: AnswerResult,
  { request, footer = true, note, failed = [] }: AnswerWork,
): string[] {
  if (!footer) return [];
  const { inputTokens, outputTokens } = usage ?? {};
  const isKnown = inputTokens !== undefined && outputTokens !== undefined;
  const tokens = isKnown ? `${inputTokens} tokens in, ${outputTokens} out` : '';
  const replacement = failed.length > 0 ? ` (instead of ${failed.map(({ model }) => model).join(', ')})` : '';
  return [`${request.model}${replacement}`, tokens, note ?? ''];
}
