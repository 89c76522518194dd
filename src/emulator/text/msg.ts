import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { explainUnknownModel, findModel, type Model } from '../models.ts';
import { Refusal } from '../refusal.ts';
import { answer } from './answer.ts';
import { refuseMembers } from './chat.ts';
import { countTextTokens, countTokens, limitTokens, type Turn } from './conversation.ts';

const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
const block = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string().min(1) }),
    z.object({
      type: z.literal('image'),
      source: z.object({
        type: z.literal('base64', { error: 'only base64 sources are taken' }),
        media_type: z.enum(imageTypes),
        data: z.base64({ error: 'must be base64' }).min(1),
      }),
    }),
  ],
  { error: 'messages-style blocks are of type text or image with a base64 source' },
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
  max_tokens: z.int({ error: 'max_tokens is required, an integer of at least 1' }).positive(),
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
    refuseMembers(request.body, foreignMembers);
    const body = readBody(messagesBody, request);
    const model = requireModel(body.model);
    if (body.stream === true)
      throw new Refusal('invalid', 'stream: msg routes answer whole; chat and gen routes stream');
    if (body.max_tokens > model.mostTokens) {
      throw new Refusal(
        'invalid',
        `max_tokens: ${body.max_tokens}; ${model.id} writes at most ${model.mostTokens}`,
      );
    }
    const turns = readTurns(body);
    await context.pause(0.8);
    const { text, cut } = limitTokens(answer(turns), body.max_tokens);
    return {
      id: `msg_${context.randomId().replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: model.id,
      content: [{ type: 'text', text }],
      stop_reason: cut ? 'max_tokens' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: countTokens(turns), output_tokens: countTextTokens(text) },
    };
  });

  server.post('/msg/v1/messages/count_tokens', async (request) => {
    refuseMembers(request.body, foreignMembers);
    const body = readBody(countBody, request);
    requireModel(body.model);
    return { input_tokens: countTokens(readTurns(body)) };
  });
}

function requireModel(id: string): Model {
  const model = findModel(id, 'msg');
  if (model === undefined) throw new Refusal('not found', explainUnknownModel(id, 'msg'));
  return model;
}

/** The turns of a payload; they must alternate, beginning with the user (contract, messages-style request). */
function readTurns(body: Payload): Turn[] {
  body.messages.forEach(({ role }, index) => {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) {
      throw new Refusal(
        'invalid',
        `messages.${index}.role: user and assistant turns must alternate, the user's first`,
      );
    }
  });
  const system =
    typeof body.system === 'string' ? body.system : body.system?.map(({ text }) => text).join('\n');
  const turns = body.messages.map(({ role, content }): Turn => {
    if (typeof content === 'string') return { role, text: content, pictures: [] };
    return {
      role,
      text: content.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n'),
      pictures: content.flatMap((one) =>
        one.type === 'image'
          ? [
              {
                kind: 'bytes' as const,
                claimedType: one.source.media_type,
                bytes: Buffer.from(one.source.data, 'base64'),
              },
            ]
          : [],
      ),
    };
  });
  return system === undefined ? turns : [{ role: 'system', text: system, pictures: [] }, ...turns];
}
