import { own } from '../../core/util/own.ts';
import { present } from '../../core/util/present.ts';
import { addressesInMarkdown, imageInDataUrl } from '../images.ts';
import type { TaskFailure } from '../transport/errors.ts';
import * as json from '../transport/json.ts';
import { isBadCode, type Refusal, readRefusal } from '../transport/refusal-body.ts';
import { taskFailure } from '../transport/refusals.ts';
import type { Reply } from '../transport/request.ts';

const MAX_IMAGES = 16;

/** The response of `POST /v1/media/services/aigc/multimodal-generation/generation`: contract, "Media image request and response". */
export interface ImageResult {
  /** Image URLs, or data URLs. Never empty. */
  images: string[];
}

/** Reads `output.choices[].message.content[].image`, `results[].url` of older models, and Markdown images in texts. */
export function readImages(reply: Reply): ImageResult {
  const images = new Set<string>();
  for (const { fields, key } of json.objectsIn(reply.value)) {
    const text = fields('text');
    const found = [
      fields('image'),
      ...(key === 'results' ? [fields('url')] : []),
      ...(typeof text === 'string' ? addressesInMarkdown(text) : []),
    ];
    for (const image of found.map(imageUrl))
      if (image !== undefined && images.size < MAX_IMAGES) images.add(image);
  }
  if (images.size > 0) return { images: [...images] };
  const refusal = refusalIn(reply.value);
  const isRefused = refusal.number !== undefined || refusal.names.length > 0;
  throw isRefused ? reply.refused(refusal) : reply.unusable('the response has no image');
}

const imageUrl = (value: unknown): string | undefined =>
  json.asHttpUrl(value) ?? (typeof value === 'string' && imageInDataUrl(value) ? value : undefined);

/** https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference, `task_status`. */
const STATUSES = {
  pending: 'pending',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
  cancelled: 'cancelled',
  unknown: 'unknown',
} as const;

/** Contract, "States and transitions", which shows only `pending` and `succeeded`. */
type VideoStatus = (typeof STATUSES)[keyof typeof STATUSES];

/** Contract, "Media video request and responses", the task query. */
export interface VideoTask {
  taskId?: string;
  status: VideoStatus;
  /** Present if `status` is `succeeded`. Expires (contract, "Limits" 3). */
  videoUrl?: string;
  /** Present if `status` is `failed` or `cancelled`. */
  failure?: TaskFailure;
}

/** Contract, "Media video request and responses", the submission response. */
export function readVideoSubmission(reply: Reply): { taskId: string } {
  const { taskId, status } = taskIn(reply.value);
  if (status === 'failed') throw reply.refused(refusalIn(reply.value));
  if (taskId === undefined) throw reply.unusable('the response has no task ID');
  return { taskId };
}

export function readVideoTask(reply: Reply): VideoTask {
  const { statusWord, ...task } = taskIn(reply.value);
  if (task.taskId === undefined && statusWord === undefined)
    throw reply.unusable('the response describes no task');
  if (task.status === 'succeeded' && task.videoUrl === undefined)
    throw reply.unusable('the task succeeded but has no video');
  return present({ ...task, failure: failureOf(task.status, reply.value) });
}

/** True if a body describes a task in any state. */
export function describesTask(value: unknown): boolean {
  return taskIn(value).statusWord !== undefined;
}

/** True if a body describes a task that failed or was cancelled. */
export function describesFailedTask(value: unknown): boolean {
  const { status } = taskIn(value);
  return status === 'failed' || status === 'cancelled';
}

/** Finds `output.task_id`, `output.task_status` and `output.video_url` in any envelope. */
function taskIn(value: unknown) {
  const visits = json
    .objectsIn(value, new Set(['input']))
    .take(20)
    .toArray();
  const first = <T>(read: (fields: json.Fields) => T | undefined): T | undefined =>
    visits.map(({ fields }) => read(fields)).find((found) => found !== undefined);
  const statusWord = first((fields) => json.asText(fields('taskStatus'), 100));
  const videoUrl = first((fields) => json.asHttpUrl(fields('videoUrl')));
  const status: VideoStatus =
    own(STATUSES, json.normalName(statusWord ?? '')) ?? (videoUrl === undefined ? 'running' : 'succeeded');
  return { taskId: first((fields) => json.asId(fields('taskId'))), statusWord, status, videoUrl };
}

function failureOf(status: VideoStatus, value: unknown): TaskFailure | undefined {
  if (status !== 'failed' && status !== 'cancelled') return undefined;
  const { number, names, message } = refusalIn(value);
  const failure = taskFailure({ family: 'media', number, names, message: message?.slice(0, 500) });
  return status === 'cancelled' ? { ...failure, code: 'cancelled' } : failure;
}

/** A failed task has its code and message in `output`, or in the entries of `output.results`. */
function refusalIn(value: unknown): Refusal {
  const refusals = json.objectsIn(value).map(({ value: { code, message } }) => ({ code, message }));
  const bad = refusals.find(({ code }) => isBadCode(code));
  const message = json
    .objectsIn(value)
    .map(({ fields }) => json.asText(fields('message')))
    .find((text) => text);
  return bad === undefined ? { names: [], message } : readRefusal(bad);
}
