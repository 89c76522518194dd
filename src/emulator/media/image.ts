import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, makeFile, readBody } from '../context.ts';
import { requireModel } from '../models.ts';
import { RefusedRequest } from '../requests.ts';

/** Members of chat and gen bodies, with a message for each. */
export const foreignToMedia = {
  contents: 'gen-style bodies are not valid on media routes',
  messages: 'chat-style bodies are not valid on media routes',
} as const;
/** Limits of the public API, in characters. */
const promptLimit = 800;
const negativePromptLimit = 500;

const part = z.strictObject({ text: z.string().trim().min(1) });
const message = z.strictObject({ role: z.enum(['user', 'system']), content: z.array(part).min(1) });
const sizePattern = /^\d{2,5}\*\d{2,5}$/;
const imageBody = z.strictObject({
  model: z.string().min(1),
  input: z.strictObject({ messages: z.array(message).min(1) }),
  parameters: z
    .strictObject({
      size: z.string().regex(sizePattern, 'must be <width>*<height>, such as 1024*1024').optional(),
      negative_prompt: z.string().max(negativePromptLimit).optional(),
      prompt_extend: z.boolean().optional(),
      watermark: z.boolean().optional(),
    })
    .prefault({}),
});

/** The sizes of the classic model. The others support any size within the limits. */
const classicSizes = ['1328*1328', '1664*928', '928*1664', '1472*1104', '1104*1472'];
const pixelBounds = { fewest: 256 * 256, most: 2048 * 2048 } as const;

/** `POST .../multimodal-generation/generation`, which returns the image's URL. */
export function registerImageRoute(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/v1/media/services/aigc/multimodal-generation/generation', async (request) => {
    const { model, input, parameters } = readBody(imageBody, request, foreignToMedia);
    requireModel(model, 'image');
    const prompt = input.messages.flatMap((message) => message.content.map((part) => part.text)).join('\n');
    if (prompt.length > promptLimit)
      throw new RefusedRequest(
        'invalid',
        `input.messages: ${prompt.length} characters, the limit is ${promptLimit}`,
      );
    const { width, height } = readSize(parameters.size, model);
    await context.pause(2.5);
    const avoid = parameters.negative_prompt ?? '';
    const image = await makeFile(context, { kind: 'picture', prompt, avoid, width, height });
    return {
      request_id: context.randomId(),
      output: {
        choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: [{ image }] } }],
      },
      usage: { width, height, image_count: 1 },
    };
  });
}

function readSize(size: string | undefined, model: string): { width: number; height: number } {
  const classic = model === 'qwen-image';
  const text = size ?? (classic ? '1328*1328' : '1024*1024');
  if (classic && !classicSizes.includes(text)) {
    throw new RefusedRequest('invalid', `parameters.size: ${model} supports only ${classicSizes.join(', ')}`);
  }
  const [width = 0, height = 0] = text.split('*').map(Number);
  const pixels = width * height;
  if (Math.min(width, height) < 64 || pixels < pixelBounds.fewest || pixels > pixelBounds.most) {
    throw new RefusedRequest(
      'invalid',
      'parameters.size: must have between 256*256 and 2048*2048 pixels in total',
    );
  }
  return { width, height };
}
