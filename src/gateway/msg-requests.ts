import { z } from 'zod';
import type { Part, Question } from './answers.ts';
import { checkedTurns, refuseTools, withSystemFirst } from './questions.ts';
import { checked } from './request.ts';

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    source: z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  }),
]);
const content = z.union([z.string(), z.array(block)]);
type Content = z.infer<typeof content>;

/** `POST /msg/v1/messages/count_tokens`: contract, "Messages style"; it has the model and the messages only. */
const countTokensRequest = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content })),
});
type CountTokensRequest = z.infer<typeof countTokensRequest>;

/**
 * `POST /msg/v1/messages`: contract, "Messages-style request (`msg`)". `temperature` is the dialect's own name, sent
 * only when asked for.
 */
const messagesRequest = countTokensRequest.extend({
  max_tokens: z.int().positive(),
  temperature: z.number().optional(),
});
type MessagesRequest = z.infer<typeof messagesRequest>;

/** `max_tokens` is required; its ceiling is the model's own, and every model of this dialect allows this many. */
const DEFAULT_MAX_TOKENS = 4_096;

/** A question as a messages-style request. Throws GatewayError `invalid` for what the dialect cannot say. */
export function messagesRequestOf(question: Question): MessagesRequest {
  return checked<MessagesRequest>('msg/messages', messagesRequest, {
    ...countable('msg/messages', question),
    max_tokens: question.maxTokens ?? DEFAULT_MAX_TOKENS,
    temperature: question.temperature,
  });
}

/** As `messagesRequestOf`, to be counted and not answered. */
export function countTokensRequestOf(question: Question): CountTokensRequest {
  return checked<CountTokensRequest>(
    'msg/count-tokens',
    countTokensRequest,
    countable('msg/count-tokens', question),
  );
}

function countable(route: 'msg/messages' | 'msg/count-tokens', question: Question): CountTokensRequest {
  refuseTools(route, question);
  const turns = withSystemFirst(checkedTurns(route, question), question.system);
  return {
    model: question.model.trim(),
    messages: turns.map(({ role, parts }) => ({ role, content: contentOf(role, parts) })),
  };
}

function contentOf(role: 'user' | 'assistant', parts: readonly Part[]): Content {
  const [only, ...others] = parts;
  if (only?.type === 'text' && others.length === 0) return only.text;
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text' as const, text: part.text };
    if (part.type !== 'image') return [];
    // Pictures are a user's blocks; the assistant's own are only told of.
    if (role === 'assistant') return { type: 'text' as const, text: '(a picture)' };
    const source = { type: 'base64' as const, media_type: part.mimeType, data: part.data };
    return { type: 'image' as const, source };
  });
}
