import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { explainUnknownModel, findModel } from '../models.ts';
import { Refusal } from '../refusal.ts';
import { answer } from './answer.ts';
import {
  countTextTokens,
  countTokens,
  limitTokens,
  type Picture,
  piecesOf,
  type Turn,
} from './conversation.ts';
import { streamAnswer } from './stream.ts';

const part = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string().min(1) }) }),
  ],
  { error: 'chat-style parts are of type text or image_url (other dialects have other blocks)' },
);
/** Other standard members may be sent and need not be honoured (contract, chat-style request). */
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
    refuseMembers(request.body, foreignMembers);
    const body = readBody(chatBody, request);
    const model = findModel(body.model, 'chat');
    if (model === undefined) throw new Refusal('not found', explainUnknownModel(body.model, 'chat'));
    const turns = body.messages.map(readTurn);
    const most = body.max_completion_tokens ?? body.max_tokens ?? model.mostTokens;
    const { text, cut } = limitTokens(answer(turns), Math.min(most, model.mostTokens));
    const finish = cut ? 'length' : 'stop';
    const prompted = countTokens(turns);
    const completed = countTextTokens(text);
    const usage = {
      prompt_tokens: prompted,
      completion_tokens: completed,
      total_tokens: prompted + completed,
    };
    const id = `chatcmpl-${context.randomId().replaceAll('-', '')}`;
    const created = Math.floor(context.now() / 1000);

    if (body.stream !== true) {
      await context.pause(0.8);
      return {
        id,
        object: 'chat.completion',
        created,
        model: model.id,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: text, refusal: null },
            logprobs: null,
            finish_reason: finish,
          },
        ],
        usage,
      };
    }
    const chunk = (delta: object, finishReason: string | null = null): string =>
      JSON.stringify({
        id,
        object: 'chat.completion.chunk',
        created,
        model: model.id,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      });
    const usageChunk = JSON.stringify({
      id,
      object: 'chat.completion.chunk',
      created,
      model: model.id,
      choices: [],
      usage,
    });
    const wantsUsage = body.stream_options?.include_usage !== false;
    return streamAnswer(context, request, reply, {
      opening: [chunk({ role: 'assistant', content: '' })],
      pieces: piecesOf(text),
      piece: (content) => chunk({ content }),
      closing: [chunk({}, finish), ...(wantsUsage ? [usageChunk] : []), '[DONE]'],
      error: JSON.stringify({
        error: {
          message: 'injected fault: the model stopped',
          type: 'server_error',
          param: null,
          code: null,
        },
      }),
    });
  });
}

/** Refuses members that belong to another route family, with the sentence given for each (contract, rule 2). */
export function refuseMembers(body: unknown, sentences: Readonly<Record<string, string>>): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [member, sentence] of Object.entries(sentences)) {
    if (member in body) throw new Refusal('invalid', `${member}: ${sentence}`);
  }
}

function readTurn(message: z.output<typeof chatBody>['messages'][number]): Turn {
  const role = message.role === 'assistant' ? 'assistant' : message.role === 'user' ? 'user' : 'system';
  if (typeof message.content === 'string') return { role, text: message.content, pictures: [] };
  const texts: string[] = [];
  const pictures: Picture[] = [];
  for (const one of message.content) {
    if (one.type === 'text') texts.push(one.text);
    else pictures.push(readImageUrl(one.image_url.url));
  }
  return { role, text: texts.join('\n'), pictures };
}

function readImageUrl(url: string): Picture {
  const match = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url);
  if (match === null) return { kind: 'address', url };
  return { kind: 'bytes', claimedType: match[1] ?? '', bytes: Buffer.from(match[2] ?? '', 'base64') };
}
