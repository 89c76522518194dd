import { z } from 'zod';
import { present } from '../../core/util/present.ts';

const text = z.string().trim().min(1);
const httpUrl = z.url({ protocol: /^https?$/ });

/** `<width>*<height>` in pixels: contract, "Media image request", `parameters.size`. */
const size = z
  .string()
  .regex(/^[1-9]\d{0,4}\*[1-9]\d{0,4}$/, 'a size must be <width>*<height>, such as 1328*1328');

/** Contract, "Media image request and response". */
export const imageRequest = z.object({
  model: text,
  prompt: text,
  size: size.optional(),
  negativePrompt: text.optional(),
  promptExtend: z.boolean().optional(),
});
export type ImageRequest = z.infer<typeof imageRequest>;

/** The body of `POST /v1/media/services/aigc/multimodal-generation/generation`. */
export function imageBody({ model, prompt, ...rest }: ImageRequest): object {
  const parameters = {
    size: rest.size,
    negative_prompt: rest.negativePrompt,
    prompt_extend: rest.promptExtend,
  };
  const input = { messages: [{ role: 'user', content: [{ text: prompt }] }] };
  return { model, input, ...optionalParameters(parameters) };
}

/**
 * Contract, "Media video request and responses", which doesn't show the optional fields. Omitted ones are not sent.
 * `duration` is in whole seconds, `resolution` a label such as `720P`, `shotType` `single` or `multi`, as in the
 * public API: https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference.
 */
export const videoRequest = z
  .object({
    model: text,
    prompt: text.optional(),
    imageUrl: httpUrl.optional(),
    audioUrl: httpUrl.optional(),
    resolution: text.optional(),
    duration: z.int().positive().optional(),
    promptExtend: z.boolean().optional(),
    audio: z.boolean().optional(),
    shotType: text.optional(),
  })
  .refine((request) => request.prompt !== undefined || request.imageUrl !== undefined, {
    path: ['prompt'],
    message: 'a video needs a prompt or an image',
  });
export type VideoRequest = z.infer<typeof videoRequest>;

/** The body of `POST /v1/media/services/aigc/video-generation/video-synthesis`, in both path forms. */
export function videoBody({ model, ...rest }: VideoRequest): object {
  const parameters = {
    resolution: rest.resolution,
    prompt_extend: rest.promptExtend,
    duration: rest.duration,
    audio: rest.audio,
    shot_type: rest.shotType,
  };
  const input = { prompt: rest.prompt, img_url: rest.imageUrl, audio_url: rest.audioUrl };
  return { model, input: present(input), ...optionalParameters(parameters) };
}

function optionalParameters(parameters: object): { parameters?: object } {
  const defined = present(parameters);
  return Object.keys(defined).length === 0 ? {} : { parameters: defined };
}
