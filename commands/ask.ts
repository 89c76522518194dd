import {
  type Context,
  type ConversationTurn,
  defineCommand,
  type OptionDeclarations,
} from '../src/command.ts';
import { actionId, type Message } from '../src/message.ts';
import type { AnswerResult, AnswerRoute, InquiryTurn } from '../src/work.ts';
import { quoted } from './text.ts';

const MEGABYTE = 1024 * 1024;
/** Bounds the answer on the messages route, where the contract asks for it. */
const MAXIMUM_TOKENS = 4096;

const options = {
  question: {
    type: 'text',
    description: 'What you want to know',
    required: true,
    maximumLength: 6000,
    multiline: true,
  },
  image: { type: 'file', description: 'A picture to look at', accept: ['image'], maximumBytes: 5 * MEGABYTE },
  model: {
    type: 'text',
    description: 'The model that answers',
    maximumLength: 100,
    suggest: ({ typed }, { models }) => models.suggest('ask', typed),
  },
} as const satisfies OptionDeclarations;

export const ask = defineCommand({
  name: 'ask',
  description: 'Ask a question',
  options,
  messageMenu: { label: 'Ask about this', option: 'question' },

  async run({ options: { question, image, model: named }, conversation }, context) {
    const { dialect, model } = routeOf(await context.models.resolve('ask', named), image !== undefined);
    const file = image && (await context.files.keep(image, ['image']));
    const turns: InquiryTurn[] = [
      ...(await earlier(conversation ?? [], context)),
      {
        role: 'user',
        parts: [...(file ? [{ type: 'image' as const, file }] : []), { type: 'text', text: question }],
      },
    ];
    return context.jobs.start({
      work: {
        route: 'answer',
        dialect,
        request: { model, turns: alternating(turns), maxTokens: MAXIMUM_TOKENS },
      },
      title: quoted(question),
    });
  },

  early(job) {
    const text = job.result?.answer?.text;
    return text ? { text } : {};
  },

  done(job) {
    const answer = job.result?.answer;
    const model = job.work.route === 'answer' ? `${job.work.dialect}:${job.work.request.model}` : '';
    return {
      title: job.title,
      text: answer?.text.trim() || 'The model had nothing to say.',
      footer: [how(answer), model, tokens(answer)].filter((part) => part !== '').join(' · '),
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

/** `route:id` names the dialect; without a route the chat dialect answers, and pictures go by the messages dialect. */
function routeOf(choice: string, hasPicture: boolean): { dialect: AnswerRoute; model: string } {
  const [, route, id] = /^(chat|msg|gen):(.+)$/.exec(choice) ?? [];
  if (id && (route === 'chat' || route === 'msg' || route === 'gen')) return { dialect: route, model: id };
  return { dialect: hasPicture ? 'msg' : 'chat', model: choice };
}

async function earlier(
  conversation: readonly ConversationTurn[],
  { files }: Context,
): Promise<InquiryTurn[]> {
  return Promise.all(
    conversation.map(async ({ author, name, text, files: attached }): Promise<InquiryTurn> => {
      if (author === 'bot') return { role: 'assistant', parts: [{ type: 'text', text }] };
      const pictures = await Promise.all(
        attached.map(async (file) => ({ type: 'image' as const, file: await files.keep(file, ['image']) })),
      );
      return { role: 'user', parts: [...pictures, { type: 'text', text: name ? `${name}: ${text}` : text }] };
    }),
  );
}

/** Joins turns of the same side, since the messages dialect alternates and begins with a person. */
function alternating(turns: readonly InquiryTurn[]): InquiryTurn[] {
  const joined: InquiryTurn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last?.role === turn.role)
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    else if (last || turn.role === 'user') joined.push(turn);
  }
  return joined;
}

function how(answer: AnswerResult | undefined): string {
  switch (answer?.finish?.reason) {
    case 'stopped':
      return 'Stopped';
    case 'broken':
      return 'The answer broke off here';
    case 'length':
      return 'The answer reached the length limit';
    case 'blocked':
    case 'refused':
      return 'The model declined to say more';
    default:
      return '';
  }
}

function tokens(answer: AnswerResult | undefined): string {
  const { inputTokens, outputTokens } = answer?.usage ?? {};
  if (inputTokens === undefined || outputTokens === undefined) return '';
  return `${inputTokens} + ${outputTokens} tokens`;
}
