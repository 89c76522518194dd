import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { requireModel } from '../models.ts';
import { writeAnswer } from './answers.ts';
import {
  type ConversationMessage,
  messageOf,
  type Picture,
  pictureOf,
  piecesOf,
  sendEvents,
} from './conversation.ts';

const part = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string().min(1) }) }),
  ],
  { error: 'chat-style parts must be of type text or image_url' },
);
/** Other standard members are accepted and ignored (contract, chat-style request). */
const chatBody = z.looseObject({
  model: z.string().min(1),
  stream: z.boolean().optional(),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
        content: z.union([z.string(), z.array(part)]),
      }),
    )
    .min(1),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
});
const foreignMembers = {
  contents: 'gen-style contents are not valid on chat routes; send messages',
  input: 'media-style input is not valid on chat routes; send messages',
  system: 'messages-style system is not valid on chat routes; send a message with the role system',
  generationConfig: 'gen-style generationConfig is not valid on chat routes',
} as const;

/** `POST /chat/v1/chat/completions`, whole or streamed. */
export function registerChatRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/chat/v1/chat/completions', async (request, reply) => {
    const body = readBody(chatBody, request, foreignMembers);
    const model = requireModel(body.model, 'chat');
    const limit = Math.min(body.max_completion_tokens ?? body.max_tokens ?? model.maxTokens, model.maxTokens);
    const { text, cut, read, written } = await writeAnswer(body.messages.map(readMessage), limit);
    const finish = cut ? 'length' : 'stop';
    const usage = { prompt_tokens: read, completion_tokens: written, total_tokens: read + written };
    const id = `chatcmpl-${context.randomId().replaceAll('-', '')}`;
    const object = body.stream === true ? 'chat.completion.chunk' : 'chat.completion';
    const head = { id, object, created: Math.floor(context.now() / 1000), model: model.id };
    const choice = (part: object, finish_reason: string | null): object => ({
      ...head,
      choices: [{ index: 0, ...part, logprobs: null, finish_reason }],
    });
    if (body.stream !== true) {
      await context.pause(0.8);
      return { ...choice({ message: { role: 'assistant', content: text, refusal: null } }, finish), usage };
    }
    const chunk = (delta: object, finishReason: string | null = null): string =>
      JSON.stringify(choice({ delta }, finishReason));
    const usageChunk = JSON.stringify({ ...head, choices: [], usage });
    const wantsUsage = body.stream_options?.include_usage !== false;
    const message = 'injected fault: the model stopped';
    return sendEvents(context, request, reply, {
      opening: [chunk({ role: 'assistant', content: '' })],
      pieces: piecesOf(text),
      piece: (content) => chunk({ content }),
      closing: [chunk({}, finish), ...(wantsUsage ? [usageChunk] : []), '[DONE]'],
      error: JSON.stringify({ error: { message, type: 'server_error', param: null, code: null } }),
    });
  });
}

function readMessage({ role, content }: z.output<typeof chatBody>['messages'][number]): ConversationMessage {
  const speaker = role === 'assistant' || role === 'user' ? role : 'system';
  if (typeof content === 'string') return messageOf(speaker, content);
  const parts = content.map((part) => (part.type === 'text' ? part.text : readImageUrl(part.image_url.url)));
  return messageOf(speaker, parts);
}

function readImageUrl(url: string): Picture {
  const [, type, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
  return type === undefined || data === undefined ? { kind: 'address', url } : pictureOf(type, data);
}
