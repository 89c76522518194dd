/** Yields the parts of an answer in every dialect and mode. chat and gen stream; the others return the whole answer. */

import { getsImages, withoutImages } from '../../core/attachments.ts';
import type { Job } from '../../core/job.ts';
import { present } from '../../core/util/present.ts';
import type { AnswerWork, Inquiry, Omissions } from '../../core/work.ts';
import type { Answer } from '../../gateway/answers.ts';
import type { Question } from '../../gateway/questions.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import { cutQuestion, cutToFit, estimateTokens, halve } from './context-budget.ts';
import type { DraftEvent } from './draft.ts';
import { toQuestion, withSpeakers } from './question.ts';
import type { AskOptions, UseTools } from './tools.ts';

/** Limit of retries with a shorter question. */
const MOST_TRIES = 4;

/** Throws GatewayError, and the errors of `beforeAsking`. */
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
    const turns = getsImages(work) ? request.turns : withoutImages(request.turns);
    const fullInquiry = withSpeakers({ ...request, turns });
    const budget = contextTokens ?? Number.POSITIVE_INFINITY;
    const fitting = cutQuestion(cutToFit(fullInquiry, budget), budget);
    let { inquiry } = fitting;
    let leftOut: Omissions = present({ characters: fitting.characters || undefined });
    for (let tries = 0; ; tries += 1) {
      const question = await toQuestion(inquiry, media);
      let hasParts = false;
      try {
        for await (const step of ask(job, work, question, asking)) {
          if (!hasParts && Object.keys(leftOut).length > 0) yield { type: 'leftOut', leftOut };
          hasParts = true;
          yield step;
        }
        return;
      } catch (error) {
        if (!(error instanceof GatewayError) || error.taken !== 'no' || hasParts || tries >= MOST_TRIES)
          throw error;
        const shorter = shorten(inquiry, error.code);
        if (!shorter) throw error;
        log.info(
          { job: job.id, code: error.code },
          'The model rejected the question; retrying with less of it',
        );
        inquiry = shorter.inquiry;
        const { characters = 0, images } = shorter.leftOut ?? {};
        const total = (leftOut.characters ?? 0) + characters;
        leftOut = { ...leftOut, ...present({ characters: total || undefined, images }) };
      }
    }
  };
}

/** Shortens a question that the model rejected before anything was spent; undefined if nothing can be left out. */
function shorten(
  inquiry: Inquiry,
  code: GatewayError['code'],
): { readonly inquiry: Inquiry; readonly leftOut?: Omissions } | undefined {
  // Model lists don't include the context size.
  if (code === 'too-long') {
    const half = halve(inquiry);
    if (half) return { inquiry: half };
    const cut = cutQuestion(inquiry, estimateTokens(inquiry) / 2);
    return cut.characters > 0 ? { inquiry: cut.inquiry, leftOut: { characters: cut.characters } } : undefined;
  }
  if (code !== 'invalid' && code !== 'no-images') return undefined;
  // An image that the model cannot read would make it reject every later question.
  const earlier = inquiry.turns.slice(0, -1);
  const images = earlier.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'image' ? [part.name ?? 'an image'] : [])),
  );
  const turns = [...withoutImages(earlier), ...inquiry.turns.slice(-1)];
  return images.length === 0 ? undefined : { inquiry: { ...inquiry, turns }, leftOut: { images } };
}

function* partsOf({ parts, finish, usage }: Answer): Iterable<DraftEvent> {
  for (const part of parts) yield { type: 'part', part };
  yield { type: 'finish', finish, usage };
}
