import { z } from 'zod';
import { type AnswerPart, type Finish, usage } from '../answers.ts';
import type { AnswerPiece } from '../transport/collector.ts';
import * as json from '../transport/json.ts';
import type { PieceReader } from '../transport/stream.ts';

const MOST_PARTS = 10_000;

/** Texts are not trimmed: fragments begin and end with spaces. */
const contentPart = z.union([z.string(), json.members({ text: z.string() }).transform((part) => part.text)]);
const content = z.union([z.string().transform((whole) => [whole]), json.listOf(contentPart, MOST_PARTS)]);

const toolCall = json.members({
  index: json.maybe(json.number),
  id: json.maybe(json.text(512)),
  function: json.maybe(json.members({ name: json.maybe(json.text(200)), arguments: json.maybe(z.string()) })),
});
type ToolCall = z.infer<typeof toolCall>;

const message = json.members(
  {
    content: json.maybe(content),
    refusal: json.maybe(z.string()),
    reasoning: json.maybe(z.string()),
    toolCalls: json.listOf(toolCall, 100),
  },
  { reasoning: ['reasoningContent', 'reasoning'] },
);

const choice = json.members(
  {
    index: json.maybe(json.number),
    message: json.maybe(message),
    text: json.maybe(content),
    finishReason: json.maybe(json.text(100)),
  },
  { message: ['delta', 'message'] },
);

const chatUsage = z.preprocess((value) => {
  const tokens = json.fieldsOf(value);
  return {
    inputTokens: tokens('promptTokens', 'inputTokens'),
    outputTokens: tokens('completionTokens', 'outputTokens'),
  };
}, usage);

/**
 * What `POST /chat/v1/chat/completions` returns: contract, "Chat style". A chunk of the stream has its text in
 * `choices[0].delta.content`; the whole body is not shown there and is the public API's, with `message` for `delta`
 * (openai-node src/resources/chat/completions).
 */
const chatCompletion = z.preprocess(
  (body) => json.unwrapped(body, ['choices'], ['data', 'response', 'result']),
  json.members({
    choices: json.listOf(choice, 1_000),
    usage: json.maybe(chatUsage),
    model: json.maybe(json.text(512)),
  }),
);
const readable = chatCompletion.catch({ choices: [] });

const FINISH_REASONS: Readonly<Record<string, Finish['reason']>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'blocked',
};

interface ToolCallSoFar {
  id?: string;
  name: string;
  arguments: string[];
}

/** Of a chunk that brings text and nothing else: https://platform.openai.com/docs/api-reference/chat-streaming. */
const PLAIN_CHUNK = new Set([
  ...['id', 'object', 'created', 'model', 'usage', 'provider'],
  ...['system_fingerprint', 'service_tier', 'obfuscation'],
]);
const CHOICES = new Set(['choices']);
const PLAIN_CHOICE = new Set(['index', 'logprobs', 'finish_reason']);
const DELTA = new Set(['delta']);
const PLAIN_DELTA = new Set(['role', 'content', 'refusal']);

function plainTextOf(chunk: json.JsonObject): string | undefined {
  const [choice, ...others] = json.asList(chunk.choices);
  if (others.length > 0 || !json.isPlain(choice, PLAIN_CHOICE, DELTA)) return undefined;
  const { index = 0, delta, finish_reason } = choice;
  if (index !== 0 || (finish_reason ?? null) !== null || !json.isPlain(delta, PLAIN_DELTA)) return undefined;
  const { content: said, refusal } = delta;
  return typeof said === 'string' && (refusal ?? null) === null ? said : undefined;
}

/** Reads chunks and whole answers alike. */
export function createChatReader(): PieceReader {
  const toolCalls = new Map<number, ToolCallSoFar>();
  let refusing = false;
  let isModelKnown = false;

  const collect = ({ index, id, function: named }: ToolCall, position: number) => {
    const known = toolCalls.get(index ?? position) ?? { name: '', arguments: [] };
    known.name ||= named?.name ?? '';
    if (id !== undefined) known.id ??= id;
    if (named?.arguments !== undefined) known.arguments.push(named.arguments);
    toolCalls.set(index ?? position, known);
  };
  const partsOf = ({
    refusal,
    reasoning,
    content: said = [],
    ...rest
  }: z.infer<typeof message>): AnswerPart[] => {
    if (refusal !== undefined) refusing = true;
    for (const [position, call] of rest.toolCalls.entries()) collect(call, position);
    return [
      ...(reasoning === undefined ? [] : [{ type: 'thought' as const, text: reasoning }]),
      ...said.map(asTextPart),
      ...(refusal === undefined ? [] : [asTextPart(refusal)]),
    ];
  };

  return {
    isEnd: (data) => data.trimStart().startsWith('[DONE]'),
    readPlain(value) {
      if (!json.isPlain(value, PLAIN_CHUNK, CHOICES)) return undefined;
      if (value.object === 'error' || (value.usage ?? null) !== null) return undefined;
      if (!isModelKnown && (value.model ?? null) !== null) return undefined;
      const said = plainTextOf(value);
      return said === undefined || said === '' ? undefined : { parts: [asTextPart(said)] };
    },
    read(value): AnswerPiece {
      const { choices, ...around } = readable.parse(value);
      isModelKnown ||= around.model !== undefined;
      // Several choices are several answers; their texts must not be mixed.
      const chosen =
        choices.find(({ index }) => index === 0) ?? choices.find(({ index }) => index === undefined);
      const parts = chosen?.message === undefined ? chosen?.text?.map(asTextPart) : partsOf(chosen.message);
      return { parts: parts ?? [], finish: finishOf(chosen?.finishReason, refusing), ...around };
    },
    end: () =>
      [...toolCalls.values()].flatMap(({ id, name, arguments: fragments }) =>
        name === '' ? [] : [{ type: 'tool-call' as const, name, arguments: argumentsOf(fragments), id }],
      ),
  };
}

function finishOf(said: string | undefined, refusing: boolean): Finish | undefined {
  if (said === undefined) return undefined;
  const known = json.lookUp(FINISH_REASONS, said);
  return { reason: refusing && known === 'stop' ? 'refused' : (known ?? 'other'), detail: said };
}

function argumentsOf(fragments: readonly string[]): Record<string, unknown> {
  const parsed = json.parseJson(fragments.join(''));
  return json.isObject(parsed) ? json.anyMembers.parse(parsed) : {};
}

function asTextPart(words: string) {
  return { type: 'text' as const, text: words };
}
