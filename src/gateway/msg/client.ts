import type { Answer, CallOptions } from '../answers.ts';
import { checkedTurns, type Question, type TurnPart, withSystemFirst } from '../questions.ts';
import type { Requester } from '../transport/request.ts';
import { readAnswer } from '../transport/stream.ts';
import { createMsgReader, readTokenCount } from './answers.ts';

/** `max_tokens` is required; its ceiling is the model's own, and every model of this dialect allows this many. */
const DEFAULT_MAX_TOKENS = 4_096;

/** Contract, "Messages style": JSON only, never streamed. Every method throws GatewayError only. */
export function createMsg(requester: Requester) {
  return {
    async complete(question: Question, { signal }: CallOptions = {}): Promise<Answer> {
      const { maxTokens: max_tokens = DEFAULT_MAX_TOKENS } = question;
      const body = { ...countTokensRequest('msg/messages', question), max_tokens };
      return readAnswer(await requester.call('msg/messages', { body, signal }), createMsgReader());
    },
    /** Input tokens of the question. */
    async countTokens(question: Question, { signal }: CallOptions = {}): Promise<number> {
      const body = countTokensRequest('msg/count-tokens', question);
      return readTokenCount(await requester.call('msg/count-tokens', { body, signal }));
    },
  };
}

/**
 * `POST /msg/v1/messages/count_tokens`: contract, "Messages style"; it has the model and the messages only, which
 * `POST /msg/v1/messages` has too. Throws GatewayError `invalid` for what the dialect cannot say.
 */
function countTokensRequest(route: 'msg/messages' | 'msg/count-tokens', question: Question): object {
  const turns = withSystemFirst(checkedTurns(route, question), question.system);
  return {
    model: question.model.trim(),
    messages: turns.map(({ role, parts }) => ({ role, content: contentOf(role, parts) })),
  };
}

function contentOf(role: 'user' | 'assistant', parts: readonly TurnPart[]): string | object[] {
  const [only, ...others] = parts;
  if (only?.type === 'text' && others.length === 0) return only.text;
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type !== 'image') return [];
    // Pictures are a user's blocks; of the assistant's own only a note is sent.
    if (role === 'assistant') return { type: 'text', text: '(a picture)' };
    return { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.data } };
  });
}
