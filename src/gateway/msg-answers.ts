import { z } from 'zod';
import type { AnswerPiece } from './answer-collector.ts';
import { type AnswerPart, type Finish, usage } from './answers.ts';
import { fieldsOf, lookUp } from './json.ts';
import type { Reply } from './request.ts';
import { anyMembers, count, listOf, maybe, members, text, unwrapped, usable } from './responses.ts';
import type { PieceReader } from './stream.ts';

const block = members({
  type: maybe(text(100)),
  text: maybe(z.string()),
  thinking: maybe(z.string()),
  name: maybe(text(200)),
  id: maybe(text(512)),
  input: maybe(anyMembers),
});

/**
 * What `POST /msg/v1/messages` returns: contract, "Messages response fields". Further blocks and words of
 * `stop_reason` are the public API's: https://platform.claude.com/docs/en/api/messages.
 */
const messagesResponse = z.preprocess(
  (body) => unwrapped(body, ['content'], ['data', 'message', 'result']),
  members({
    content: z.preprocess(
      (said) => (typeof said === 'string' ? [{ text: said }] : said),
      listOf(block, 10_000),
    ),
    stopReason: maybe(text(100)),
    usage: maybe(usage),
    model: maybe(text(512)),
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
    read(value): AnswerPiece {
      const { content, stopReason, ...around } = readable.parse(value);
      return { parts: content.flatMap(partsOf), finish: finishOf(stopReason), ...around };
    },
    end: () => [],
  };
}

function finishOf(said: string | undefined): Finish | undefined {
  if (said === undefined) return undefined;
  const known = lookUp(STOP_REASONS, said);
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
  const root = fieldsOf(reply.value);
  const inner = fieldsOf(root('data', 'result', 'usage'));
  return usable(reply, count, root(...NAMES) ?? inner(...NAMES) ?? reply.value);
}
