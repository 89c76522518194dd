import { type AnswerPart, type Finish, usageOf } from '../answers.ts';
import * as json from '../transport/json.ts';
import type { Reply } from '../transport/request.ts';
import type { AnswerPiece, AnswerReader } from '../transport/stream.ts';

/** https://platform.claude.com/docs/en/api/messages, `stop_reason`. */
const STOP_REASONS: Readonly<Record<string, Finish['reason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'refused',
};

/**
 * Reads what `POST /msg/v1/messages` returns: contract, "Messages response fields". Further blocks and words of
 * `stop_reason` are the public API's: https://platform.claude.com/docs/en/api/messages.
 */
export function createMsgReader(): AnswerReader {
  return {
    read(value): AnswerPiece {
      const body = json.unwrapped(value, ['content'], ['data', 'message', 'result']);
      const blocks = typeof body.content === 'string' ? [{ text: body.content }] : json.asList(body.content);
      const reason = json.asText(body.stop_reason, 100);
      const counts = json.objectOf(body.usage);
      return {
        parts: blocks.flatMap(partsOf),
        finish:
          reason === undefined
            ? undefined
            : { reason: json.lookUp(STOP_REASONS, reason) ?? 'other', detail: reason },
        usage: usageOf(counts.input_tokens, counts.output_tokens),
      };
    },
  };
}

/** Blocks of unknown types are left out. */
function partsOf(block: unknown): AnswerPart[] {
  const { type = 'text', text, thinking } = json.objectOf(block);
  if (type === 'text' && typeof text === 'string' && text !== '') return [{ type, text }];
  if (type === 'thinking' && typeof thinking === 'string') return [{ type: 'thought', text: thinking }];
  return [];
}

/**
 * What `POST /msg/v1/messages/count_tokens` returns. Not shown in the contract; the public API's is `{input_tokens}`:
 * https://platform.claude.com/docs/en/api/messages-count-tokens.
 */
export function readTokenCount(reply: Reply): number {
  const root = json.fieldsOf(reply.value);
  const inner = json.fieldsOf(root('data'));
  const count = json.asCount(root('inputTokens') ?? inner('inputTokens') ?? reply.value);
  if (count === undefined) throw reply.unusable('no count of tokens');
  return count;
}
