import { z } from 'zod';

const text = z.string().trim().min(1);
const httpUrl = z.url({ protocol: /^https?$/ });

/** `<width>*<height>` in pixels: contract, "Media image request", `parameters.size`. */
const size = z.string().regex(/^[1-9]\d{0,4}\*[1-9]\d{0,4}$/, 'a size is <width>*<height>, as 1328*1328');

/** Contract, "Media image request and response". */
export const imageRequest = z.object({
  model: text,
  prompt: text,
  size: size.optional(),
  negativePrompt: text.optional(),
  promptExtend: z.boolean().optional(),
  watermark: z.boolean().optional(),
});
export type ImageRequest = z.infer<typeof imageRequest>;

/**
 * Contract, "Media video request and responses". Which fields are optional is not shown there; what is left out is
 * not sent. `duration` is in whole seconds, `resolution` a label as `720P`, `shotType` `single` or `multi`, as in the
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
    message: 'a video needs a prompt or a picture',
  });
export type VideoRequest = z.infer<typeof videoRequest>;
