/**
 * The public APIs of music and media behind the contract's paths, as their documentation shows them: they refuse what it forbids, and answer
 * in its shapes. Music: https://docs.sunoapi.org/suno-api/quickstart and the page of each route, https://docs.kie.ai/suno-api.
 * Media: https://www.alibabacloud.com/help/en/model-studio/text-to-image-v2-api-reference, …/qwen-image-api, …/image-to-video-api-reference.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

export interface Answered {
  readonly status?: number;
  readonly body: unknown;
}

export interface PublicApi extends AsyncDisposable {
  readonly url: string;
  /** Requests that were not refused as invalid, oldest first. */
  readonly accepted: { readonly path: string; readonly body: unknown }[];
  /** Replaces the answer to the next request whose path ends so. */
  next(path: string, answer: Answered): void;
}

const VIDEO = '/v1/media/services/aigc/video-generation/video-synthesis';
const IMAGE = '/v1/media/services/aigc/multimodal-generation/generation';
const TASK = '/v1/media/tasks/';

const url = z.url();
const id = z.string().min(1);
const limited = (most: number) => z.string().min(1).max(most);
const model = z.enum(['V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5', 'V5_5']);
const bounds = (name: z.infer<typeof model>) => ({
  prompt: name === 'V4' ? 3000 : 5000,
  style: name === 'V4' ? 200 : 1000,
  title: name === 'V4' || name === 'V4_5ALL' ? 80 : 100,
});

const callBackUrl = url;
const texts = { prompt: z.string().optional(), style: z.string().optional(), title: z.string().optional() };
const custom = { ...texts, instrumental: z.boolean(), model, callBackUrl, personaId: id.optional() };

interface Texts {
  readonly model: z.infer<typeof model>;
  readonly prompt?: string | undefined;
  readonly style?: string | undefined;
  readonly title?: string | undefined;
  readonly instrumental?: boolean | undefined;
}

function isWithin({ model: name, ...given }: Texts): boolean {
  const most = bounds(name);
  return (['prompt', 'style', 'title'] as const).every((field) => (given[field]?.length ?? 0) <= most[field]);
}

const hasSongTexts = ({ style, title, prompt, instrumental }: Texts) =>
  Boolean(style && title && (instrumental || prompt));

/** “When customMode is false, only prompt is required … other parameters should be left empty.” */
const song = z
  .strictObject({ ...custom, customMode: z.boolean() })
  .refine((sent) => (sent.customMode ? hasSongTexts(sent) && isWithin(sent) : isSimple(sent)));

function isSimple({ prompt = '', style, title }: Texts): boolean {
  return prompt !== '' && prompt.length <= 500 && style === undefined && title === undefined;
}

const MUSIC: Readonly<Record<string, z.ZodType>> = {
  generate: song,
  'upload-cover': song.and(z.looseObject({ uploadUrl: url })),
  extend: z.strictObject({
    ...texts,
    audioId: id,
    model,
    callBackUrl,
    defaultParamFlag: z.boolean(),
    continueAt: z.number().positive().optional(),
  }),
  'upload-extend': z
    .strictObject({
      ...custom,
      instrumental: z.boolean().optional(),
      uploadUrl: url,
      defaultParamFlag: z.boolean(),
      continueAt: z.number().positive().optional(),
    })
    .refine((sent) =>
      sent.defaultParamFlag
        ? hasSongTexts(sent) && isWithin(sent) && sent.continueAt !== undefined
        : isWithin(sent),
    ),
  'add-vocals': z.strictObject({
    uploadUrl: url,
    prompt: limited(5000),
    title: limited(100),
    style: limited(1000),
    negativeTags: z.string(),
    callBackUrl,
    model: z.enum(['V4_5PLUS', 'V5', 'V5_5']).optional(),
  }),
  'add-instrumental': z.strictObject({
    uploadUrl: url,
    title: limited(100),
    tags: limited(1000),
    negativeTags: z.string(),
    callBackUrl,
    model: z.enum(['V4_5PLUS', 'V5', 'V5_5']).optional(),
  }),
  'generate-lyrics': z.strictObject({ prompt: limited(5000), callBackUrl }),
  'generate-cover': z.strictObject({ taskId: id, callBackUrl }),
  'vocal-removal': z.strictObject({
    taskId: id,
    audioId: id,
    type: z.enum(['separate_vocal', 'split_stem']),
    callBackUrl,
  }),
  'wav-generate': z.strictObject({ taskId: id, audioId: id, callBackUrl }),
  'mp4-generate': z.strictObject({ taskId: id, audioId: id, callBackUrl }),
  'timestamped-lyrics': z.strictObject({ taskId: id, audioId: id }),
  'generate-persona': z.strictObject({
    taskId: id,
    audioId: id,
    name: limited(200),
    description: limited(2000),
    vocalStart: z.number().min(0).optional(),
    vocalEnd: z.number().min(0).optional(),
  }),
};

/** “1664*928 (default), 1472*1104, 1328*1328, 1104*1472, 928*1664.” */
const QWEN_SIZES = ['1664*928', '1472*1104', '1328*1328', '1104*1472', '928*1664'];

/** “Total pixels between 1280*1280 and 1440*1440, aspect ratio from 1:4 to 4:1” for wan2.6; fixed sizes for qwen-image. */
function isSize(name: string, size: string): boolean {
  if (/^qwen-image(?:-plus|-max)?$/.test(name)) return QWEN_SIZES.includes(size);
  const [width = 0, height = 0] = size.split('*').map(Number);
  const [fewest, most] = name.startsWith('wan') ? [1280 ** 2, 1440 ** 2] : [512 ** 2, 2048 ** 2];
  const ratio = width / height;
  return width * height >= fewest && width * height <= most && ratio >= 1 / 4 && ratio <= 4;
}

const image = z
  .strictObject({
    model: id,
    input: z.strictObject({
      messages: z.tuple([
        z.strictObject({
          role: z.literal('user'),
          content: z.array(z.strictObject({ text: limited(2100) })),
        }),
      ]),
    }),
    parameters: z
      .strictObject({
        size: z.string().optional(),
        negative_prompt: limited(500).optional(),
        prompt_extend: z.boolean().optional(),
        watermark: z.boolean().optional(),
      })
      .optional(),
  })
  .refine(({ model: name, parameters }) => {
    const size = parameters?.size;
    return size === undefined || isSize(name, size);
  });

const video = z.strictObject({
  model: id,
  input: z.strictObject({
    prompt: limited(1500).optional(),
    img_url: url.optional(),
    audio_url: url.optional(),
  }),
  parameters: z
    .strictObject({
      resolution: z.enum(['480P', '720P', '1080P']).optional(),
      duration: z.int().min(2).max(15).optional(),
      prompt_extend: z.boolean().optional(),
      audio: z.boolean().optional(),
      shot_type: z.enum(['single', 'multi']).optional(),
    })
    .optional(),
});

const MEDIA: Readonly<Record<string, z.ZodType>> = { [IMAGE]: image, [VIDEO]: video };

export async function startPublicApi(): Promise<PublicApi> {
  const accepted: { path: string; body: unknown }[] = [];
  const scripted: { path: string; answer: Answered }[] = [];
  let tasks = 0;

  function answerTo(path: string, body: unknown): Answered {
    const route = path.replace(/^\/music\//, '');
    const isMusic = route !== path;
    const schema = isMusic ? MUSIC[route] : MEDIA[path];
    if (path.startsWith(TASK)) return scriptedFor(path) ?? { body: taskIn('RUNNING') };
    if (schema === undefined) return { status: 404, body: { code: 404, msg: 'Not Found' } };
    const { error } = schema.safeParse(body);
    if (error) {
      const message = z.prettifyError(error);
      return isMusic
        ? { body: { code: 400, msg: message, data: null } }
        : { status: 400, body: { code: 'InvalidParameter', message, request_id: 'request' } };
    }
    accepted.push({ path, body });
    return scriptedFor(path) ?? (isMusic ? musicAnswer(route) : mediaAnswer(path));
  }

  function scriptedFor(path: string): Answered | undefined {
    const index = scripted.findIndex((each) => path.includes(each.path));
    return index === -1 ? undefined : scripted.splice(index, 1)[0]?.answer;
  }

  function musicAnswer(route: string): Answered {
    switch (route) {
      case 'timestamped-lyrics':
        return success({
          alignedWords: [{ word: '[Verse]\nRain', success: true, startS: 1.3, endS: 1.8, palign: 0 }],
          waveformData: [0, 0.5],
          hootCer: 0.38,
          isStreamed: false,
        });
      case 'generate-persona':
        return success({ personaId: 'persona', name: 'Ada', description: 'warm' });
      default:
        tasks += 1;
        return success({ taskId: `task-${tasks}` });
    }
  }

  function mediaAnswer(path: string): Answered {
    if (path === VIDEO) return { body: taskIn('PENDING') };
    const content = [{ image: 'https://dashscope.example/a.png' }];
    const choices = [{ finish_reason: 'stop', message: { role: 'assistant', content } }];
    return {
      body: {
        output: { choices },
        usage: { width: 1328, height: 1328, image_count: 1 },
        request_id: 'request',
      },
    };
  }

  const server = createServer((request, response) => {
    text(request).then(
      (sent) => reply(response, answerTo(request.url ?? '', sent === '' ? undefined : JSON.parse(sent))),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Sound: it listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    accepted,
    next: (path, answer) => void scripted.push({ path, answer }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function reply(response: ServerResponse, { status = 200, body }: Answered): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(body === undefined ? '' : JSON.stringify(body));
}

const success = (data: unknown): Answered => ({ body: { code: 200, msg: 'success', data } });

/** The answer to a query of a video task. */
export function taskIn(status: string, output: object = {}): unknown {
  return {
    request_id: 'request',
    output: {
      task_id: 'film-1',
      task_status: status,
      submit_time: '2026-01-01 10:00:00.000',
      scheduled_time: '2026-01-01 10:00:01.000',
      ...output,
    },
  };
}
