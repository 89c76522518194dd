import type { Answer, AnswerEvent, CallOptions, Question } from './answers.ts';
import { invalid } from './failures.ts';
import { createGenReader } from './gen-answers.ts';
import { type GenExtra, type GenRoute, genRequestOf } from './gen-requests.ts';
import type { Requester, RequestInput } from './request.ts';
import { readAnswer, streamAnswer } from './stream.ts';

/** Contract, "Gen style". Every method throws GatewayError only. */
export interface Gen {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  /** Text as it comes; a stream that does not finish throws with what had come in `partial`. */
  stream(question: Question, options?: CallOptions): AsyncIterable<AnswerEvent>;
  /** Text and pictures: `generationConfig.responseModalities` holds `TEXT` and `IMAGE`. */
  generateImage(question: Question, options?: CallOptions): Promise<Answer>;
  /** Function calling, on the path without the `gen` segment; `question.tools` is required. */
  callTools(question: Question, options?: CallOptions): Promise<Answer>;
  /** The thinking preview, on the path without the `gen` segment. */
  think(question: ThinkingQuestion, options?: CallOptions): Promise<Answer>;
}

interface ThinkingQuestion extends Question {
  /** Tokens to think with; 0 is off, -1 is automatic (https://ai.google.dev/gemini-api/docs/thinking). */
  thinkingBudget: number;
}

export function createGen(requester: Requester): Gen {
  const inputOf = (route: GenRoute, question: Question, { signal }: CallOptions = {}, extra?: GenExtra) => {
    const body = genRequestOf(route, question, extra);
    return { path: { model: question.model.trim().replace(/^models\//, '') }, body, signal };
  };
  const ask = async (route: GenRoute, input: RequestInput) =>
    readAnswer(await requester.call(route, input), createGenReader());

  return {
    complete: async (question, options) => ask('gen/generate', inputOf('gen/generate', question, options)),
    stream(question, options) {
      return streamAnswer(
        requester,
        'gen/stream',
        () => inputOf('gen/stream', question, options),
        createGenReader,
      );
    },
    generateImage: async (question, options) =>
      ask('gen/image', inputOf('gen/image', question, options, { responseModalities: ['TEXT', 'IMAGE'] })),
    callTools: async (question, options) => ask('gen/tools', inputOf('gen/tools', question, options)),
    async think(question, options) {
      const { thinkingBudget } = question;
      if (!Number.isInteger(thinkingBudget) || thinkingBudget < -1) {
        throw invalid('gen/think', 'a thinking budget is a whole number of tokens, or -1');
      }
      return ask(
        'gen/think',
        inputOf('gen/think', question, options, { thinkingConfig: { thinkingBudget } }),
      );
    },
  };
}
