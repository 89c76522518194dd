import { type AnswerPart, type Finish, usageOf } from '../answers.ts';
import * as json from '../transport/json.ts';
import type { AnswerPiece, AnswerReader } from '../transport/stream.ts';

const FINISH_REASONS: Readonly<Record<string, Finish['reason']>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'blocked',
};

/**
 * Reads what `POST /chat/v1/chat/completions` returns: contract, "Chat style". A chunk of the stream has its text in
 * `choices[0].delta.content`; the whole body is not shown there and is the public API's, with `message` for `delta`
 * (openai-node src/resources/chat/completions).
 */
export function createChatReader(): AnswerReader {
  let refusing = false;

  const partsOf = (message: json.JsonObject): AnswerPart[] => {
    const parts: AnswerPart[] = [];
    const { content, refusal, reasoning, reasoning_content } = message;
    const thought = reasoning_content ?? reasoning;
    if (isText(thought)) parts.push({ type: 'thought', text: thought });
    for (const text of textsOf(content)) parts.push({ type: 'text', text });
    if (isText(refusal)) {
      refusing = true;
      parts.push({ type: 'text', text: refusal });
    }
    return parts;
  };

  return {
    read(value): AnswerPiece {
      const { choices, usage } = json.unwrapped(value, ['choices'], ['data', 'response', 'result']);
      // Several choices are several answers; their texts must not be mixed.
      const { delta, message, finish_reason } = firstOf(json.asList(choices));
      const parts = partsOf(json.objectOf(delta ?? message));
      const counts = json.objectOf(usage);
      return {
        parts,
        finish: finishOf(json.asText(finish_reason, 100), refusing),
        usage: usageOf(counts.prompt_tokens, counts.completion_tokens),
      };
    },
  };
}

function firstOf(choices: readonly unknown[]): json.JsonObject {
  const at = (index: number | undefined) =>
    choices.find((choice) => (json.objectOf(choice).index ?? undefined) === index);
  return json.objectOf(at(0) ?? at(undefined));
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Texts are not trimmed: fragments begin and end with spaces. */
function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return json
    .asList(content)
    .map((part) => (typeof part === 'string' ? part : json.objectOf(part).text))
    .filter(isText);
}

function finishOf(said: string | undefined, refusing: boolean): Finish | undefined {
  if (said === undefined) return undefined;
  const known = json.lookUp(FINISH_REASONS, said);
  return { reason: refusing && known === 'stop' ? 'refused' : (known ?? 'other'), detail: said };
}
