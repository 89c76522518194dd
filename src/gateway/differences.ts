/** The differences between the gateway's bodies and those of the public services. Bodies come from this client, not from outside. */
import { asList, isObject, type JsonObject, objectOf } from './transport/json.ts';

/**
 * The contract shows no system field for msg, and every model reads user turns. The public service has `system`:
 * https://platform.claude.com/docs/en/api/messages.
 */
export function systemInFirstMessage({ system, ...body }: { system?: unknown; messages?: unknown }): object {
  if (system === undefined) return body;
  const [first, ...rest] = asList(body.messages);
  const { content, ...turn } = objectOf(first);
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
  return {
    ...body,
    messages: [{ ...turn, content: [{ type: 'text', text: system }, ...blocks] }, ...rest],
  };
}

/** The same for gen, where the public service has `systemInstruction`: https://ai.google.dev/api/generate-content. */
export function systemInFirstContent({
  systemInstruction,
  ...body
}: {
  systemInstruction?: unknown;
  contents?: unknown;
}): object {
  if (systemInstruction === undefined) return body;
  const [first, ...rest] = asList(body.contents);
  const { parts, ...turn } = objectOf(first);
  const system = asList(objectOf(systemInstruction).parts);
  return { ...body, contents: [{ ...turn, parts: [...system, ...asList(parts)] }, ...rest] };
}

/**
 * The wan models create four images by default, and each is charged:
 * https://www.alibabacloud.com/help/en/model-studio/text-to-image-v2-api-reference.
 */
export function withOneImage(body: { parameters?: unknown }): object {
  return { ...body, parameters: { ...objectOf(body.parameters), n: 1 } };
}

/** The pixels of each resolution in 16:9: https://www.alibabacloud.com/help/en/model-studio/text-to-video-api-reference. */
const PIXELS = new Map<unknown, string>([
  ['480P', '832*480'],
  ['720P', '1280*720'],
  ['1080P', '1920*1080'],
]);

/**
 * The wan models for text and for images are separate (`wan2.6-t2v`, `wan2.6-i2v`), so the one that fits the request is
 * used. Up to 2.6, videos from text take `size`; from 2.7, images are in `input.media`:
 * https://www.alibabacloud.com/help/en/model-studio/text-to-video-api-reference, …/image-to-video-general-api-reference.
 */
export function wanVideo(body: { model?: unknown; input?: unknown; parameters?: unknown }): object {
  const model = String(body.model);
  const [, major, minor] = /^wan(\d+)\.(\d+)-(?:t2v|i2v)/.exec(model) ?? [];
  if (major === undefined) return body;
  const isNew = Number(major) > 2 || (major === '2' && Number(minor) >= 7);
  const input = objectOf(body.input);
  const hasImage = input.img_url !== undefined;
  return {
    model: model.replace(/-[ti]2v/, hasImage ? '-i2v' : '-t2v'),
    input: isNew && hasImage ? withMedia(input) : input,
    ...(isObject(body.parameters) && {
      parameters: hasImage || isNew ? body.parameters : withSize(body.parameters),
    }),
  };
}

function withMedia({ img_url, audio_url, ...input }: JsonObject): object {
  const audio = audio_url === undefined ? [] : [{ type: 'driving_audio', url: audio_url }];
  return { ...input, media: [{ type: 'first_frame', url: img_url }, ...audio] };
}

function withSize({ resolution, ...parameters }: JsonObject): object {
  const size = PIXELS.get(resolution);
  return size === undefined ? { ...parameters, resolution } : { ...parameters, size };
}
