import type { Answer, AnswerEvent, CallOptions } from '../answers.ts';
import { checkedTurns, type Question, type TurnPart, withSystemFirst } from '../questions.ts';
import { invalid } from '../transport/errors.ts';
import type { Requester, RequestInput } from '../transport/request.ts';
import { readAnswer, streamAnswer } from '../transport/stream.ts';
import { createGenReader } from './answers.ts';

interface ThinkingQuestion extends Question {
  /** Tokens to think with; 0 is off, -1 is automatic (https://ai.google.dev/gemini-api/docs/thinking). */
  thinkingBudget: number;
}

type GenRoute = 'gen/stream' | 'gen/image' | 'gen/tools' | 'gen/think';

/** Contract, "Gen style". Every method throws GatewayError only. */
export function createGen(requester: Requester) {
  const inputOf = (
    route: GenRoute,
    question: Question,
    options?: CallOptions,
    config = {},
  ): RequestInput => ({
    path: { model: question.model.trim().replace(/^models\//, '') },
    body: genRequest(route, question, config),
    signal: options?.signal,
  });
  const ask = async (route: GenRoute, question: Question, options?: CallOptions, config = {}) =>
    readAnswer(await requester.call(route, inputOf(route, question, options, config)), createGenReader());

  return {
    /** Text as it comes; a stream that does not finish throws. */
    stream: (question: Question, options?: CallOptions): AsyncIterable<AnswerEvent> =>
      streamAnswer(requester, 'gen/stream', () => inputOf('gen/stream', question, options), createGenReader),
    /** Text and pictures: `generationConfig.responseModalities` holds `TEXT` and `IMAGE`. */
    generateImage: (question: Question, options?: CallOptions): Promise<Answer> =>
      ask('gen/image', question, options, { responseModalities: ['TEXT', 'IMAGE'] }),
    /** Function calling, on the path without the `gen` segment; `question.tools` is required. */
    callTools: (question: Question, options?: CallOptions): Promise<Answer> =>
      ask('gen/tools', question, options),
    /** The thinking preview, on the path without the `gen` segment. */
    async think({ thinkingBudget, ...question }: ThinkingQuestion, options?: CallOptions): Promise<Answer> {
      if (!Number.isInteger(thinkingBudget) || thinkingBudget < -1) {
        throw invalid('gen/think', 'a thinking budget is a whole number of tokens, or -1');
      }
      return ask('gen/think', question, options, { thinkingConfig: { thinkingBudget } });
    },
  };
}

/**
 * The body of every gen-style route: contract, "Gen-style request (`gen`)". `maxOutputTokens` and `thinkingConfig`, and the parts besides text, are the public API's names
 * (https://ai.google.dev/api/generate-content), sent only when asked for. `config` is what the route adds to the
 * question: contract, "Gen style", the table's last three rows. Throws GatewayError `invalid` for what the route
 * cannot say.
 */
function genRequest(route: GenRoute, question: Question, config: object): object {
  const { tools = [], maxTokens } = question;
  if (route === 'gen/tools' && tools.length === 0) throw invalid(route, 'no tools were declared');
  const turns = withSystemFirst(checkedTurns(route, question), question.system);
  const configured = maxTokens !== undefined || Object.keys(config).length > 0;
  return {
    contents: turns.map(({ role, parts }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: parts.map(genPart),
    })),
    tools: route === 'gen/tools' ? [{ functionDeclarations: tools }] : undefined,
    generationConfig: configured ? { ...config, maxOutputTokens: maxTokens } : undefined,
  };
}

function genPart(part: TurnPart): object {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
      return { inlineData: { mimeType: part.mimeType, data: part.data } };
    case 'tool-call': {
      const { name, arguments: args, id, signature } = part;
      return { functionCall: { name, args, id }, thoughtSignature: signature };
    }
    case 'tool-result':
      return { functionResponse: { name: part.name, response: part.result, id: part.id } };
    default:
      return part satisfies never;
  }
}
