import { decideCode } from './error-table.ts';
import type { GatewayErrorCode } from './errors.ts';
import {
  asCount,
  asHttpUrl,
  asList,
  asNumber,
  asText,
  type Fields,
  fieldsOf,
  isObject,
  normalName,
  objectsIn,
} from './json.ts';
import { type Refusal, readRefusal } from './refusal.ts';
import type { Reply } from './request.ts';

export interface ImageResult {
  /** Addresses, http(s), or `data:` with base64 where the gateway sends the picture itself. Never empty. */
  images: string[];
  /** Pixels. */
  width?: number;
  height?: number;
  requestId?: string;
}

export type VideoStatus = 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'unknown';

export interface VideoTask {
  taskId?: string;
  status: VideoStatus;
  /** Always there when `status` is `succeeded`; temporary (contract, "Limits" 3). */
  videoUrl?: string;
  durationSeconds?: number;
  /** The prompt after the provider's expansion. */
  actualPrompt?: string;
  /** Present when `status` is `failed`. */
  failure?: VideoFailure;
}

interface VideoFailure {
  code: GatewayErrorCode;
  gatewayCode?: string;
  /** The gateway's own words: escape them before showing them. */
  message?: string;
}

const MOST_IMAGES = 16;

/** `output.choices[].message.content[].image`; also `results[].url` and `data[].b64_json`, as older models send. */
export function readImages(reply: Reply): ImageResult {
  const { usage, requestId, refusal } = readAround(reply.value);
  const images = new Set<string>();
  for (const { fields, key } of objectsIn(reply.value)) {
    const listed = /^(?:results|data|images|content|output)$/i.test(key);
    const address =
      asHttpUrl(fields('image', 'imageUrl')) ??
      asHttpUrl(fieldsOf(fields('imageUrl'))('url')) ??
      (listed ? asHttpUrl(fields('url')) : undefined);
    const image = address ?? asImageData(fields('b64Json', 'image'));
    if (image !== undefined && images.size < MOST_IMAGES) images.add(image);
    for (const item of asList(fields('images')).slice(0, MOST_IMAGES)) {
      const listedAddress = asHttpUrl(item);
      if (listedAddress !== undefined) images.add(listedAddress);
    }
  }
  if (images.size === 0) throw refusal === undefined ? reply.unusable('no image') : reply.refused(refusal);
  const width = asCount(usage('width'));
  const height = asCount(usage('height'));
  return {
    images: [...images],
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(requestId === undefined ? {} : { requestId }),
  };
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

/** `output.task_id` and `output.task_status`. */
export function readVideoSubmission(reply: Reply): { taskId: string; status: VideoStatus } {
  const task = readTask(reply.value);
  if (task.failure !== undefined) throw reply.refused(taskRefusal(reply.value));
  if (task.taskId === undefined) throw reply.unusable('no task id');
  return { taskId: task.taskId, status: task.status === 'unknown' ? 'pending' : task.status };
}

export function readVideoTask(reply: Reply): VideoTask {
  const task = readTask(reply.value);
  if (task.status === 'succeeded' && task.videoUrl === undefined)
    throw reply.unusable('succeeded without a video');
  if (task.taskId === undefined && task.said === undefined) throw reply.unusable('no task');
  const { said: _said, ...read } = task;
  return read;
}

/** Whether a body tells of a task, failed or not. */
export function holdsTask(value: unknown): boolean {
  return objectsIn(value)
    .take(20)
    .some(({ fields }) => fields('taskStatus') !== undefined);
}

/** https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference, `task_status`; and other spellings. */
const STATUS_WORDS: Readonly<Record<string, VideoStatus>> = {
  pending: 'pending',
  queued: 'pending',
  submitted: 'pending',
  created: 'pending',
  accepted: 'pending',
  suspended: 'pending',
  running: 'running',
  processing: 'running',
  inprogress: 'running',
  generating: 'running',
  succeeded: 'succeeded',
  success: 'succeeded',
  completed: 'succeeded',
  complete: 'succeeded',
  done: 'succeeded',
  finished: 'succeeded',
  failed: 'failed',
  failure: 'failed',
  error: 'failed',
  expired: 'failed',
  canceled: 'cancelled',
  cancelled: 'cancelled',
  unknown: 'unknown',
};

const TASK_PLACES = new Set(['', 'output', 'data', 'result', 'response', 'task']);

function readTask(value: unknown): VideoTask & { said?: string } {
  const places = objectsIn(value)
    .filter(({ key, inArray }) => !inArray && TASK_PLACES.has(normalName(key)))
    .take(10)
    .map(({ fields }) => fields)
    .toArray();
  const first = <T>(read: (fields: Fields) => T | undefined): T | undefined =>
    places.map(read).find((found) => found !== undefined);

  const { usage } = readAround(value);
  const taskId =
    first((fields) => asText(fields('taskId'), 512)) ?? first((fields) => asText(fields('id'), 512));
  const said =
    first((fields) => asText(fields('taskStatus'), 100)) ??
    first((fields) => asText(fields('status', 'state'), 100));
  const videoUrl = readVideoUrl(value);
  const named = said === undefined ? undefined : STATUS_WORDS[normalName(said)];
  const status =
    (said !== undefined && Object.hasOwn(STATUS_WORDS, normalName(said)) ? named : undefined) ??
    (videoUrl === undefined ? 'unknown' : 'succeeded');
  const duration = asNumber(usage('outputVideoDuration', 'videoDuration', 'duration'));
  const actualPrompt = first((fields) => asText(fields('actualPrompt'), 10_000));
  return {
    status,
    ...(taskId === undefined ? {} : { taskId }),
    ...(said === undefined ? {} : { said }),
    ...(videoUrl === undefined ? {} : { videoUrl }),
    ...(duration === undefined || duration <= 0 ? {} : { durationSeconds: duration }),
    ...(actualPrompt === undefined ? {} : { actualPrompt }),
    ...(status === 'failed' ? { failure: failureOf(value) } : {}),
  };
}

function readVideoUrl(value: unknown): string | undefined {
  for (const { fields, key } of objectsIn(value, new Set(['input', 'request', 'metadata']))) {
    const listed = /^(?:results|videos?)$/i.test(key);
    const url =
      asHttpUrl(fields('videoUrl', 'video')) ??
      asHttpUrl(asList(fields('videoUrls', 'videoUrl', 'videos'))[0]) ??
      (listed ? asHttpUrl(fields('url')) : undefined);
    if (url !== undefined) return url;
  }
  return undefined;
}

function failureOf(value: unknown): VideoFailure {
  const refusal = taskRefusal(value);
  const gatewayCode = refusal.names[0] ?? (refusal.number === undefined ? undefined : String(refusal.number));
  return {
    code: decideCode({ family: 'media', route: 'media/task', ...refusal }),
    ...(gatewayCode === undefined ? {} : { gatewayCode }),
    ...(refusal.message === undefined ? {} : { message: refusal.message }),
  };
}

/** A failed task names its code and message in `output`, or in the entries of `output.results`. */
function taskRefusal(value: unknown): Refusal {
  for (const { value: place } of objectsIn(value)) {
    const { code, message } = place;
    if (isObject(code) || isObject(message)) continue;
    const { number, names } = readRefusal({ code });
    if (names.length > 0 || (number !== undefined && number !== 200 && number !== 0))
      return readRefusal({ code, message });
  }
  const message = objectsIn(value)
    .map(({ fields }) => asText(fields('message', 'errorMessage', 'failReason'), 500))
    .find((text) => text !== undefined);
  return message === undefined ? { names: [] } : { names: [], message };
}

function readAround(value: unknown) {
  const root = fieldsOf(value);
  const requestId = asText(root('requestId'), 512);
  const usage = fieldsOf(root('usage') ?? fieldsOf(root('output', 'data'))('usage'));
  const told = taskRefusal(value);
  const refusal = told.names.length > 0 || told.number !== undefined ? told : undefined;
  return { usage, requestId, refusal };
}
