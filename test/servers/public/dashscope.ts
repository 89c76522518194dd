/**
 * Alibaba Cloud Model Studio (DashScope): images, videos and tasks, as documented:
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-api, …/text-to-image-v2-api-reference, …/text-to-video-api-reference,
 * …/image-to-video-api-reference and …/error-code.
 */
import { z } from 'zod';
import { fileAt } from './files.ts';
import {
  createService,
  type Double,
  parsedBody,
  Refusal,
  SERVICE_KEY,
  type Service,
  type ServiceAnswer,
  type ServiceRequest,
  startDouble,
} from './service.ts';

/** `{"code": "InvalidParameter", "message", "request_id"}`. */
export function dashScopeError(status: number, code: string, message: string): ServiceAnswer {
  return { status, body: { code, message, request_id: REQUEST_ID } };
}

const REQUEST_ID = '7574ee8f-38a3-4b1e-9280-11c33ab46e51';
const refuse = (status: number, code: string, message: string) =>
  new Refusal(dashScopeError(status, code, message));

const limited = (most: number) => z.string().min(1).max(most);

/** “1664*928 (default), 1472*1104, 1328*1328, 1104*1472, 928*1664.” */
const QWEN_SIZES = ['1664*928', '1472*1104', '1328*1328', '1104*1472', '928*1664'];

/** “Total pixels between 1280*1280 and 1440*1440, aspect ratio from 1:4 to 4:1” for wan2.6; fixed sizes for qwen-image. */
function isImageSize(model: string, size: string): boolean {
  if (/^qwen-image(?:-plus|-max)?$/.test(model)) return QWEN_SIZES.includes(size);
  const [width = 0, height = 0] = size.split('*').map(Number);
  const [fewest, most] = model.startsWith('wan') ? [1280 ** 2, 1440 ** 2] : [512 ** 2, 2048 ** 2];
  const ratio = width / height;
  return width * height >= fewest && width * height <= most && ratio >= 1 / 4 && ratio <= 4;
}

/** “messages supports only single-turn conversations: one element with one text.” */
const image = z
  .strictObject({
    model: z.string(),
    input: z.strictObject({
      messages: z.tuple([
        z.strictObject({
          role: z.literal('user'),
          content: z.tuple([z.strictObject({ text: limited(2100) })]),
        }),
      ]),
    }),
    parameters: z
      .strictObject({
        size: z.string().optional(),
        n: z.int().min(1).max(4).optional(),
        negative_prompt: limited(500).optional(),
        prompt_extend: z.boolean().optional(),
        watermark: z.boolean().optional(),
        seed: z.int().min(0).max(2_147_483_647).optional(),
      })
      .optional(),
  })
  .refine(({ model, parameters: { size } = {} }) => size === undefined || isImageSize(model, size), {
    path: ['parameters', 'size'],
    message: 'the size does not match the allowed size of the model',
  });

const IMAGE_MODELS = /^(?:qwen-image(?:-plus|-max|-2\.0(?:-pro)?)?|wan2\.[67]-(?:t2i|image)|z-image-turbo)$/;
const FROM_TEXT = /^wan2\.[1-7]-t2v/;
const FROM_IMAGE = /^wan2\.[1-7]-i2v/;
/** From 2.7, videos from text have a resolution, and images are in a list. */
const IS_NEW = /^wan2\.7-/;

const filming = {
  duration: z.int().min(2).max(15).optional(),
  prompt_extend: z.boolean().optional(),
  watermark: z.boolean().optional(),
  seed: z.int().min(0).max(2_147_483_647).optional(),
  audio: z.boolean().optional(),
  shot_type: z.enum(['single', 'multi']).optional(),
};
/** “720P, 1080P”, and not 480P since wan2.6. */
const resolution = z.enum(['720P', '1080P']).optional();
const negative_prompt = limited(500).optional();
const words = { prompt: limited(1500), negative_prompt, audio_url: z.url().optional() };
/** “The specific resolution of the video in the width*height format”, of the tiers 720P and 1080P. */
const HD_SIZES = ['1280*720', '720*1280', '960*960', '1088*832', '832*1088'];
const FULL_HD_SIZES = ['1920*1080', '1080*1920', '1440*1440', '1632*1248', '1248*1632'];

const videoOf = <Input extends z.ZodType, More extends z.ZodRawShape>(input: Input, more: More) =>
  z.strictObject({
    model: z.string(),
    input,
    parameters: z.strictObject({ ...filming, ...more }).optional(),
  });
const size = z.enum([...HD_SIZES, ...FULL_HD_SIZES]).optional();
const ratio = z.enum(['16:9', '9:16', '1:1', '4:3', '3:4']).optional();
/** “first_frame, last_frame, driving_audio, first_clip”: …/image-to-video-general-api-reference. */
const media = z
  .array(
    z.strictObject({
      type: z.enum(['first_frame', 'last_frame', 'driving_audio', 'first_clip']),
      url: z.url(),
    }),
  )
  .refine((list) => list.some(({ type }) => /^first_/.test(type)), 'must provide an image');

const VIDEOS = {
  'from text': videoOf(z.strictObject(words), { size }),
  'from text, new': videoOf(z.strictObject(words), { resolution, ratio }),
  // The image is required.
  'from an image': videoOf(z.strictObject({ ...words, prompt: words.prompt.optional(), img_url: z.url() }), {
    resolution,
  }),
  'from an image, new': videoOf(
    z.strictObject({ prompt: limited(5000).optional(), negative_prompt, media }),
    { resolution },
  ),
} as const;

type Video = z.infer<(typeof VIDEOS)[keyof typeof VIDEOS]>;

/** The files that the service downloads. */
function inputsOf({ input }: Video): string[] {
  if ('media' in input) return input.media.map(({ url }) => url);
  const { audio_url } = input;
  return [...('img_url' in input ? [input.img_url] : []), ...(audio_url === undefined ? [] : [audio_url])];
}

const IMAGE_PATH = '/api/v1/services/aigc/multimodal-generation/generation';
const VIDEO_PATH = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASK_PATH = /^\/api\/v1\/tasks\/([^/]+)$/;

export interface DashScopeOptions {
  /** Queries of a task that is still running. One by default. */
  readonly runningQueries?: number;
  /** Downloads the inputs of videos. Without it, they are not checked. */
  readonly fetch?: typeof globalThis.fetch;
}

export async function startDashScope(options: DashScopeOptions = {}): Promise<Double> {
  return startDouble(createDashScope(options), '/api/v1');
}

export function createDashScope({ fetch, runningQueries = 1 }: DashScopeOptions = {}): Service {
  const tasks = new Map<string, { readonly video: Video; queries: number }>();
  let images = 0;

  async function taskState(id: string): Promise<object> {
    const task = tasks.get(id);
    // “Task IDs are valid for 24 hours. Afterwards, the status is UNKNOWN.”
    if (task === undefined) return { task_id: id, task_status: 'UNKNOWN' };
    task.queries += 1;
    const { input } = task.video;
    if (task.queries <= runningQueries) return taskIn('RUNNING', {}, id).output;
    const unreachable = await firstUnreachable(inputsOf(task.video));
    if (unreachable)
      return taskIn(
        'FAILED',
        {
          end_time: '2026-01-01 10:01:00.000',
          code: 'InvalidParameter.DataInspection',
          message: 'Unable to download the media resource during the data inspection process.',
        },
        id,
      ).output;
    const done = {
      end_time: '2026-01-01 10:01:00.000',
      orig_prompt: input.prompt,
      video_url: `${service.origin}/files/${id}.mp4`,
    };
    return taskIn('SUCCEEDED', done, id).output;
  }

  async function firstUnreachable(urls: readonly string[]): Promise<string | undefined> {
    for (const url of urls) {
      if (fetch === undefined) continue;
      const response = await fetch(url).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok !== true) return url;
    }
    return undefined;
  }

  const service = createService({
    check(request) {
      const { method, path } = request;
      if (method === 'GET' && fileAt(path)) return undefined;
      checkKey(request);
      if (method === 'GET' && TASK_PATH.test(path)) return undefined;
      if (method === 'POST' && path === IMAGE_PATH) return checkImage(request);
      if (method === 'POST' && path === VIDEO_PATH) return checkVideo(request);
      throw refuse(
        404,
        'InvalidURL',
        'The request URL is invalid, please check the request URL is available.',
      );
    },
    async respond({ path }, body) {
      const file = fileAt(path);
      if (file) return { headers: { 'content-type': file.type }, body: file.bytes };
      const [, id] = TASK_PATH.exec(path) ?? [];
      if (id !== undefined)
        return { body: { request_id: REQUEST_ID, output: await taskState(id), usage: USAGE } };
      if (path === IMAGE_PATH) {
        images += 1;
        return { body: imageAnswer([`${service.origin}/files/image-${images}.png`]) };
      }
      const task = `film-${tasks.size + 1}`;
      // Sound: `check` returns this.
      tasks.set(task, { video: body as Video, queries: 0 });
      return { body: { request_id: REQUEST_ID, output: { task_id: task, task_status: 'PENDING' } } };
    },
  });
  return service;
}

function checkKey({ headers: { authorization } }: ServiceRequest): void {
  if (authorization === undefined) throw refuse(401, 'InvalidApiKey', 'No API-key provided.');
  if (authorization !== `Bearer ${SERVICE_KEY}`)
    throw refuse(401, 'InvalidApiKey', 'Invalid API-key provided.');
}

const parsed = (request: ServiceRequest) =>
  parsedBody(request, () =>
    refuse(400, 'InvalidParameter', 'Required body invalid, please check the request body format.'),
  );

function read<Body>(schema: z.ZodType<Body>, sent: unknown): Body {
  const parsed = schema.safeParse(sent);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(400, 'InvalidParameter', `${issue?.path.join('.')}: ${issue?.message}`);
}

function checkImage(request: ServiceRequest): unknown {
  // These models answer at once: …/error-code, “current user api does not support asynchronous calls”.
  if (request.headers['x-dashscope-async'] !== undefined)
    throw refuse(403, 'AccessDenied', 'current user api does not support asynchronous calls.');
  const body = read(image, parsed(request));
  if (!IMAGE_MODELS.test(body.model)) throw refuse(404, 'ModelNotFound', 'Model can not be found.');
  return body;
}

function checkVideo(request: ServiceRequest): Video {
  // “If this request header is missing, an error is returned”: …/image-to-video-api-reference.
  if (request.headers['x-dashscope-async'] !== 'enable')
    throw refuse(403, 'AccessDenied', 'current user api does not support synchronous calls.');
  const sent = parsed(request);
  const { model } = read(z.looseObject({ model: z.string() }), sent);
  const isNew = IS_NEW.test(model);
  const from = FROM_TEXT.test(model) ? 'from text' : FROM_IMAGE.test(model) ? 'from an image' : undefined;
  if (from === undefined) throw refuse(404, 'ModelNotFound', 'Model can not be found.');
  const schema: z.ZodType<Video> = VIDEOS[isNew ? (`${from}, new` as const) : from];
  return read(schema, sent);
}

const USAGE = { duration: 5, input_video_duration: 0, output_video_duration: 5, video_count: 1, SR: 720 };

function imageAnswer(urls: readonly string[]): object {
  const content = urls.map((url) => ({ image: url }));
  const choices = [{ finish_reason: 'stop', message: { role: 'assistant', content } }];
  return {
    output: { choices },
    usage: { width: 1328, height: 1328, image_count: 1 },
    request_id: REQUEST_ID,
  };
}

/** The answer to a query of a video task. */
export function taskIn(status: string, output: object = {}, task_id = 'film-1') {
  return {
    request_id: REQUEST_ID,
    output: {
      task_id,
      task_status: status,
      submit_time: '2026-01-01 10:00:00.000',
      scheduled_time: '2026-01-01 10:00:01.000',
      ...output,
    },
  };
}
