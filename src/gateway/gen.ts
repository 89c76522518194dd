import { own } from '../core/util/own.ts';
import { createAdaptations } from './adaptation.ts';
import {
  type Answer,
  type AnswerEvent,
  type AnswerPart,
  type CallOptions,
  type Finish,
  usageOf,
} from './answers.ts';
import { checkedTurns, type Question, type TurnPart } from './questions.ts';
import { invalid } from './transport/errors.ts';
import * as json from './transport/json.ts';
import type { Requester, RequestInput } from './transport/request.ts';
import { type AnswerPiece, type AnswerReader, readAnswer, streamAnswer } from './transport/stream.ts';

/** The model decides how long to think: https://ai.google.dev/gemini-api/docs/thinking. */
const AUTOMATIC_THINKING = { thinkingConfig: { thinkingBudget: -1 } };

type GenRoute = 'gen/stream' | 'gen/image' | 'gen/tools' | 'gen/think';

/** Contract, "Gen style". Every method throws GatewayError only. */
export function createGen(requester: Requester) {
  const adaptations = createAdaptations();
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
  const ask = (route: GenRoute, question: Question, options?: CallOptions, config = {}) =>
    adaptations.call(question, async (prepared) =>
      readAnswer(await requester.call(route, inputOf(route, prepared, options, config)), createGenReader()),
    );

  return {
    /** Streams the text. Throws if the stream ends early. */
    stream: (question: Question, options?: CallOptions): AsyncIterable<AnswerEvent> =>
      adaptations.stream(question, (prepared) =>
        streamAnswer(
          requester,
          'gen/stream',
          () => inputOf('gen/stream', prepared, options),
          createGenReader,
        ),
      ),
    /** Returns text and images: `generationConfig.responseModalities` contains `TEXT` and `IMAGE`. */
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
 * The body of every gen-style route: contract, "Gen-style request (`gen`)". `maxOutputTokens`, `thinkingConfig` and parts
 * other than text have the public API's names (https://ai.google.dev/api/generate-content) and are sent only if set.
 * `config` contains the route's settings: contract, "Gen style", the table's last three rows. Throws GatewayError `invalid`.
 */
function genRequest(route: GenRoute, question: Question, config: object): object {
  const { tools = [], maxTokens } = question;
  if (route === 'gen/tools' && tools.length === 0) throw invalid(route, 'no tools are declared');
  const turns = checkedTurns(route, question);
  const hasConfig = maxTokens !== undefined || Object.keys(config).length > 0;
  return {
    systemInstruction: question.system?.trim() ? { parts: [{ text: question.system }] } : undefined,
    contents: turns.map(({ role, parts }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: parts.map(genPart),
    })),
    tools: route === 'gen/tools' ? [{ functionDeclarations: tools }] : undefined,
    generationConfig: hasConfig ? { ...config, maxOutputTokens: maxTokens } : undefined,
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
 * Reads whole bodies and stream chunks of the gen-style routes, which the contract doesn't show. They are the public API's
 * GenerateContentResponse (https://ai.google.dev/api/generate-content), in camel or snake case. Any member may be missing.
 */
export function createGenReader(): AnswerReader {
  let hasToolCall = false;
  return {
    read(value): AnswerPiece {
      const body = json.unwrapped(value, ['candidates', 'promptFeedback'], ['data', 'response']);
      const { candidates, promptFeedback, usageMetadata } = body;
      const candidate = firstOf(json.asList(candidates));
      const { content, finish_reason, finishReason = finish_reason } = candidate;
      const parts = json.asList(json.objectOf(content).parts).flatMap(partsOf);
      hasToolCall ||= parts.some(({ type }) => type === 'tool-call');
      const counts = json.objectOf(usageMetadata);
      return {
        parts,
        finish: finishOf(
          json.asText(finishReason, 100),
          json.asText(json.objectOf(promptFeedback).blockReason, 100),
          hasToolCall,
        ),
        usage: usageOf(
          counts.promptTokenCount,
          sumOf(counts.candidatesTokenCount, counts.thoughtsTokenCount),
        ),
      };
    },
  };
}

/** Returns the candidate with index 0, or the first one. Each candidate is a separate answer, so the rest is ignored. */
function firstOf(candidates: readonly unknown[]): json.JsonObject {
  return json.objectOf(candidates.find((each) => (json.objectOf(each).index ?? 0) === 0) ?? candidates[0]);
}

function sumOf(textTokens: unknown, thoughtTokens: unknown): number | undefined {
  const [text, thought] = [json.asCount(textTokens), json.asCount(thoughtTokens)];
  return text === undefined && thought === undefined ? undefined : (text ?? 0) + (thought ?? 0);
}

/** Ignores other parts, such as `executableCode`. Texts are not trimmed. */
function partsOf(part: unknown): AnswerPart[] {
  const {
    text,
    thought,
    inline_data,
    inlineData = inline_data,
    functionCall,
    thoughtSignature,
    fileData,
  } = json.objectOf(part);
  const parts: AnswerPart[] = [];
  if (typeof text === 'string' && text !== '')
    parts.push({ type: thought === true ? 'thought' : 'text', text });
  const { data, mime_type, mimeType = mime_type } = json.objectOf(inlineData);
  // Drafts of an image are thoughts: https://ai.google.dev/gemini-api/docs/image-generation#thinking-process
  if (typeof data === 'string' && data !== '' && thought !== true)
    parts.push({ type: 'image', mimeType: json.asText(mimeType, 100) ?? 'application/octet-stream', data });
  const file = json.asHttpUrl(json.objectOf(fileData).fileUri);
  if (file !== undefined) parts.push({ type: 'text', text: `\n\n[file](${file})\n\n` });
  const { name, args, id } = json.objectOf(functionCall);
  const toolName = json.asText(name, 200);
  if (toolName !== undefined) {
    const signature = json.asText(thoughtSignature, 1_000_000);
    parts.push({
      type: 'tool-call',
      name: toolName,
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
  hasToolCall: boolean,
): Finish | undefined {
  if (blockReason !== undefined) return { reason: 'blocked', detail: blockReason };
  if (word === undefined || word === 'FINISH_REASON_UNSPECIFIED') return undefined;
  const reason = own(FINISH_REASONS, word);
  const isPlain = reason === undefined || reason === 'stop';
  return { reason: isPlain && hasToolCall ? 'tool-calls' : (reason ?? 'other'), detail: word };
}
