import { z } from 'zod';
import type { Part, Question } from './answers.ts';
import { checkedTurns, refuseTools } from './questions.ts';
import { checked } from './request.ts';

const contentPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
]);

/**
 * `POST /chat/v1/chat/completions`: contract, "Chat-style request (`chat`)". `max_tokens`, `temperature` and
 * `stream_options` are standard fields, which "may be sent"; the first two are sent only when asked for, and without
 * the third no usage comes with a stream.
 */
const chatRequest = z.object({
  model: z.string(),
  stream: z.boolean(),
  messages: z.array(
    z.object({
      role: z.enum(['system', 'user', 'assistant']),
      content: z.union([z.string(), z.array(contentPart)]),
    }),
  ),
  max_tokens: z.int().positive().optional(),
  temperature: z.number().optional(),
  stream_options: z.object({ include_usage: z.literal(true) }).optional(),
});
type ChatRequest = z.infer<typeof chatRequest>;

const ROUTE = 'chat/completions';

/** A question as a chat-style request. Throws GatewayError `invalid` for what the dialect cannot say. */
export function chatRequestOf(question: Question, stream: boolean): ChatRequest {
  refuseTools(ROUTE, question);
  const turns = checkedTurns(ROUTE, question).map(({ role, parts }) => ({
    role,
    content: contentOf(role, parts),
  }));
  const system = question.system?.trim() ? [{ role: 'system' as const, content: question.system }] : [];
  return checked<ChatRequest>(ROUTE, chatRequest, {
    model: question.model.trim(),
    stream,
    messages: [...system, ...turns],
    max_tokens: question.maxTokens,
    temperature: question.temperature,
    stream_options: stream ? { include_usage: true } : undefined,
  });
}

/** Plain text wherever it can be; a list of parts only where a user shows a picture. */
function contentOf(
  role: 'user' | 'assistant',
  parts: readonly Part[],
): string | z.infer<typeof contentPart>[] {
  const pictures = role === 'user' && parts.some(({ type }) => type === 'image');
  if (!pictures)
    return parts.flatMap((part) => (part.type === 'text' ? part.text : '(a picture)')).join('\n\n');
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text' as const, text: part.text };
    if (part.type !== 'image') return [];
    return { type: 'image_url' as const, image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
  });
}
