/**
 * sunoapi.org, as documented: https://docs.sunoapi.org/suno-api/quickstart and the page of each route and its callback.
 * Errors are in the `code` of a body with status 200.
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

/** `{"code", "msg", "data"}`. */
export const sunoAnswer = (code: number, msg: string, data: unknown = null): ServiceAnswer => ({
  body: { code, msg, data },
});
const success = (data: unknown) => sunoAnswer(200, 'success', data);
const refuse = (code: number, msg: string) => new Refusal(sunoAnswer(code, msg));

const url = z.url();
const id = z.string().min(1);
const callBackUrl = url;
const model = z.enum(['V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5', 'V5_5']);
/** The models of add-vocals and add-instrumental. */
const addModel = z.enum(['V4_5PLUS', 'V5', 'V5_5']).optional();
const vary = {
  negativeTags: z.string().optional(),
  vocalGender: z.enum(['m', 'f']).optional(),
  styleWeight: z.number().min(0).max(1).optional(),
  weirdnessConstraint: z.number().min(0).max(1).optional(),
  audioWeight: z.number().min(0).max(1).optional(),
};
const texts = { prompt: z.string().optional(), style: z.string().optional(), title: z.string().optional() };
const song = { ...texts, ...vary, model, callBackUrl, personaId: id.optional() };

interface Texts {
  readonly model?: z.infer<typeof model> | undefined;
  readonly prompt?: string | undefined;
  readonly style?: string | undefined;
  readonly title?: string | undefined;
  readonly instrumental?: boolean | undefined;
}

const TOO_LONG = 'too long';

/** “V4: 3000, 200 and 80 characters. V4_5 and later: 5000, 1000 and 100”, 80 for a title of V4_5ALL. */
function isWithin({ model: name = 'V5', ...given }: Texts): boolean {
  const most = {
    prompt: name === 'V4' ? 3000 : 5000,
    style: name === 'V4' ? 200 : 1000,
    title: name === 'V4' || name === 'V4_5ALL' ? 80 : 100,
  };
  return (['prompt', 'style', 'title'] as const).every((field) => (given[field]?.length ?? 0) <= most[field]);
}

/** “style, title and prompt are required (with prompt used as the exact lyrics)”, without `prompt` if instrumental. */
const hasSongTexts = ({ style, title, prompt, instrumental }: Texts) =>
  Boolean(style && title && (instrumental || prompt));

/** “When customMode is false, only prompt is required … other parameters should be left empty.” */
const isSimple = ({ prompt = '', style, title }: Texts) => prompt !== '' && !style && !title;

const composed = z
  .strictObject({ ...song, customMode: z.boolean(), instrumental: z.boolean(), uploadUrl: url.optional() })
  .refine((sent) => (sent.customMode ? hasSongTexts(sent) : isSimple(sent)), 'the mode needs other texts')
  .refine((sent) => (sent.customMode ? isWithin(sent) : (sent.prompt ?? '').length <= 500), TOO_LONG);

/** “continueAt: greater than 0 and less than the length of the audio”, in seconds. */
const continueAt = z.number().positive().optional();
const hasContinuation = (sent: Texts & { readonly continueAt?: number | undefined }) =>
  hasSongTexts(sent) && sent.continueAt !== undefined;

/** “The model must be consistent with the source audio”, which this double does not check. */
const extended = z
  .strictObject({ ...song, audioId: id, defaultParamFlag: z.boolean(), continueAt })
  .refine((sent) => !sent.defaultParamFlag || hasContinuation(sent), 'the parameters are incomplete')
  .refine(isWithin, TOO_LONG);
const uploadExtended = z
  .strictObject({
    ...song,
    uploadUrl: url,
    defaultParamFlag: z.boolean(),
    instrumental: z.boolean().optional(),
    continueAt,
  })
  .refine((sent) => !sent.defaultParamFlag || hasContinuation(sent), 'the parameters are incomplete')
  .refine(isWithin, TOO_LONG);

const take = { taskId: id, audioId: id };

type Kind = 'songs' | 'lyrics' | 'cover' | 'stems' | 'wav' | 'video';

interface Route {
  readonly schema: z.ZodType<object>;
  /** The content of the callback. Absent for routes that answer at once. */
  readonly kind?: Kind;
  /** “Each … can only be created once”: the code of the second request. */
  readonly once?: { readonly code: number; readonly msg: string };
}

const ROUTES: Readonly<Record<string, Route>> = {
  '/generate': { schema: composed, kind: 'songs' },
  '/generate/upload-cover': { schema: composed.and(z.looseObject({ uploadUrl: url })), kind: 'songs' },
  '/generate/extend': { schema: extended, kind: 'songs' },
  '/generate/upload-extend': { schema: uploadExtended, kind: 'songs' },
  '/generate/add-vocals': {
    schema: z
      .strictObject({
        ...vary,
        uploadUrl: url,
        prompt: z.string().min(1),
        title: z.string().min(1),
        style: z.string().min(1),
        negativeTags: z.string(),
        callBackUrl,
        model: addModel,
      })
      .refine(isWithin, TOO_LONG),
    kind: 'songs',
  },
  // Its style is called `tags`.
  '/generate/add-instrumental': {
    schema: z
      .strictObject({
        ...vary,
        uploadUrl: url,
        title: z.string().min(1),
        tags: z.string().min(1),
        negativeTags: z.string(),
        callBackUrl,
        model: addModel,
      })
      .refine(({ tags: style, title }) => isWithin({ style, title }), TOO_LONG),
    kind: 'songs',
  },
  '/lyrics': {
    // “The maximum is 200 words.”
    schema: z
      .strictObject({ prompt: z.string().min(1), callBackUrl })
      .refine(({ prompt }) => prompt.split(/\s+/).length <= 200, TOO_LONG),
    kind: 'lyrics',
  },
  '/suno/cover/generate': {
    schema: z.strictObject({ taskId: id, callBackUrl }),
    kind: 'cover',
    once: { code: 400, msg: 'Cover has already been generated for this task' },
  },
  '/vocal-removal/generate': {
    schema: z.strictObject({
      ...take,
      type: z.enum(['separate_vocal', 'split_stem']).optional(),
      callBackUrl,
    }),
    kind: 'stems',
  },
  '/wav/generate': {
    schema: z.strictObject({ ...take, callBackUrl }),
    kind: 'wav',
    once: { code: 409, msg: 'WAV record already exists' },
  },
  '/mp4/generate': {
    schema: z.strictObject({
      ...take,
      callBackUrl,
      author: z.string().max(50).optional(),
      domainName: z.string().max(50).optional(),
    }),
    kind: 'video',
  },
  '/generate/get-timestamped-lyrics': {
    schema: z.strictObject({ taskId: id, audioId: id.optional(), musicIndex: z.literal([0, 1]).optional() }),
  },
  '/style/generate': { schema: z.strictObject({ content: z.string().min(1) }) },
  '/generate/generate-persona': {
    // “The vocal segment must be between 10 and 30 seconds”: https://docs.kie.ai/suno-api/generate-persona.
    schema: z
      .strictObject({
        ...take,
        name: z.string().min(1),
        description: z.string().min(1),
        vocalStart: z.number().min(0).optional(),
        vocalEnd: z.number().min(0).optional(),
        style: z.string().optional(),
      })
      .refine(({ vocalStart = 0, vocalEnd = 30 }) => {
        const seconds = vocalEnd - vocalStart;
        return seconds >= 10 && seconds <= 30;
      }, 'the vocal segment must be between 10 and 30 seconds'),
    once: { code: 409, msg: 'Persona already exists for this music' },
  },
};

/** The members that decide what the double does with a valid request. */
const known = z.object({
  callBackUrl: z.string().optional(),
  uploadUrl: z.string().optional(),
  taskId: z.string().optional(),
  audioId: z.string().optional(),
  personaId: z.string().optional(),
  prompt: z.string().optional(),
  title: z.string().optional(),
  style: z.string().optional(),
  tags: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  content: z.string().optional(),
  type: z.string().optional(),
});
type Sent = z.infer<typeof known>;

export interface SunoOptions {
  /** Fetches uploads and sends callbacks. Without it, tests send them. */
  readonly fetch?: typeof globalThis.fetch;
  /** Called before each callback, which waits for it. */
  readonly beforeCallback?: (body: object) => Promise<void>;
  /** Songs of earlier days: pairs of task and audio. */
  readonly takes?: readonly { readonly taskId: string; readonly audioId: string }[];
}

export interface SunoFailure {
  readonly code: number;
  readonly msg: string;
}

export interface Suno extends Service {
  /** The next task fails with this. */
  failNext(failure: SunoFailure): void;
  /** Sends the last callback again. */
  repeatLast(): Promise<void>;
  /** Resolves once every callback is delivered. */
  idle(): Promise<void>;
}

export async function startSuno(options: SunoOptions = {}): Promise<Double<Suno>> {
  return startDouble(createSuno(options));
}

const BASE = '/api/v1';

export function createSuno({ fetch, beforeCallback, takes = [] }: SunoOptions = {}): Suno {
  /** Finished songs: audio by task. */
  const songs = new Map<string, string[]>(takes.map(({ taskId, audioId }) => [taskId, [audioId]]));
  const personas = new Set<string>();
  const once = new Set<string>();
  const running = new Set<Promise<void>>();
  let repeat = async (): Promise<void> => undefined;
  const failures: SunoFailure[] = [];
  let tasks = 0;

  const onceKey = (route: string, { taskId, audioId }: Sent) => [route, taskId, audioId].join(' ');

  /** Throws a refusal for unknown IDs, or for a second request where one is allowed. */
  function checkIds(route: string, sent: Sent): void {
    const { taskId, audioId, personaId } = sent;
    const audios = taskId === undefined ? [...songs.values()].flat() : songs.get(taskId);
    if (audios === undefined || (audioId !== undefined && !audios.includes(audioId)))
      throw refuse(400, 'The task or the audio does not exist');
    if (personaId !== undefined && !personas.has(personaId)) throw refuse(400, 'The persona does not exist');
    const { once: limit } = ROUTES[route] ?? {};
    if (limit && once.has(onceKey(route, sent))) throw refuse(limit.code, limit.msg);
  }

  function start(kind: Kind, sent: Sent): ServiceAnswer {
    tasks += 1;
    const taskId = `task-${tasks}`;
    if (fetch) {
      const work = deliver(fetch, { kind, sent, taskId }).catch(() => undefined);
      running.add(work);
      void work.then(() => running.delete(work));
    }
    return success({ taskId });
  }

  interface Task {
    readonly kind: Kind;
    readonly sent: Sent;
    readonly taskId: string;
  }

  async function deliver(fetching: typeof globalThis.fetch, { kind, sent, taskId }: Task): Promise<void> {
    const { callBackUrl: to = '', uploadUrl } = sent;
    const failure = failures.shift();
    const failed = ({ code, msg }: SunoFailure) =>
      callBack(fetching, to, { code, msg, data: { callbackType: 'error', task_id: taskId, data: null } });
    if (failure) return failed(failure);
    if (uploadUrl !== undefined) {
      const upload = await fetching(uploadUrl).catch(() => undefined);
      await upload?.arrayBuffer();
      if (upload?.ok !== true) return failed({ code: 451, msg: 'Failed to download the uploaded audio' });
    }
    if (kind === 'songs') songs.set(taskId, [`${taskId}-a`, `${taskId}-b`]);
    for (const body of callbacksOf({ kind, sent, taskId }, service.origin)) {
      await beforeCallback?.(body);
      repeat = () => callBack(fetching, to, body);
      await repeat();
    }
  }

  function answerAt(route: string, sent: Sent): ServiceAnswer {
    switch (route) {
      case '/generate/get-timestamped-lyrics':
        return success({
          alignedWords: ['[Verse]\nRain', 'falls\n', 'On', 'tin', 'roofs\n', '[Chorus]\nStay', 'dry\n'].map(
            (word, index) => ({ word, success: true, startS: index, endS: index + 0.8, palign: 0 }),
          ),
          waveformData: [0, 0.5],
          hootCer: 0.38,
          isStreamed: false,
        });
      case '/style/generate':
        return success({
          taskId: 'style-1',
          param: JSON.stringify({ content: sent.content }),
          result: `${sent.content}, with warm strings`,
          creditsConsumed: 0.5,
          creditsRemaining: 99.5,
          successFlag: '1',
          errorCode: null,
          errorMessage: '',
          createTime: '2026-01-01 10:00:00',
        });
      default: {
        const personaId = `persona-${sent.audioId}`;
        personas.add(personaId);
        return success({ personaId, name: sent.name, description: sent.description });
      }
    }
  }

  const service = createService({
    check(request) {
      const { method, path } = request;
      if (method === 'GET' && fileAt(path)) return undefined;
      if (request.headers.authorization !== `Bearer ${SERVICE_KEY}`)
        throw refuse(401, 'You do not have access permissions');
      if (method === 'GET' && path === `${BASE}/generate/credit`) return undefined;
      const route = path.slice(BASE.length);
      const { schema } = (path.startsWith(BASE) && method === 'POST' && ROUTES[route]) || {};
      if (schema === undefined) throw refuse(404, `The path ${path} is not available`);
      const body = checkBody(schema, request);
      checkIds(route, known.parse(body));
      return body;
    },
    respond({ path }, body) {
      const file = fileAt(path);
      if (file) return { headers: { 'content-type': file.type }, body: file.bytes };
      if (body === undefined) return success(100);
      const route = path.slice(BASE.length);
      const sent = known.parse(body);
      once.add(onceKey(route, sent));
      const { kind } = ROUTES[route] ?? {};
      return kind === undefined ? answerAt(route, sent) : start(kind, sent);
    },
    close: async () => void (await Promise.all(running)),
  });
  return Object.assign(service, {
    failNext: (failure: SunoFailure) => void failures.push(failure),
    repeatLast: () => repeat(),
    idle: async () => void (await Promise.all(running)),
  });
}

function checkBody(schema: z.ZodType<object>, request: ServiceRequest): object {
  const { data, error } = schema.safeParse(parsedBody(request, (message) => refuse(400, message)));
  if (data !== undefined) return data;
  const message = error.issues[0]?.message ?? '';
  // “413 - Theme or prompt too long.”
  throw message === TOO_LONG ? refuse(413, 'Theme or prompt too long') : refuse(400, z.prettifyError(error));
}

/** “If 3 consecutive retries fail, the system stops sending.” */
export async function callBack(fetching: typeof globalThis.fetch, to: string, body: object): Promise<void> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  for (let tries = 0; tries < 4; tries += 1) {
    const response = await fetching(to, init).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
  }
}

interface Finished {
  readonly kind: Kind;
  readonly sent: Sent;
  readonly taskId: string;
}

/** The callbacks of a task, in the order of their stages. Lyrics and covers have `taskId`, the rest `task_id`. */
function callbacksOf({ kind, sent, taskId }: Finished, origin: string): object[] {
  const file = (name: string) => `${origin}/files/${taskId}-${name}`;
  const staged = (callbackType: string, data: readonly object[], msg: string) => ({
    code: 200,
    msg,
    data: { callbackType, task_id: taskId, data },
  });
  switch (kind) {
    case 'songs': {
      const tracks = ['a', 'b'].map((letter) => songItem(letter, { taskId, sent, file }));
      const silent = {
        audio_url: '',
        source_audio_url: '',
        stream_audio_url: '',
        source_stream_audio_url: '',
      };
      const withoutAudio = tracks.map((track) => ({ ...track, ...silent, duration: null }));
      return [
        staged('text', withoutAudio, 'Text generated successfully.'),
        staged(
          'first',
          [...tracks.slice(0, 1), ...withoutAudio.slice(1)],
          'First track generated successfully.',
        ),
        staged('complete', tracks, 'All generated successfully.'),
      ];
    }
    case 'lyrics': {
      const variant = (title: string) => ({
        text: `[Verse]\n${sent.prompt}\n\n[Chorus]\n${title}`,
        title,
        status: 'complete',
        errorMessage: '',
      });
      const data = [variant('Iron Sky'), variant('Tin Roof')];
      return [
        { code: 200, msg: 'All generated successfully.', data: { callbackType: 'complete', taskId, data } },
      ];
    }
    case 'cover':
      return [{ code: 200, msg: 'success', data: { taskId, images: [file('1.png'), file('2.png')] } }];
    case 'stems': {
      const names = sent.type === 'split_stem' ? STEMS : ['vocal', 'instrumental'];
      const urls = Object.fromEntries(names.map((name) => [`${name}_url`, file(`${name}.mp3`)]));
      const data = { task_id: taskId, vocal_removal_info: { origin_url: '', ...urls } };
      return [{ code: 200, msg: 'vocal Removal generated successfully.', data }];
    }
    case 'wav':
      return [{ code: 200, msg: 'success', data: { task_id: taskId, audioWavUrl: file('song.wav') } }];
    case 'video':
      return [
        {
          code: 200,
          msg: 'MP4 generated successfully.',
          data: { task_id: taskId, video_url: file('film.mp4') },
        },
      ];
    default:
      return kind satisfies never;
  }
}

/** https://docs.sunoapi.org/suno-api/separate-vocals-from-music-callbacks */
const STEMS = [
  'backing_vocals',
  'bass',
  'brass',
  'drums',
  'fx',
  'guitar',
  'keyboard',
  'percussion',
  'strings',
  'synth',
  'vocal',
  'woodwinds',
];

/** https://docs.sunoapi.org/suno-api/generate-music-callbacks */
function songItem(
  letter: string,
  { taskId, sent, file }: { taskId: string; sent: Sent; file: (name: string) => string },
) {
  const audio = file(`${letter}.mp3`);
  const image = file(`${letter}.png`);
  return {
    id: `${taskId}-${letter}`,
    audio_url: audio,
    source_audio_url: audio,
    stream_audio_url: audio,
    source_stream_audio_url: audio,
    image_url: image,
    source_image_url: image,
    prompt: `[Verse]\n${sent.prompt ?? ''}`,
    model_name: 'chirp-crow',
    title: sent.title ?? 'Iron Sky',
    tags: sent.style ?? sent.tags ?? 'indie folk',
    createTime: '2026-01-01 10:00:00',
    duration: 12.02,
  };
}
