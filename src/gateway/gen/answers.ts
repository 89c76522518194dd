import { z } from 'zod';
import { type AnswerPart, type Finish, type Usage, usage } from '../answers.ts';
import type { AnswerPiece } from '../transport/collector.ts';
import * as json from '../transport/json.ts';
import type { PieceReader } from '../transport/stream.ts';

const MOST_PARTS = 10_000;

/** `executableCode`, `fileData` and what else there may be are passed over. Texts are not trimmed. */
const part = json.members({
  text: json.maybe(z.string()),
  /** The text is the model's reasoning. */
  thought: json.maybe(z.boolean()),
  inlineData: json.maybe(json.members({ mimeType: json.maybe(json.text(100)), data: z.string() })),
  functionCall: json.maybe(
    json.members(
      { name: json.text(200), args: json.maybe(json.anyMembers), id: json.maybe(json.text(512)) },
      { args: ['args', 'arguments'] },
    ),
  ),
  thoughtSignature: json.maybe(json.text(1_000_000)),
});

const candidate = json.members({
  index: json.maybe(json.count),
  content: json.maybe(json.members({ parts: json.listOf(part, MOST_PARTS) })),
  finishReason: json.maybe(json.text(100)),
});

const genUsage = z.preprocess((value) => {
  const tokens = json.fieldsOf(value);
  const outputs = [json.asCount(tokens('candidatesTokenCount')), json.asCount(tokens('thoughtsTokenCount'))];
  return { inputTokens: tokens('promptTokenCount'), outputTokens: sumOf(outputs) };
}, usage);

/**
 * What the gen-style routes return, whole or as a chunk of the stream: contract, "Gen style", where the bodies are not
 * shown; the public API's GenerateContentResponse (https://ai.google.dev/api/generate-content). Any member may be
 * missing.
 */
const generateContentResponse = z.preprocess(
  (body) => json.unwrapped(body, ['candidates', 'promptFeedback'], ['data', 'response']),
  json.members({
    candidates: json.listOf(candidate, 1_000),
    promptFeedback: json.maybe(json.members({ blockReason: json.maybe(json.text(100)) })),
    usageMetadata: json.maybe(genUsage),
    modelVersion: json.maybe(json.text(512)),
  }),
);
const readable = generateContentResponse.catch({ candidates: [] });

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

/** Of a chunk that brings text and nothing else: https://ai.google.dev/api/generate-content. */
const PLAIN_RESPONSE = new Set(['modelVersion', 'responseId', 'createTime']);
const NESTED_IN_RESPONSE = new Set(['candidates', 'usageMetadata']);
const PLAIN_CANDIDATE = new Set(['index', 'finishReason', 'avgLogprobs']);
const CONTENT = new Set(['content']);
const PLAIN_CONTENT = new Set(['role']);
const PARTS = new Set(['parts']);
const PLAIN_PART = new Set(['text']);
const PLAIN_USAGE = new Set([
  ...['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'],
  ...['trafficType', 'serviceTier'],
]);
const USAGE_DETAILS = new Set(['promptTokensDetails', 'candidatesTokensDetails']);
const PLAIN_DETAIL = new Set(['modality', 'tokenCount']);

function plainTextOf(response: json.JsonObject): string | undefined {
  const [only, ...others] = json.asList(response.candidates);
  if (others.length > 0 || !json.isPlain(only, PLAIN_CANDIDATE, CONTENT)) return undefined;
  const { index = 0, content, finishReason } = only;
  if (index !== 0 || (finishReason ?? null) !== null) return undefined;
  if (!json.isPlain(content, PLAIN_CONTENT, PARTS)) return undefined;
  const [said, ...more] = json.asList(content.parts);
  if (more.length > 0 || !json.isPlain(said, PLAIN_PART)) return undefined;
  return typeof said.text === 'string' ? said.text : undefined;
}

/** Gen-style gateways count in every chunk. */
function plainUsageOf(counts: unknown): Usage | undefined {
  if (!json.isPlain(counts, PLAIN_USAGE, USAGE_DETAILS)) return undefined;
  for (const name of USAGE_DETAILS) {
    const details = counts[name] ?? [];
    if (!Array.isArray(details) || !details.every((each) => json.isPlain(each, PLAIN_DETAIL)))
      return undefined;
  }
  const { promptTokenCount: inputTokens, candidatesTokenCount, thoughtsTokenCount } = counts;
  if (!isCount(inputTokens)) return undefined;
  if (candidatesTokenCount === undefined && thoughtsTokenCount === undefined) return { inputTokens };
  const [said = 0, thought = 0] = [candidatesTokenCount, thoughtsTokenCount];
  return isCount(said) && isCount(thought) ? { inputTokens, outputTokens: said + thought } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function createGenReader(): PieceReader {
  let called = false;
  let isModelKnown = false;
  return {
    isEnd: (data) => data.trimStart().startsWith('[DONE]'),
    readPlain(value) {
      if (!json.isPlain(value, PLAIN_RESPONSE, NESTED_IN_RESPONSE)) return undefined;
      if (!isModelKnown && (value.modelVersion ?? null) !== null) return undefined;
      const said = plainTextOf(value);
      const usage = value.usageMetadata === undefined ? undefined : plainUsageOf(value.usageMetadata);
      if (said === undefined || said === '' || (usage === undefined && value.usageMetadata !== undefined))
        return undefined;
      return { parts: [{ type: 'text', text: said }], usage };
    },
    read(value): AnswerPiece {
      const { candidates, promptFeedback, usageMetadata, modelVersion } = readable.parse(value);
      isModelKnown ||= modelVersion !== undefined;
      // The first candidate (their texts must not be mixed), or in its absence the first that came.
      const chosen = candidates.find(({ index = 0 }) => index === 0) ?? candidates[0];
      const parts = chosen?.content?.parts.flatMap(partsOf) ?? [];
      called ||= parts.some(({ type }) => type === 'tool-call');
      return {
        parts,
        finish: finishOf(chosen?.finishReason, promptFeedback?.blockReason, called),
        usage: usageMetadata,
        model: modelVersion,
      };
    },
    end: () => [],
  };
}

function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0);
}

function finishOf(
  said: string | undefined,
  blockReason: string | undefined,
  called: boolean,
): Finish | undefined {
  if (blockReason !== undefined) return { reason: 'blocked', detail: blockReason };
  if (said === undefined || said === 'FINISH_REASON_UNSPECIFIED') return undefined;
  const reason = json.lookUp(FINISH_REASONS, said);
  const plain = reason === undefined || reason === 'stop';
  return { reason: plain && called ? 'tool-calls' : (reason ?? 'other'), detail: said };
}

function partsOf({ text: words, thought, inlineData, functionCall, thoughtSignature }: z.infer<typeof part>) {
  const read: AnswerPart[] = [];
  if (words !== undefined) read.push({ type: thought === true ? 'thought' : 'text', text: words });
  if (inlineData !== undefined) {
    const { mimeType = 'application/octet-stream', data } = inlineData;
    read.push({ type: 'image', mimeType, data });
  }
  if (functionCall !== undefined) {
    const { name, args = {}, id } = functionCall;
    read.push({ type: 'tool-call', name, arguments: args, id, signature: thoughtSignature });
  }
  return read;
}
