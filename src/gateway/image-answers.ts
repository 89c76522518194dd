import { z } from 'zod';
import { asHttpUrl, asList, fieldsOf, objectsIn } from './json.ts';
import { readAround } from './media-around.ts';
import type { Reply } from './request.ts';
import { count, id, maybe, members, usable } from './responses.ts';

const MOST_IMAGES = 16;

/**
 * What `POST /v1/media/services/aigc/multimodal-generation/generation` returns: contract, "Media image request and
 * response".
 */
const imageResponse = members({
  /** Addresses, http(s), or `data:` with base64 where the gateway sends the picture itself. Never empty. */
  images: z
    .array(z.preprocess((image) => asHttpUrl(image) ?? asImageData(image), z.string()))
    .min(1, 'no image'),
  /** Pixels. */
  width: maybe(count),
  height: maybe(count),
  /** As the gateway counts them. */
  imageCount: maybe(count),
  requestId: maybe(id),
});
export type ImageResult = z.infer<typeof imageResponse>;

/** `output.choices[].message.content[].image`; also `results[].url` and `data[].b64_json`, as older models send. */
export function readImages(reply: Reply): ImageResult {
  const { usage, requestId, refusal } = readAround(reply.value);
  const images = new Set<string>();
  for (const { fields, key } of objectsIn(reply.value)) {
    const listed = /^(?:results|data|images|content|output)$/i.test(key);
    const image =
      asHttpUrl(fields('image', 'imageUrl')) ??
      asHttpUrl(fieldsOf(fields('imageUrl'))('url')) ??
      (listed ? asHttpUrl(fields('url')) : undefined) ??
      asImageData(fields('b64Json', 'image'));
    const others = asList(fields('images')).slice(0, MOST_IMAGES).map(asHttpUrl);
    for (const each of [image, ...others])
      if (each !== undefined && images.size < MOST_IMAGES) images.add(each);
  }
  const size = fieldsOf(usage);
  if (images.size === 0 && refusal !== undefined) throw reply.refused(refusal);
  return usable(reply, imageResponse, {
    images: [...images],
    width: size('width'),
    height: size('height'),
    imageCount: size('imageCount'),
    requestId,
  });
}

/** The leading bytes of PNG, JPEG, WebP and GIF, in base64. */
const IMAGE_SIGNATURES: readonly [string, string][] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
];

function asImageData(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^data:image\/[\w.+-]{1,40};base64,/.test(value)) return value;
  const mimeType = IMAGE_SIGNATURES.find(([start]) => value.startsWith(start))?.[1];
  return mimeType === undefined ? undefined : `data:${mimeType};base64,${value}`;
}
