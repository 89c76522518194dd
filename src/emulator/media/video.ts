import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, produceOne, readBody } from '../context.ts';
import type { VideoFault } from '../fault-hooks.ts';
import { DownloadError, download } from '../files.ts';
import { requireModel } from '../models.ts';
import { RefusedRequest } from '../requests.ts';
import { formatTime } from '../shapes.ts';
import { Collection, maxStored } from '../store.ts';
import { UnusableInputError } from '../studio/studio.ts';
import { foreignToMedia } from './image.ts';

const fileUrl = z.url({ protocol: /^(https?|data)$/, error: 'must be an http(s) or base64 data URL' });
const videoBody = z.strictObject({
  model: z.string().min(1),
  input: z.strictObject({
    prompt: z.string().max(1500).default(''),
    negative_prompt: z.string().max(500).optional(),
    img_url: fileUrl.optional(),
    audio_url: fileUrl.optional(),
  }),
  parameters: z
    .strictObject({
      resolution: z.enum(['480P', '720P', '1080P'], { error: 'must be 480P, 720P or 1080P' }).default('720P'),
      prompt_extend: z.boolean().default(true),
      duration: z.int().min(2).max(15).default(5),
      audio: z.boolean().default(true),
      shot_type: z.enum(['single', 'multi'], { error: 'must be single or multi' }).default('single'),
    })
    .prefault({}),
});

type VideoStatus = 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELED' | 'UNKNOWN';
interface StoredVideo {
  readonly id: string;
  readonly requestId: string;
  readonly submittedAt: number;
  readonly body: z.output<typeof videoBody>;
  status: VideoStatus;
  scheduledAt: number | null;
  endedAt: number | null;
  fileName: string | null;
  failure: { readonly code: string; readonly message: string } | null;
}

/** The frame size of each resolution in 16:9. Small, because every frame is rendered on this machine. */
const frameSizes = {
  '480P': { width: 480, height: 270 },
  '720P': { width: 640, height: 360 },
  '1080P': { width: 768, height: 432 },
} as const;
const maxImageBytes = 20 * 1024 * 1024;
const maxAudioBytes = 15 * 1024 * 1024;
/** A task's ID is valid for 24 hours (public API). */
const retentionMs = 86_400_000;

/** The video routes, in both of their path forms. */
export function registerVideoRoutes(server: FastifyInstance, context: EmulatorContext): void {
  const videos = new Collection<StoredVideo>(maxStored);
  const create = async (request: FastifyRequest) => {
    const body = readBody(videoBody, request, foreignToMedia);
    const { model, input } = body;
    requireModel(model, 'video');
    if (input.prompt.trim() === '' && input.img_url === undefined)
      throw new RefusedRequest('invalid', 'input.prompt: a prompt or an img_url is required');
    if (model === 'reel-animate' && input.img_url === undefined)
      throw new RefusedRequest('invalid', `input.img_url: required by ${model}`);
    const task = videos.add({
      id: context.randomId(),
      requestId: context.randomId(),
      submittedAt: context.now(),
      body,
      status: 'PENDING',
      scheduledAt: null,
      endedAt: null,
      fileName: null,
      failure: null,
    });
    const fault = context.faultHooks.video?.(request);
    context.background(() => film(context, task, fault));
    return {
      request_id: task.requestId,
      output: { task_id: task.id, task_status: task.status },
      metadata: { provider: 'emulator' },
    };
  };
  const query = async (request: FastifyRequest<{ Params: { taskId: string } }>) => {
    const { taskId } = request.params;
    const task = videos.get(taskId);
    if (task === undefined || context.now() - task.submittedAt > retentionMs) {
      return { request_id: context.randomId(), output: { task_id: taskId, task_status: 'UNKNOWN' } };
    }
    return describe(context, task);
  };
  server.post('/v1/media/services/aigc/video-generation/video-synthesis', create);
  server.post('/media/v1/services/aigc/video-generation/video-synthesis', create);
  server.get('/v1/media/tasks/:taskId', query);
  server.get('/media/v1/tasks/:taskId', query);
}

function describe(context: EmulatorContext, task: StoredVideo): Record<string, unknown> {
  const time = (moment: number | null) => (moment === null ? undefined : formatTime(moment, true));
  const output = {
    task_id: task.id,
    task_status: task.status,
    submit_time: time(task.submittedAt),
    scheduled_time: time(task.scheduledAt),
    end_time: time(task.endedAt),
    ...task.failure,
  };
  if (task.status !== 'SUCCEEDED' || task.fileName === null) return { request_id: task.requestId, output };
  const expires = (task.endedAt ?? 0) + context.videoUrlSeconds * 1000;
  const { input, parameters } = task.body;
  const video = {
    orig_prompt: input.prompt,
    ...(parameters.prompt_extend ? { actual_prompt: expand(input.prompt) } : {}),
    video_url: context.files.temporaryUrl(task.fileName, expires),
  };
  const usage = {
    duration: parameters.duration,
    input_video_duration: 0,
    output_video_duration: parameters.duration,
    video_count: 1,
    SR: Number.parseInt(parameters.resolution, 10),
    ratio: '16:9',
  };
  return { request_id: task.requestId, output: { ...output, ...video }, usage };
}

async function film(context: EmulatorContext, task: StoredVideo, fault?: VideoFault): Promise<void> {
  const end = (status: VideoStatus, failure: StoredVideo['failure'] = null): void => {
    task.failure = failure;
    task.endedAt = context.now();
    task.status = status;
  };
  try {
    await context.pause(1);
    if (fault?.status === 'PENDING') return;
    task.scheduledAt = context.now();
    task.status = 'RUNNING';
    await context.pause(3);
    if (fault) return end(fault.status, fault.failure);
    const { input, parameters } = task.body;
    const [image, audio] = await Promise.all([
      input.img_url === undefined ? null : download(context, input.img_url, maxImageBytes),
      input.audio_url === undefined ? null : download(context, input.audio_url, maxAudioBytes),
    ]);
    const video = await produceOne(context, {
      kind: 'video',
      prompt: input.prompt,
      ...frameSizes[parameters.resolution],
      seconds: Math.min(parameters.duration, context.longestVideoSeconds),
      image,
      sound: audio ?? (parameters.audio ? 'composed' : 'none'),
    });
    task.fileName = context.files.add(video.bytes, video.contentType);
    end('SUCCEEDED');
  } catch (error) {
    if (context.closing.aborted) return;
    end('FAILED', failureOf(error));
  }
}

function failureOf(error: unknown): NonNullable<StoredVideo['failure']> {
  if (error instanceof DownloadError) {
    const message = `An input could not be downloaded: ${error.message}.`;
    return { code: 'BadRequest.InputDownloadFailed', message };
  }
  if (error instanceof UnusableInputError) {
    const message = `An input could not be used: ${error.message}.`;
    return { code: 'InvalidParameter.DataInspection', message };
  }
  return { code: 'InternalError', message: 'The video could not be generated.' };
}

/** Expands a prompt as a provider would. */
function expand(prompt: string): string {
  return `${prompt.trim()}, soft light, slow camera movement, rich detail`.replace(/^, /, '');
}
