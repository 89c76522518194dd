import { present } from '../../core/util/present.ts';
import type { TaskFailure } from '../transport/errors.ts';
import * as json from '../transport/json.ts';
import { isBadCode, type Refusal, readRefusal } from '../transport/refusal-body.ts';
import { decideCode } from '../transport/refusals.ts';
import type { Reply } from '../transport/request.ts';

const MOST_IMAGES = 16;

/** What `POST /v1/media/services/aigc/multimodal-generation/generation` returns: contract, "Media image request and response". */
export interface ImageResult {
  /** Addresses. Never empty. */
  images: string[];
}

/** `output.choices[].message.content[].image`; also `results[].url`, as older models send. */
export function readImages(reply: Reply): ImageResult {
  const images = new Set<string>();
  for (const { fields, key } of json.objectsIn(reply.value)) {
    const image =
      json.asHttpUrl(fields('image')) ?? (key === 'results' ? json.asHttpUrl(fields('url')) : undefined);
    if (image !== undefined && images.size < MOST_IMAGES) images.add(image);
  }
  if (images.size > 0) return { images: [...images] };
  const refusal = refusalIn(reply.value);
  const isRefused = refusal.number !== undefined || refusal.names.length > 0;
  throw isRefused ? reply.refused(refusal) : reply.unusable('the response has no image');
}

/** https://www.alibabacloud.com/help/en/model-studio/image-to-video-api-reference, `task_status`. */
const STATUSES = {
  pending: 'pending',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
  unknown: 'unknown',
} as const;

/** Contract, "States and transitions"; the states besides `pending` and `succeeded` are not shown there. */
type VideoStatus = (typeof STATUSES)[keyof typeof STATUSES];

/** Contract, "Media video request and responses", the task query. */
export interface VideoTask {
  taskId?: string;
  status: VideoStatus;
  /** Always there when `status` is `succeeded`; temporary (contract, "Limits" 3). */
  videoUrl?: string;
  /** Present when `status` is `failed`. */
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
  const failure = task.status === 'failed' ? failureOf(reply.value) : undefined;
  return present({ ...task, failure });
}

/** Whether a body describes a task, failed or not. */
export function describesTask(value: unknown): boolean {
  return taskIn(value).statusWord !== undefined;
}

/** Whether a body names the end of its task, and that it has no result. */
export function describesFailedTask(value: unknown): boolean {
  const { status } = taskIn(value);
  return status === 'failed' || status === 'cancelled';
}

/** `output.task_id`, `output.task_status` and `output.video_url`, whatever is around them. */
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
    json.lookUp(STATUSES, json.normalName(statusWord ?? '')) ??
    (videoUrl === undefined ? 'unknown' : 'succeeded');
  return { taskId: first((fields) => json.asId(fields('taskId'))), statusWord, status, videoUrl };
}

function failureOf(value: unknown): TaskFailure {
  const { number, names, message: words } = refusalIn(value);
  const message = words?.slice(0, 500);
  return {
    code: decideCode({ family: 'media', route: 'media/task', number, names, message }),
    ...present({ gatewayCode: names[0] ?? number?.toString(), message }),
  };
}

/** A failed task names its code and message in `output`, or in the entries of `output.results`. */
function refusalIn(value: unknown): Refusal {
  const refusals = json.objectsIn(value).map(({ value: { code, message } }) => ({ code, message }));
  const bad = refusals.find(({ code }) => isBadCode(code));
  const message = json
    .objectsIn(value)
    .map(({ fields }) => json.asText(fields('message')))
    .find((text) => text);
  return bad === undefined ? { names: [], message } : readRefusal(bad);
}
