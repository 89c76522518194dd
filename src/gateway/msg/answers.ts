import { z } from 'zod';
import { type AnswerPart, type Finish, usage } from '../answers.ts';
import type { AnswerPiece } from '../transport/collector.ts';
import * as json from '../transport/json.ts';
import type { Reply } from '../transport/request.ts';
import type { PieceReader } from '../transport/stream.ts';

const block = json.members({
  type: json.maybe(json.text(100)),
  text: json.maybe(z.string()),
  thinking: json.maybe(z.string()),
  name: json.maybe(json.text(200)),
  id: json.maybe(json.text(512)),
  input: json.maybe(json.anyMembers),
});

/**
 * What `POST /msg/v1/messages` returns: contract, "Messages response fields". Further blocks and words of
 * `stop_reason` are the public API's: https://platform.claude.com/docs/en/api/messages.
 */
const messagesResponse = z.preprocess(
  (body) => json.unwrapped(body, ['content'], ['data', 'message', 'result']),
  json.members({
    content: z.preprocess(
      (said) => (typeof said === 'string' ? [{ text: said }] : said),
      json.listOf(block, 10_000),
    ),
    stopReason: json.maybe(json.text(100)),
    usage: json.maybe(usage),
    model: json.maybe(json.text(512)),
  }),
);
const readable = messagesResponse.catch({ content: [] });

/** `stop_reason`. */
const STOP_REASONS: Readonly<Record<string, Finish['reason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'refused',
};

export function createMsgReader(): PieceReader {
  return {
    isEnd: () => false,
    // Never streamed.
    readPlain: () => undefined,
    read(value): AnswerPiece {
      const { content, stopReason, ...around } = readable.parse(value);
      return { parts: content.flatMap(partsOf), finish: finishOf(stopReason), ...around };
    },
    end: () => [],
  };
}

function finishOf(said: string | undefined): Finish | undefined {
  if (said === undefined) return undefined;
  const known = json.lookUp(STOP_REASONS, said);
  return { reason: known ?? 'other', detail: said };
}

/** Blocks of unknown types are left out. */
function partsOf({
  type = 'text',
  text: words,
  thinking,
  name,
  id,
  input = {},
}: z.infer<typeof block>): AnswerPart[] {
  switch (type) {
    case 'text':
      return words === undefined ? [] : [{ type: 'text', text: words }];
    case 'thinking':
      return thinking === undefined ? [] : [{ type: 'thought', text: thinking }];
    case 'tool_use':
      return name === undefined ? [] : [{ type: 'tool-call', name, arguments: input, id }];
    default:
      return [];
  }
}

const NAMES = ['inputTokens', 'tokenCount', 'totalTokens', 'count', 'tokens'];

/**
 * What `POST /msg/v1/messages/count_tokens` returns. Not shown in the contract; the public API's is `{input_tokens}`:
 * https://platform.claude.com/docs/en/api/messages-count-tokens.
 */
export function readTokenCount(reply: Reply): number {
  const root = json.fieldsOf(reply.value);
  const inner = json.fieldsOf(root('data', 'result', 'usage'));
  return json.usable(reply, json.count, root(...NAMES) ?? inner(...NAMES) ?? reply.value);
}
