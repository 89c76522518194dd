import {
  type Answer,
  type AnswerEvent,
  type AnswerPart,
  type CallOptions,
  type Finish,
  usageOf,
} from './answers.ts';
import { checkedTurns, type Question, type TurnPart, withSystemFirst } from './questions.ts';
import { invalid } from './transport/errors.ts';
import * as json from './transport/json.ts';
import type { Requester, RequestInput } from './transport/request.ts';
import { type AnswerPiece, type AnswerReader, readAnswer, streamAnswer } from './transport/stream.ts';

/** As many tokens as the model likes: https://ai.google.dev/gemini-api/docs/thinking. */
const AUTOMATIC_THINKING = { thinkingConfig: { thinkingBudget: -1 } };

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
    think: (question: Question, options?: CallOptions): Promise<Answer> =>
      ask('gen/think', question, options, AUTOMATIC_THINKING),
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
  if (route === 'gen/tools' && tools.length === 0) throw invalid(route, 'no tools are declared');
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

/**
 * Reads what the gen-style routes return, whole or as a chunk of the stream: contract, "Gen style", where the bodies are
 * not shown; the public API's GenerateContentResponse (https://ai.google.dev/api/generate-content), in its snake case too.
 * Any member may be missing.
 */
export function createGenReader(): AnswerReader {
  let called = false;
  return {
    read(value): AnswerPiece {
      const body = json.unwrapped(value, ['candidates', 'promptFeedback'], ['data', 'response']);
      const { candidates, promptFeedback, usageMetadata } = body;
      const candidate = firstOf(json.asList(candidates));
      const { content, finish_reason, finishReason = finish_reason } = candidate;
      const parts = json.asList(json.objectOf(content).parts).flatMap(partsOf);
      called ||= parts.some(({ type }) => type === 'tool-call');
      const counts = json.objectOf(usageMetadata);
      return {
        parts,
        finish: finishOf(
          json.asText(finishReason, 100),
          json.asText(json.objectOf(promptFeedback).blockReason, 100),
          called,
        ),
        usage: usageOf(
          counts.promptTokenCount,
          sumOf(counts.candidatesTokenCount, counts.thoughtsTokenCount),
        ),
      };
    },
  };
}

/** The first candidate (their texts must not be mixed), or in its absence the first that came. */
function firstOf(candidates: readonly unknown[]): json.JsonObject {
  return json.objectOf(candidates.find((each) => (json.objectOf(each).index ?? 0) === 0) ?? candidates[0]);
}

function sumOf(answered: unknown, thought: unknown): number | undefined {
  const [one, other] = [json.asCount(answered), json.asCount(thought)];
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}

/** `executableCode`, `fileData` and what else there may be are passed over. Texts are not trimmed. */
function partsOf(part: unknown): AnswerPart[] {
  const {
    text,
    thought,
    inline_data,
    inlineData = inline_data,
    functionCall,
    thoughtSignature,
  } = json.objectOf(part);
  const parts: AnswerPart[] = [];
  if (typeof text === 'string' && text !== '')
    parts.push({ type: thought === true ? 'thought' : 'text', text });
  const { data, mime_type, mimeType = mime_type } = json.objectOf(inlineData);
  if (typeof data === 'string' && data !== '')
    parts.push({ type: 'image', mimeType: json.asText(mimeType, 100) ?? 'application/octet-stream', data });
  const { name, args, id } = json.objectOf(functionCall);
  const called = json.asText(name, 200);
  if (called !== undefined) {
    const signature = json.asText(thoughtSignature, 1_000_000);
    parts.push({
      type: 'tool-call',
      name: called,
      arguments: { ...json.objectOf(args) },
      id: json.asId(id),
      signature,
    });
  }
  return parts;
}

function finishOf(
  word: string | undefined,
  blockReason: string | undefined,
  called: boolean,
): Finish | undefined {
  if (blockReason !== undefined) return { reason: 'blocked', detail: blockReason };
  if (word === undefined || word === 'FINISH_REASON_UNSPECIFIED') return undefined;
  const reason = json.lookUp(FINISH_REASONS, word);
  const plain = reason === undefined || reason === 'stop';
  return { reason: plain && called ? 'tool-calls' : (reason ?? 'other'), detail: word };
}
