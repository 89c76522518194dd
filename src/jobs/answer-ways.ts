/** The steps of an answer, whatever the dialect and the way: chat and gen stream, everything else answers whole. */
import type { Answer, Question } from '../gateway/answers.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { AnswerWork, Inquiry } from '../work.ts';
import { fitting, halve } from './answer-memory.ts';
import type { AnswerStep } from './answer-step.ts';
import { useTools } from './answer-tools.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { toQuestion } from './question.ts';

/** How often what was said before is halved for a model that finds it too long. */
const MOST_HALVINGS = 4;

/** Throws GatewayError. */
export async function* answerSteps(
  job: Job,
  work: AnswerWork,
  signal: AbortSignal,
  d: JobDependencies,
): AsyncIterable<AnswerStep> {
  let inquiry = await remembered(work, signal, d);
  for (let halvings = 0; ; halvings += 1) {
    const question = await toQuestion(inquiry, d.media);
    let begun = false;
    try {
      for await (const step of ask(job, work, question, signal, d)) {
        begun = true;
        yield step;
      }
      return;
    } catch (error) {
      // No list tells how much a model takes; it says so itself, before anything is spent.
      const tooLong = error instanceof GatewayError && error.code === 'too-long' && error.taken === 'no';
      const less = tooLong && !begun && halvings < MOST_HALVINGS ? halve(inquiry) : undefined;
      if (!less) throw error;
      d.log.info(
        { job: job.id, turns: less.turns.length },
        'A talk was too long for the model; asking with less',
      );
      inquiry = less;
    }
  }
}

/** Counted where the gateway counts (contract, "Messages style"), estimated elsewhere. */
async function remembered(work: AnswerWork, signal: AbortSignal, d: JobDependencies): Promise<Inquiry> {
  if (work.contextTokens === undefined) return work.request;
  const count = async (inquiry: Inquiry) =>
    d.gateway.msg.countTokens(await toQuestion(inquiry, d.media), { signal });
  return fitting(work.request, work.contextTokens, work.dialect === 'msg' ? count : undefined);
}

async function* ask(
  job: Job,
  { dialect, way }: AnswerWork,
  question: Question,
  signal: AbortSignal,
  d: JobDependencies,
): AsyncIterable<AnswerStep> {
  const { chat, gen, msg } = d.gateway;
  switch (dialect) {
    case 'chat':
      yield* chat.stream(question, { signal });
      return;
    case 'msg':
      yield* whole(await msg.complete(question, { signal }));
      return;
    case 'gen':
      switch (way?.type) {
        case undefined:
          yield* gen.stream(question, { signal });
          return;
        case 'tools':
          yield* useTools(job, question, way.commands, signal, d);
          return;
        case 'illustrated':
          yield* whole(await gen.generateImage(question, { signal }));
          return;
        case 'thinking':
          yield* whole(await gen.think({ ...question, thinkingBudget: way.budget }, { signal }));
          return;
        default:
          way satisfies never;
      }
      return;
    default:
      dialect satisfies never;
  }
}

function* whole({ parts, finish, usage, model }: Answer): Iterable<AnswerStep> {
  for (const part of parts) yield { type: 'part', part };
  yield { type: 'finish', finish, usage, model };
}
