import { type AnswerPiece, usageFrom } from './answer-collector.ts';
import type { Answer, AnswerEvent, AnswerPart, CallOptions, Finish, Part, Question } from './answers.ts';
import { invalid } from './failures.ts';
import { asCount, asList, asText, fieldsOf, isObject } from './json.ts';
import { checkedTurns, refuseTools, withSystemFirst } from './questions.ts';
import type { Requester, RequestInput } from './request.ts';
import { type PieceReader, readAnswer, streamAnswer } from './stream.ts';

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

type GenRoute = 'gen/generate' | 'gen/stream' | 'gen/image' | 'gen/tools' | 'gen/think';

export function createGen(requester: Requester): Gen {
  const ask = async (route: GenRoute, question: Question, options: CallOptions = {}, extra: Extra = {}) =>
    readAnswer(await requester.call(route, inputOf(route, question, options, extra)), createGenReader());

  return {
    async complete(question, options) {
      refuseTools('gen/generate', question);
      return ask('gen/generate', question, options);
    },
    stream(question, options = {}) {
      const input = () => {
        refuseTools('gen/stream', question);
        return inputOf('gen/stream', question, options, {});
      };
      return streamAnswer(requester, 'gen/stream', input, createGenReader);
    },
    async generateImage(question, options) {
      refuseTools('gen/image', question);
      return ask('gen/image', question, options, { config: { responseModalities: ['TEXT', 'IMAGE'] } });
    },
    async callTools(question, options) {
      const functionDeclarations = question.tools ?? [];
      if (functionDeclarations.length === 0) throw invalid('gen/tools', 'no tools were declared');
      return ask('gen/tools', question, options, { tools: [{ functionDeclarations }] });
    },
    async think(question, options) {
      refuseTools('gen/think', question);
      const { thinkingBudget } = question;
      if (!Number.isInteger(thinkingBudget) || thinkingBudget < -1) {
        throw invalid('gen/think', 'a thinking budget is a whole number of tokens, or -1');
      }
      return ask('gen/think', question, options, { config: { thinkingConfig: { thinkingBudget } } });
    },
  };
}

interface Extra {
  tools?: object[];
  config?: object;
}

/**
 * Contract, "Gen-style request". `maxOutputTokens`, `temperature` and `thinkingConfig` are the public API's names
 * (https://ai.google.dev/api/generate-content#generationconfig), sent only when asked for.
 */
function inputOf(
  route: GenRoute,
  question: Question,
  { signal }: CallOptions,
  { tools, config }: Extra,
): RequestInput {
  const turns = withSystemFirst(checkedTurns(route, question), question.system);
  const generationConfig = {
    ...config,
    ...(question.maxTokens === undefined ? {} : { maxOutputTokens: question.maxTokens }),
    ...(question.temperature === undefined ? {} : { temperature: question.temperature }),
  };
  const body = {
    contents: turns.map(({ role, parts }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: parts.map(wirePart),
    })),
    ...(tools === undefined ? {} : { tools }),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
  };
  return { path: { model: question.model.trim().replace(/^models\//, '') }, body, signal };
}

function wirePart(part: Part): object {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
      return { inlineData: { mimeType: part.mimeType, data: part.data } };
    case 'tool-call':
      return {
        functionCall: {
          name: part.name,
          args: part.arguments,
          ...(part.id === undefined ? {} : { id: part.id }),
        },
        ...(part.signature === undefined ? {} : { thoughtSignature: part.signature }),
      };
    case 'tool-result':
      return {
        functionResponse: {
          name: part.name,
          response: part.result,
          ...(part.id === undefined ? {} : { id: part.id }),
        },
      };
    default:
      return part satisfies never;
  }
}

/** https://ai.google.dev/api/generate-content#FinishReason. */
const FINISH_REASONS: Readonly<Record<string, Finish['reason']>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'blocked',
  RECITATION: 'blocked',
  BLOCKLIST: 'blocked',
  PROHIBITED_CONTENT: 'blocked',
  SPII: 'blocked',
  IMAGE_SAFETY: 'blocked',
  IMAGE_PROHIBITED_CONTENT: 'blocked',
  IMAGE_RECITATION: 'blocked',
};

/** Reads whole answers and stream chunks, which have the same shape: https://ai.google.dev/api/generate-content. */
function createGenReader(): PieceReader {
  let called = false;
  return {
    isEnd: (data) => data.trimStart().startsWith('[DONE]'),
    read(value): AnswerPiece {
      const outer = fieldsOf(value);
      const root =
        outer('candidates', 'promptFeedback') === undefined ? fieldsOf(outer('data', 'response')) : outer;
      const envelope = root('candidates', 'promptFeedback', 'usageMetadata') === undefined ? outer : root;
      const candidate = fieldsOf(chosenCandidate(asList(envelope('candidates'))));
      const parts = asList(fieldsOf(candidate('content'))('parts')).flatMap(readPart);
      called ||= parts.some(({ type }) => type === 'tool-call');

      const usage = fieldsOf(envelope('usageMetadata'));
      const outputs = [asCount(usage('candidatesTokenCount')), asCount(usage('thoughtsTokenCount'))];
      return {
        parts,
        finish: finishOf(asText(candidate('finishReason'), 100), envelope('promptFeedback'), called),
        usage: usageFrom(asCount(usage('promptTokenCount')), sumOf(outputs)),
        model: asText(envelope('modelVersion'), 512),
      };
    },
    end: () => [],
  };
}

function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

/** The first candidate (their texts must not be mixed), or in its absence the first that has something. */
function chosenCandidate(candidates: readonly unknown[]): unknown {
  const first = candidates.find((each) => (asCount(fieldsOf(each)('index')) ?? 0) === 0);
  return first ?? candidates[0];
}

function finishOf(said: string | undefined, promptFeedback: unknown, called: boolean): Finish | undefined {
  const blockReason = asText(fieldsOf(promptFeedback)('blockReason'), 100);
  if (blockReason !== undefined) return { reason: 'blocked', detail: blockReason };
  if (said === undefined || said === 'FINISH_REASON_UNSPECIFIED') return undefined;
  const reason = Object.hasOwn(FINISH_REASONS, said) ? FINISH_REASONS[said] : undefined;
  const plain = reason === undefined || reason === 'stop';
  return { reason: plain && called ? 'tool-calls' : (reason ?? 'other'), detail: said };
}

function readPart(part: unknown): AnswerPart[] {
  const fields = fieldsOf(part);
  const text = fields('text');
  const call = fieldsOf(fields('functionCall'));
  const name = asText(call('name'), 200);
  const inline = fieldsOf(fields('inlineData'));
  const data = inline('data');
  const read: AnswerPart[] = [];
  if (typeof text === 'string') read.push({ type: fields('thought') === true ? 'thought' : 'text', text });
  if (typeof data === 'string') {
    read.push({
      type: 'image',
      mimeType: asText(inline('mimeType'), 100) ?? 'application/octet-stream',
      data,
    });
  }
  if (name !== undefined) {
    const args = call('args', 'arguments');
    read.push({
      type: 'tool-call',
      name,
      arguments: isObject(args) ? { ...args } : {},
      id: asText(call('id'), 512),
      signature: asText(fields('thoughtSignature'), 1_000_000),
    });
  }
  return read;
}
