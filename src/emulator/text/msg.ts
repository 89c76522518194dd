import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { requireModel } from '../models.ts';
import { RefusedRequest } from '../requests.ts';
import { writeAnswer } from './answers.ts';
import { type ConversationMessage, countTokens, messageOf, pictureOf } from './conversation.ts';

const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
const block = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string().min(1) }),
    z.object({
      type: z.literal('image'),
      source: z.object({
        type: z.literal('base64', { error: 'only base64 sources are supported' }),
        media_type: z.enum(imageTypes),
        data: z.base64({ error: 'must be base64' }).min(1),
      }),
    }),
  ],
  { error: 'messages-style blocks must be of type text, or image with a base64 source' },
);
const payload = {
  model: z.string().min(1),
  messages: z
    .array(
      z.object({
        role: z.enum(['user', 'assistant'], { error: 'must be user or assistant' }),
        content: z.union([z.string().min(1), z.array(block).min(1)]),
      }),
    )
    .min(1),
  system: z.union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))]).optional(),
} as const;
const messagesBody = z.looseObject({
  ...payload,
  max_tokens: z.int({ error: 'max_tokens is required and must be an integer of at least 1' }).positive(),
});
const countBody = z.looseObject(payload);
type Payload = z.output<typeof countBody>;

const foreignMembers = {
  contents: 'gen-style contents are not valid on msg routes; send messages',
  input: 'media-style input is not valid on msg routes; send messages',
} as const;

/** `POST /msg/v1/messages` and its token counting. */
export function registerMsgRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/msg/v1/messages', async (request) => {
    const body = readBody(messagesBody, request, foreignMembers);
    const model = requireModel(body.model, 'msg');
    if (body.stream === true)
      throw new RefusedRequest('invalid', 'stream: msg routes cannot stream; use a chat or gen route');
    if (body.max_tokens > model.maxTokens) {
      const message = `max_tokens: ${body.max_tokens}, the limit of ${model.id} is ${model.maxTokens}`;
      throw new RefusedRequest('invalid', message);
    }
    const messages = readMessages(body);
    await context.pause(0.8);
    const { text, cut, read, written } = await writeAnswer(messages, body.max_tokens);
    return {
      id: `msg_${context.randomId().replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: model.id,
      content: [{ type: 'text', text }],
      stop_reason: cut ? 'max_tokens' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: read, output_tokens: written },
    };
  });

  server.post('/msg/v1/messages/count_tokens', async (request) => {
    const body = readBody(countBody, request, foreignMembers);
    requireModel(body.model, 'msg');
    return { input_tokens: countTokens(readMessages(body)) };
  });
}

/** Reads the conversation of a payload. Roles alternate, the user first (contract, messages-style request). */
function readMessages({ messages, system }: Payload): readonly ConversationMessage[] {
  const wrong = messages.findIndex(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'));
  if (wrong !== -1) {
    const message = `messages.${wrong}.role: user and assistant must alternate, the user first`;
    throw new RefusedRequest('invalid', message);
  }
  const read = messages.map(({ role, content }) => {
    if (typeof content === 'string') return messageOf(role, content);
    const parts = content.map((one) =>
      one.type === 'text' ? one.text : pictureOf(one.source.media_type, one.source.data),
    );
    return messageOf(role, parts);
  });
  if (system === undefined) return read;
  return [messageOf('system', typeof system === 'string' ? system : system.map(({ text }) => text)), ...read];
}
