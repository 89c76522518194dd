import { z } from 'zod';
import { decideCode } from './error-table.ts';
import { asHttpUrl, asList, asText, fieldsOf, lookUp, normalName, objectsIn } from './json.ts';
import { readAround, taskRefusal } from './media-around.ts';
import type { Reply } from './request.ts';
import {
  count,
  httpUrl,
  id,
  maybe,
  members,
  notNegative,
  number,
  positive,
  text,
  usable,
  withoutUndefined,
} from './responses.ts';
import { type TaskFailure, taskFailure } from './task-failure.ts';

/** Contract, "States and transitions"; the states besides `pending` and `succeeded` are not shown there. */
const videoStatus = z.enum(['pending', 'running', 'succeeded', 'failed', 'cancelled', 'unknown']);
type VideoStatus = z.infer<typeof videoStatus>;

/**
 * What `POST /v1/media/services/aigc/video-generation/video-synthesis` returns: contract, "Media video request and
 * responses", the submission response.
 */
const videoSubmission = members({
  taskId: id,
  status: videoStatus,
  requestId: maybe(id),
  /** Who makes the video: `metadata.provider`. */
  provider: maybe(text(100)),
});
export type VideoSubmission = z.infer<typeof videoSubmission>;

const videoUsage = members({
  duration: maybe(notNegative),
  inputVideoDuration: maybe(notNegative),
  outputVideoDuration: maybe(notNegative),
  videoCount: maybe(count),
  /** The resolution figure. */
  SR: maybe(number),
  /** `<w>:<h>`. */
  ratio: maybe(text(20)),
}).refine((figures) => Object.keys(figures).length > 0);

/** What `GET /v1/media/tasks/{task_id}` returns: contract, "Media video request and responses", the task query. */
const videoTask = members({
  requestId: maybe(id),
  taskId: maybe(id),
  status: videoStatus,
  /** `YYYY-MM-DD HH:MM:SS.mmm`, in a time zone that is not shown. */
  submitTime: maybe(text(40)),
  scheduledTime: maybe(text(40)),
  endTime: maybe(text(40)),
  /** Always there when `status` is `succeeded`; temporary (contract, "Limits" 3). */
  videoUrl: maybe(httpUrl),
  durationSeconds: maybe(positive),
  origPrompt: maybe(text(10_000)),
  /** The prompt after the provider's expansion. */
  actualPrompt: maybe(text(10_000)),
  usage: maybe(videoUsage),
  /** Present when `status` is `failed`. */
  failure: maybe(taskFailure),
}).refine(({ status, videoUrl }) => status !== 'succeeded' || videoUrl !== undefined, {
  message: 'succeeded without a video',
});
export type VideoTask = z.infer<typeof videoTask>;

/** `output.task_id` and `output.task_status`. */
export function readVideoSubmission(reply: Reply): VideoSubmission {
  const { taskId, status, requestId } = taskIn(reply.value);
  if (status === 'failed') throw reply.refused(taskRefusal(reply.value));
  return usable(reply, videoSubmission, {
    taskId,
    status: status === 'unknown' ? 'pending' : status,
    requestId,
    provider: fieldsOf(fieldsOf(reply.value)('metadata'))('provider'),
  });
}

export function readVideoTask(reply: Reply): VideoTask {
  const task = taskIn(reply.value);
  if (task.taskId === undefined && task.said === undefined) throw reply.unusable('no task');
  return usable(reply, videoTask, task);
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

function taskIn(value: unknown) {
  const places = objectsIn(value)
    .filter(({ key, inArray }) => !inArray && TASK_PLACES.has(normalName(key)))
    .take(10)
    .map(({ fields }) => fields)
    .toArray();
  const first = (...names: string[]): string | undefined =>
    places.map((fields) => asText(fields(...names))).find((found) => found !== undefined);

  const { usage, requestId } = readAround(value);
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
    durationSeconds: fieldsOf(usage)('outputVideoDuration', 'videoDuration', 'duration'),
    origPrompt: first('origPrompt'),
    actualPrompt: first('actualPrompt'),
    usage,
    failure: status === 'failed' ? failureOf(value) : undefined,
  };
}

function statusNamed(word: string | undefined): VideoStatus | undefined {
  return lookUp(STATUS_WORDS, normalName(word ?? ''));
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

function failureOf(value: unknown): TaskFailure {
  const { number, names, message } = taskRefusal(value);
  return {
    code: decideCode({ family: 'media', route: 'media/task', number, names, message }),
    ...withoutUndefined({ gatewayCode: names[0] ?? number?.toString(), message }),
  };
}
