import type { AnswerEvent, CallOptions } from '../answers.ts';
import { checkedTurns, type Question, type TurnPart } from '../questions.ts';
import type { Requester } from '../transport/request.ts';
import { streamAnswer } from '../transport/stream.ts';
import { createChatReader } from './answers.ts';

const ROUTE = 'chat/completions';

/** Contract, "Chat style". */
export function createChat(requester: Requester) {
  return {
    /** Text as it comes. Throws GatewayError, for a stream that does not finish too. */
    stream: (question: Question, { signal }: CallOptions = {}): AsyncIterable<AnswerEvent> =>
      streamAnswer(requester, ROUTE, () => ({ body: chatRequest(question), signal }), createChatReader),
  };
}

/**
 * `POST /chat/v1/chat/completions`: contract, "Chat-style request (`chat`)". `max_tokens` and `stream_options` are standard
 * fields, which "may be sent"; without the second no usage comes with a stream. Throws GatewayError `invalid` for what the dialect cannot say.
 */
function chatRequest(question: Question): object {
  const turns = checkedTurns(ROUTE, question).map(({ role, parts }) => ({
    role,
    content: contentOf(role, parts),
  }));
  const system = question.system?.trim() ? [{ role: 'system', content: question.system }] : [];
  return {
    model: question.model.trim(),
    stream: true,
    messages: [...system, ...turns],
    max_tokens: question.maxTokens,
    stream_options: { include_usage: true },
  };
}

/** Plain text wherever it can be; a list of parts only where a user shows a picture. */
function contentOf(role: 'user' | 'assistant', parts: readonly TurnPart[]): string | object[] {
  const pictures = role === 'user' && parts.some(({ type }) => type === 'image');
  if (!pictures)
    return parts.flatMap((part) => (part.type === 'text' ? part.text : '(a picture)')).join('\n\n');
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type !== 'image') return [];
    return { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
  });
}
