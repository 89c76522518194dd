import { z } from 'zod';
import { decideCode, type TaskFailure } from '../transport/error-table.ts';
import * as json from '../transport/json.ts';
import { type Refusal, readRefusal } from '../transport/refusal.ts';
import type { Reply } from '../transport/request.ts';

const MOST_IMAGES = 16;

/**
 * What `POST /v1/media/services/aigc/multimodal-generation/generation` returns: contract, "Media image request and
 * response".
 */
const imageResponse = json.members({
  /** Addresses, http(s), or `data:` with base64 where the gateway sends the picture itself. Never empty. */
  images: z
    .array(z.preprocess((image) => json.asHttpUrl(image) ?? asImageData(image), z.string()))
    .min(1, 'no image'),
  /** Pixels. */
  width: json.maybe(json.count),
  height: json.maybe(json.count),
  /** As the gateway counts them. */
  imageCount: json.maybe(json.count),
  requestId: json.maybe(json.id),
});
export type ImageResult = z.infer<typeof imageResponse>;

/** `output.choices[].message.content[].image`; also `results[].url` and `data[].b64_json`, as older models send. */
export function readImages(reply: Reply): ImageResult {
  const { usage, requestId, refusal } = commonFields(reply.value);
  const images = new Set<string>();
  for (const { fields, key } of json.objectsIn(reply.value)) {
    const listed = /^(?:results|data|images|content|output)$/i.test(key);
    const image =
      json.asHttpUrl(fields('image', 'imageUrl')) ??
      json.asHttpUrl(json.fieldsOf(fields('imageUrl'))('url')) ??
      (listed ? json.asHttpUrl(fields('url')) : undefined) ??
      asImageData(fields('b64Json', 'image'));
    const others = json.asList(fields('images')).slice(0, MOST_IMAGES).map(json.asHttpUrl);
    for (const each of [image, ...others])
      if (each !== undefined && images.size < MOST_IMAGES) images.add(each);
  }
  const size = json.fieldsOf(usage);
  if (images.size === 0 && refusal !== undefined) throw reply.refused(refusal);
  return json.usable(reply, imageResponse, {
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

/** Contract, "States and transitions"; the states besides `pending` and `succeeded` are not shown there. */
const videoStatus = z.enum(['pending', 'running', 'succeeded', 'failed', 'cancelled', 'unknown']);
type VideoStatus = z.infer<typeof videoStatus>;

/**
 * What `POST /v1/media/services/aigc/video-generation/video-synthesis` returns: contract, "Media video request and
 * responses", the submission response.
 */
const videoSubmission = json.members({
  taskId: json.id,
  status: videoStatus,
  requestId: json.maybe(json.id),
  /** Who makes the video: `metadata.provider`. */
  provider: json.maybe(json.text(100)),
});
export type VideoSubmission = z.infer<typeof videoSubmission>;

const videoUsage = json
  .members({
    duration: json.maybe(json.notNegative),
    inputVideoDuration: json.maybe(json.notNegative),
    outputVideoDuration: json.maybe(json.notNegative),
    videoCount: json.maybe(json.count),
    /** The resolution figure. */
    SR: json.maybe(json.number),
    /** `<w>:<h>`. */
    ratio: json.maybe(json.text(20)),
  })
  .refine((figures) => Object.keys(figures).length > 0);

/** What `GET /v1/media/tasks/{task_id}` returns: contract, "Media video request and responses", the task query. */
const videoTask = json
  .members({
    requestId: json.maybe(json.id),
    taskId: json.maybe(json.id),
    status: videoStatus,
    /** `YYYY-MM-DD HH:MM:SS.mmm`, in a time zone that is not shown. */
    submitTime: json.maybe(json.text(40)),
    scheduledTime: json.maybe(json.text(40)),
    endTime: json.maybe(json.text(40)),
    /** Always there when `status` is `succeeded`; temporary (contract, "Limits" 3). */
    videoUrl: json.maybe(json.httpUrl),
    durationSeconds: json.maybe(json.positive),
    origPrompt: json.maybe(json.text(10_000)),
    /** The prompt after the provider's expansion. */
    actualPrompt: json.maybe(json.text(10_000)),
    usage: json.maybe(videoUsage),
  })
  .refine(({ status, videoUrl }) => status !== 'succeeded' || videoUrl !== undefined, {
    message: 'succeeded without a video',
  });
export interface VideoTask extends z.infer<typeof videoTask> {
  /** Present when `status` is `failed`. */
  failure?: TaskFailure;
}

/** `output.task_id` and `output.task_status`. */
export function readVideoSubmission(reply: Reply): VideoSubmission {
  const { taskId, status, requestId } = taskIn(reply.value);
  if (status === 'failed') throw reply.refused(taskRefusal(reply.value));
  return json.usable(reply, videoSubmission, {
    taskId,
    status: status === 'unknown' ? 'pending' : status,
    requestId,
    provider: json.fieldsOf(json.fieldsOf(reply.value)('metadata'))('provider'),
  });
}

export function readVideoTask(reply: Reply): VideoTask {
  const task = taskIn(reply.value);
  if (task.taskId === undefined && task.said === undefined) throw reply.unusable('no task');
  const failure = task.status === 'failed' ? failureOf(reply.value) : undefined;
  return json.withoutUndefined({ ...json.usable(reply, videoTask, task), failure });
}

/** Whether a body describes a task, failed or not. */
export function holdsTask(value: unknown): boolean {
  return json
    .objectsIn(value)
    .take(20)
    .some(({ fields }) => fields('taskStatus') !== undefined);
}

/** Whether a body names the end of its task, and that it has no result. */
export function saysTaskFailed(value: unknown): boolean {
  return json
    .objectsIn(value)
    .take(20)
    .some(({ fields }) => {
      const status = statusNamed(json.asText(fields('taskStatus')));
      return status === 'failed' || status === 'cancelled';
    });
}

/** https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference, `task_status`; and other spellings. */
const STATUS_WORDS: Readonly<Record<VideoStatus, RegExp>> = {
  pending: /^(?:pending|queued|submitted|created|accepted|suspended)$/,
  running: /^(?:running|processing|inprogress|generating)$/,
  succeeded: /^(?:succeeded|success|completed?|done|finished)$/,
  failed: /^(?:failed|failure|error|expired)$/,
  cancelled: /^cancell?ed$/,
  unknown: /^unknown$/,
};

const TASK_WRAPPERS = new Set(['', 'output', 'data', 'result', 'response', 'task']);

function taskIn(value: unknown) {
  const envelopes = json
    .objectsIn(value)
    .filter(({ key, inArray }) => !inArray && TASK_WRAPPERS.has(json.normalName(key)))
    .take(10)
    .map(({ fields }) => fields)
    .toArray();
  const first = (...names: string[]): string | undefined =>
    envelopes.map((fields) => json.asText(fields(...names))).find((found) => found !== undefined);

  const { usage, requestId } = commonFields(value);
  const said = first('taskStatus') ?? first('status', 'state');
  const videoUrl = readVideoUrl(value);
  const status = statusNamed(said) ?? (videoUrl === undefined ? 'unknown' : 'succeeded');
  return {
    requestId,
    taskId: first('taskId') ?? first('id'),
    said,
    status,
    videoUrl,
    submitTime: first('submitTime'),
    scheduledTime: first('scheduledTime'),
    endTime: first('endTime'),
    durationSeconds: json.fieldsOf(usage)('outputVideoDuration', 'videoDuration', 'duration'),
    origPrompt: first('origPrompt'),
    actualPrompt: first('actualPrompt'),
    usage,
  };
}

function statusNamed(word: string | undefined): VideoStatus | undefined {
  return json.kindOf(STATUS_WORDS, json.normalName(word ?? ''));
}

function readVideoUrl(value: unknown): string | undefined {
  for (const { fields, key } of json.objectsIn(value, new Set(['input', 'request', 'metadata']))) {
    const listed = /^(?:results|videos?)$/i.test(key);
    const url =
      json.asHttpUrl(fields('videoUrl', 'video')) ??
      json.asHttpUrl(json.asList(fields('videoUrls', 'videoUrl', 'videos'))[0]) ??
      (listed ? json.asHttpUrl(fields('url')) : undefined);
    if (url !== undefined) return url;
  }
  return undefined;
}

function failureOf(value: unknown): TaskFailure {
  const { number, names, message } = taskRefusal(value);
  return {
    code: decideCode({ family: 'media', route: 'media/task', number, names, message }),
    ...json.withoutUndefined({ gatewayCode: names[0] ?? number?.toString(), message }),
  };
}

/** What comes with the result of a media route: usage, the request's id, and a refusal inside a good answer. */
function commonFields(value: unknown) {
  const root = json.fieldsOf(value);
  const requestId = root('requestId');
  const usage = root('usage') ?? json.fieldsOf(root('output', 'data'))('usage');
  const found = taskRefusal(value);
  const refusal = found.names.length > 0 || found.number !== undefined ? found : undefined;
  return { usage, requestId, refusal };
}

/** A failed task names its code and message in `output`, or in the entries of `output.results`. */
function taskRefusal(value: unknown): Refusal {
  for (const { value: object } of json.objectsIn(value)) {
    const { code, message } = object;
    if (code === undefined || json.isObject(code) || json.isObject(message)) continue;
    const { number, names } = readRefusal({ code });
    if (names.length > 0 || (number !== undefined && number !== 200 && number !== 0))
      return readRefusal({ code, message });
  }
  const message = json
    .objectsIn(value)
    .map(({ fields }) => json.asText(fields('message', 'errorMessage', 'failReason'), 500))
    .find((text) => text !== undefined);
  return message === undefined ? { names: [] } : { names: [], message };
}
