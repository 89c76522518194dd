import { own } from '../core/util/own.ts';
import { createAdaptations } from './adaptation.ts';
import { type Answer, type AnswerPart, type CallOptions, type Finish, usageOf } from './answers.ts';
import { checkedTurns, type Question, type TurnPart } from './questions.ts';
import * as json from './transport/json.ts';
import type { Requester } from './transport/request.ts';
import { type AnswerPiece, type AnswerReader, readAnswer } from './transport/stream.ts';

/** `max_tokens` is required. Every model of this dialect allows at least this many. */
const DEFAULT_MAX_TOKENS = 4_096;

/** Contract, "Messages style": JSON only, never streamed. Every method throws GatewayError only. */
export function createMsg(requester: Requester) {
  const adaptations = createAdaptations();
  return {
    complete: (question: Question, { signal }: CallOptions = {}): Promise<Answer> =>
      adaptations.call(
        { ...question, maxTokens: question.maxTokens ?? DEFAULT_MAX_TOKENS },
        async (prepared) =>
          readAnswer(
            await requester.call('msg/messages', { body: msgRequest(prepared), signal }),
            createMsgReader(),
          ),
      ),
  };
}

/** Throws GatewayError `invalid`. */
function msgRequest(question: Question): object {
  const { model, maxTokens: max_tokens = DEFAULT_MAX_TOKENS } = question;
  const turns = checkedTurns('msg/messages', question);
  return {
    model: model.trim(),
    system: question.system?.trim() ? question.system : undefined,
    messages: turns.map(({ role, parts }) => ({ role, content: contentOf(role, parts) })),
    max_tokens,
  };
}

function contentOf(role: 'user' | 'assistant', parts: readonly TurnPart[]): string | object[] {
  const [first, ...rest] = parts;
  if (first?.type === 'text' && rest.length === 0) return first.text;
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type !== 'image') return [];
    // Only user turns may contain image blocks. The assistant's images become a note.
    if (role === 'assistant') return { type: 'text', text: '(an image)' };
    return { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.data } };
  });
}

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
 * Reads the response of `POST /msg/v1/messages`: contract, "Messages response fields". Other blocks and values of
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
          reason === undefined ? undefined : { reason: own(STOP_REASONS, reason) ?? 'other', detail: reason },
        usage: usageOf(counts.input_tokens, counts.output_tokens),
      };
    },
  };
}

/** Ignores blocks of unknown types. */
function partsOf(block: unknown): AnswerPart[] {
  const { type = 'text', text, thinking } = json.objectOf(block);
  if (type === 'text' && typeof text === 'string' && text !== '') return [{ type, text }];
  if (type === 'thinking' && typeof thinking === 'string') return [{ type: 'thought', text: thinking }];
  return [];
}
