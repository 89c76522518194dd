import { z } from 'zod';
import type { AnswerPiece } from './answer-collector.ts';
import { type AnswerPart, type Finish, usage } from './answers.ts';
import { fieldsOf, isObject, lookUp, parseJson } from './json.ts';
import { anyMembers, listOf, maybe, members, number, text, unwrapped } from './responses.ts';
import type { PieceReader } from './stream.ts';

const MOST_PARTS = 10_000;

/** Texts are not trimmed: fragments begin and end with spaces. */
const contentPart = z.union([z.string(), members({ text: z.string() }).transform((part) => part.text)]);
const content = z.union([z.string().transform((whole) => [whole]), listOf(contentPart, MOST_PARTS)]);

const toolCall = members({
  index: maybe(number),
  id: maybe(text(512)),
  function: maybe(members({ name: maybe(text(200)), arguments: maybe(z.string()) })),
});
type ToolCall = z.infer<typeof toolCall>;

const message = members(
  {
    content: maybe(content),
    refusal: maybe(z.string()),
    reasoning: maybe(z.string()),
    toolCalls: listOf(toolCall, 100),
  },
  { reasoning: ['reasoningContent', 'reasoning'] },
);

const choice = members(
  {
    index: maybe(number),
    message: maybe(message),
    text: maybe(content),
    finishReason: maybe(text(100)),
  },
  { message: ['delta', 'message'] },
);

const chatUsage = z.preprocess((value) => {
  const tokens = fieldsOf(value);
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
  (body) => unwrapped(body, ['choices'], ['data', 'response', 'result']),
  members({
    choices: listOf(choice, 1_000),
    usage: maybe(chatUsage),
    model: maybe(text(512)),
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

/** Reads chunks and whole answers alike. */
export function createChatReader(): PieceReader {
  const toolCalls = new Map<number, ToolCallSoFar>();
  let refusing = false;

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
    read(value): AnswerPiece {
      const { choices, ...around } = readable.parse(value);
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
  const known = lookUp(FINISH_REASONS, said);
  return { reason: refusing && known === 'stop' ? 'refused' : (known ?? 'other'), detail: said };
}

function argumentsOf(fragments: readonly string[]): Record<string, unknown> {
  const parsed = parseJson(fragments.join(''));
  return parsed.ok && isObject(parsed.value) ? anyMembers.parse(parsed.value) : {};
}

function asTextPart(words: string) {
  return { type: 'text' as const, text: words };
}
