/** The parts of an answer in every dialect and mode: chat and gen stream, everything else answers whole. */
import type { Job } from '../../core/job.ts';
import type { AnswerWork } from '../../core/work.ts';
import type { Answer } from '../../gateway/answers.ts';
import type { Question } from '../../gateway/questions.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import { cutToFit, halve } from './context-budget.ts';
import type { DraftEvent } from './draft.ts';
import { toQuestion, withSpeakers } from './question.ts';
import type { AskOptions, UseTools } from './tools.ts';

/** How often what was said before is halved for a model that finds it too long. */
const MOST_HALVINGS = 4;

/** Throws GatewayError, and what `beforeAsking` throws. */
export type AnswerParts = (job: Job, work: AnswerWork, asking: AskOptions) => AsyncIterable<DraftEvent>;

export function createAnswerParts({
  gateway,
  media,
  useTools,
  log,
}: Pick<JobDependencies, 'gateway' | 'media' | 'log'> & { readonly useTools: UseTools }): AnswerParts {
  async function* ask(
    job: Job,
    { dialect, way }: AnswerWork,
    question: Question,
    asking: AskOptions,
  ): AsyncIterable<DraftEvent> {
    const { chat, gen, msg } = gateway;
    const { signal } = asking;
    asking.beforeAsking();
    switch (dialect) {
      case 'chat':
        yield* chat.stream(question, { signal });
        return;
      case 'msg':
        yield* partsOf(await msg.complete(question, { signal }));
        return;
      case 'gen':
        switch (way?.type) {
          case undefined:
            yield* gen.stream(question, { signal });
            return;
          case 'tools':
            yield* useTools(job, question, way.commands, asking);
            return;
          case 'illustrated':
            yield* partsOf(await gen.generateImage(question, { signal }));
            return;
          case 'thinking':
            yield* partsOf(await gen.think(question, { signal }));
            return;
          default:
            way satisfies never;
        }
        return;
      default:
        dialect satisfies never;
    }
  }

  return async function* answerParts(job, work, asking) {
    const { request, contextTokens } = work;
    const whole = withSpeakers(request);
    let inquiry = contextTokens === undefined ? whole : cutToFit(whole, contextTokens);
    for (let halvings = 0; ; halvings += 1) {
      const question = await toQuestion(inquiry, media);
      let begun = false;
      try {
        for await (const step of ask(job, work, question, asking)) {
          begun = true;
          yield step;
        }
        return;
      } catch (error) {
        // No list tells how much a model takes; it says so itself, before anything is spent.
        const tooLong = error instanceof GatewayError && error.code === 'too-long' && error.taken === 'no';
        const less = tooLong && !begun && halvings < MOST_HALVINGS ? halve(inquiry) : undefined;
        if (!less) throw error;
        const facts = { job: job.id, turns: less.turns.length };
        log.info(facts, 'The conversation is too long for the model; retrying with less of it');
        inquiry = less;
      }
    }
  };
}

function* partsOf({ parts, finish, usage }: Answer): Iterable<DraftEvent> {
  for (const part of parts) yield { type: 'part', part };
  yield { type: 'finish', finish, usage };
}
