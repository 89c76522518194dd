import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { explainUnknownModel, findModel } from '../models.ts';
import { Refusal } from '../refusal.ts';

/** Bounds of the public API, in characters. */
const promptLimit = 800;
const avoidLimit = 500;

const imageBody = z.strictObject({
  model: z.string().min(1),
  input: z.strictObject({
    messages: z
      .array(
        z.strictObject({
          role: z.enum(['user', 'system']),
          content: z.array(z.strictObject({ text: z.string().trim().min(1) })).min(1),
        }),
      )
      .min(1),
  }),
  parameters: z
    .strictObject({
      size: z
        .string()
        .regex(/^\d{2,5}\*\d{2,5}$/, 'must read <width>*<height>, such as 1024*1024')
        .optional(),
      negative_prompt: z.string().max(avoidLimit).optional(),
      prompt_extend: z.boolean().optional(),
      watermark: z.boolean().optional(),
      n: z.int().min(1).max(4).optional(),
      seed: z.int().min(0).max(2_147_483_647).optional(),
    })
    .default({}),
});

/** Sizes that the classic model draws; the others draw any between the bounds. */
const classicSizes = ['1328*1328', '1664*928', '928*1664', '1472*1104', '1104*1472'];
const pixelBounds = { fewest: 256 * 256, most: 2048 * 2048 } as const;

/** `POST .../multimodal-generation/generation`, answered with the picture's URL. */
export function registerImageRoute(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/v1/media/services/aigc/multimodal-generation/generation', async (request) => {
    refuseOtherDialects(request.body);
    const { model, input, parameters } = readBody(imageBody, request);
    if (findModel(model, 'image') === undefined) {
      throw new Refusal('not found', explainUnknownModel(model, 'image'), { code: 'ModelNotFound' });
    }
    const prompt = input.messages.flatMap((message) => message.content.map((part) => part.text)).join('\n');
    if (prompt.length > promptLimit) {
      throw new Refusal(
        'invalid',
        `input.messages: ${prompt.length} characters of text; at most ${promptLimit}`,
      );
    }
    const { width, height } = readSize(parameters.size, model);
    const count = parameters.n ?? 1;
    await context.pause(2.5);
    const images = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const [picture] = await context.studio.produce({
          kind: 'picture',
          prompt: prompt + (parameters.seed === undefined ? '' : ` #${parameters.seed}`) + ' '.repeat(index),
          avoid: parameters.negative_prompt ?? '',
          width,
          height,
          watermark: parameters.watermark ?? false,
        });
        if (picture === undefined) throw new Error('the studio drew nothing');
        return context.files.url(context.files.add(picture.bytes, picture.contentType));
      }),
    );
    return {
      request_id: context.randomId(),
      output: {
        choices: images.map((image) => ({
          finish_reason: 'stop',
          message: { role: 'assistant', content: [{ image }] },
        })),
      },
      usage: { width, height, image_count: count },
    };
  });
}

/** Refuses bodies that belong to chat or gen routes, with a sentence that says so (contract, rule 2). */
export function refuseOtherDialects(body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  if ('contents' in body)
    throw new Refusal('invalid', 'contents: gen-style bodies are not valid on media routes');
  if ('messages' in body)
    throw new Refusal('invalid', 'messages: chat-style bodies are not valid on media routes');
}

function readSize(size: string | undefined, model: string): { width: number; height: number } {
  const classic = model === 'canvas-classic';
  const text = size ?? (classic ? '1328*1328' : '1024*1024');
  if (classic && !classicSizes.includes(text)) {
    throw new Refusal('invalid', `parameters.size: ${model} draws ${classicSizes.join(', ')}`);
  }
  const [width = 0, height = 0] = text.split('*').map(Number);
  const pixels = width * height;
  if (Math.min(width, height) < 64 || pixels < pixelBounds.fewest || pixels > pixelBounds.most) {
    throw new Refusal('invalid', 'parameters.size: must have between 256*256 and 2048*2048 pixels in all');
  }
  return { width, height };
}
