import { expect } from 'vitest';
import type { Gateway } from '../../src/gateway/client.ts';
import type { RouteName } from '../../src/gateway/routes.ts';
import { QUESTION, wholeOf } from './support.ts';

/** A route of the contract: the call, the expected request, and all shapes of its response. */
export interface RouteCase {
  route: RouteName;
  call: (gateway: Gateway) => Promise<unknown>;
  sends: { method: 'GET' | 'POST'; path: string; body?: unknown };
  /** Each shape of a response, and the result of the client. */
  shapes: { shape: string; answer: unknown; status?: number; means: unknown }[];
}

const CALLBACK = 'https://bot.example/callbacks/music/job1/c2lnbmF0dXJl';

const TASK_SHAPES: RouteCase['shapes'] = [
  {
    shape: 'sunoapi',
    answer: { code: 200, msg: 'success', data: { taskId: 'task-1' } },
    means: { taskId: 'task-1' },
  },
  { shape: 'snake case', answer: { code: '200', data: { task_id: 'task-1' } }, means: { taskId: 'task-1' } },
  { shape: 'flat', answer: { taskId: 'task-1' }, means: { taskId: 'task-1' } },
  { shape: 'nested', answer: { data: { response: { task_id: 'task-1' } } }, means: { taskId: 'task-1' } },
  {
    shape: 'task object',
    answer: { task: { id: 'task-1', status: 'PENDING' } },
    means: { taskId: 'task-1' },
  },
  { shape: 'numeric id', answer: { data: { taskId: 17 } }, means: { taskId: '17' } },
  { shape: 'empty 202', answer: undefined, status: 202, means: {} },
  { shape: 'accepted without id', answer: { code: 200, msg: 'success', data: null }, means: {} },
  {
    shape: 'the address of the task',
    answer: {
      taskId: 'task-1',
      url: 'https://gateway.example/music/task-1',
      statusUrl: 'https://gateway.example/s',
    },
    means: { taskId: 'task-1' },
  },
  {
    shape: 'a word about the task',
    answer: { taskId: 'task-1', data: 'it was queued' },
    means: { taskId: 'task-1' },
  },
];

const NOTHING = { songs: [], lyrics: [], images: [], stems: [] };
const file = (name: string) => `https://cdn.example/${name}`;
const songs = {
  answer: { data: [{ id: 'a1', audio_url: file('a1.mp3') }] },
  result: { songs: [{ audioId: 'a1', audioUrl: file('a1.mp3') }] },
};

/** Results in the response to a submission. */
const AT_ONCE: Readonly<Partial<Record<RouteName, { answer: object; result: object }>>> = {
  'music/generate': songs,
  'music/extend': songs,
  'music/generate-lyrics': {
    answer: { data: [{ title: 'Rain', text: '[Verse]\nRain' }] },
    result: { lyrics: [{ title: 'Rain', text: '[Verse]\nRain' }] },
  },
  'music/generate-cover': { answer: { images: [file('c')] }, result: { images: [file('c')] } },
  'music/upload-cover': songs,
  'music/upload-extend': songs,
  'music/add-vocals': songs,
  'music/add-instrumental': songs,
  'music/vocal-removal': {
    answer: { drums: file('d'), backingVocals: file('b') },
    result: {
      stems: [
        { name: 'drums', url: file('d') },
        { name: 'backing vocals', url: file('b') },
      ],
    },
  },
  'music/wav-generate': { answer: { audioWavUrl: file('a.wav') }, result: { wavUrl: file('a.wav') } },
  'music/mp4-generate': { answer: { video_url: file('a.mp4') }, result: { videoUrl: file('a.mp4') } },
};

function atOnce(route: RouteName): RouteCase['shapes'] {
  const { answer = {}, result = {} } = AT_ONCE[route] ?? {};
  return [
    {
      shape: 'done at once',
      answer: { taskId: 'task-1', ...answer },
      means: { taskId: 'task-1', result: { ...NOTHING, ...result } },
    },
  ];
}

function submission<T extends object>(
  route: RouteName,
  request: T,
  call: (gateway: Gateway, request: T) => Promise<unknown>,
): RouteCase {
  return {
    route,
    call: (gateway) => call(gateway, request),
    sends: { method: 'POST', path: `/${route}`, body: request },
    shapes: [...TASK_SHAPES, ...atOnce(route)],
  };
}

const song = { model: 'V5', callBackUrl: CALLBACK } as const;
const from = { taskId: 'task-0', audioId: 'audio-0', callBackUrl: CALLBACK };
const upload = { uploadUrl: 'https://bot.example/files/tune.mp3?signature=x', callBackUrl: CALLBACK };

const MUSIC: RouteCase[] = [
  submission(
    'music/generate',
    { ...song, customMode: true, instrumental: false, prompt: '[Verse] La', style: 'lofi', title: 'Rain' },
    (gateway, request) => gateway.music.generate(request),
  ),
  submission(
    'music/extend',
    { ...song, audioId: 'audio-0', defaultParamFlag: false as const },
    (gateway, request) => gateway.music.extend(request),
  ),
  submission('music/generate-lyrics', { prompt: 'rain', callBackUrl: CALLBACK }, (gateway, request) =>
    gateway.music.generateLyrics(request),
  ),
  submission('music/generate-cover', { taskId: 'task-0', callBackUrl: CALLBACK }, (gateway, request) =>
    gateway.music.generateCover(request),
  ),
  submission(
    'music/upload-cover',
    {
      ...song,
      ...upload,
      customMode: true,
      instrumental: true,
      style: 'lofi',
      title: 'Rain',
      personaId: 'p1',
    },
    (gateway, request) => gateway.music.uploadCover(request),
  ),
  submission(
    'music/upload-extend',
    {
      ...song,
      ...upload,
      defaultParamFlag: true as const,
      instrumental: true,
      style: 'lofi',
      title: 'Rain',
      continueAt: 12.5,
    },
    (gateway, request) => gateway.music.uploadExtend(request),
  ),
  submission(
    'music/add-vocals',
    { ...upload, prompt: 'hum', title: 'Rain', style: 'lofi', negativeTags: '' },
    (gateway, request) => gateway.music.addVocals(request),
  ),
  submission(
    'music/add-instrumental',
    { ...upload, title: 'Rain', tags: 'lofi', negativeTags: 'drums', model: 'V5' as const },
    (gateway, request) => gateway.music.addInstrumental(request),
  ),
  submission('music/vocal-removal', { ...from, type: 'split_stem' as const }, (gateway, request) =>
    gateway.music.vocalRemoval(request),
  ),
  submission('music/wav-generate', from, (gateway, request) => gateway.music.wavGenerate(request)),
  submission('music/mp4-generate', from, (gateway, request) => gateway.music.mp4Generate(request)),
  {
    route: 'music/timestamped-lyrics',
    call: (gateway) => gateway.music.timestampedLyrics({ taskId: 'task-0', audioId: 'audio-0' }),
    sends: {
      method: 'POST',
      path: '/music/timestamped-lyrics',
      body: { taskId: 'task-0', audioId: 'audio-0' },
    },
    shapes: [
      ...(
        [
          [
            'sunoapi',
            {
              code: 200,
              data: { alignedWords: [{ word: '[Verse]\nRain ', startS: 1.5, endS: 2, palign: 0 }] },
            },
          ],
          [
            'snake case',
            { data: { aligned_words: [{ word: '[Verse]\nRain ', start_s: '1.5', end_s: '2' }] } },
          ],
          ['flat', { alignedWords: [{ text: '[Verse]\nRain ', startS: 1.5, endS: 2 }] }],
          [
            'unnamed word',
            { data: { alignedWords: [{ w0rd: '[Verse]\nRain ', startS: 1.5, endS: 2 }, null, {}] } },
          ],
        ] as const
      ).map(([shape, answer]) => ({
        shape,
        answer,
        means: [{ word: '[Verse]\nRain ', startSeconds: 1.5, endSeconds: 2 }],
      })),
      {
        shape: 'a take without words',
        answer: { code: 200, data: { alignedWords: [], waveformData: [0, 0.5], hootCer: 0 } },
        means: [],
      },
      { shape: 'a take without words, flat', answer: { alignedWords: [] }, means: [] },
    ],
  },
  {
    route: 'music/style-generate',
    call: (gateway) => gateway.music.styleGenerate({ content: 'lofi' }),
    sends: { method: 'POST', path: '/music/style-generate', body: { content: 'lofi' } },
    shapes: (
      [
        [
          'sunoapi',
          { code: 200, data: { taskId: 't', result: 'dusty lofi', successFlag: '1', errorMessage: '' } },
        ],
        ['flat', { result: 'dusty lofi' }],
        ['named style', { data: { style: ' dusty lofi ' } }],
        ['text as data', { code: 200, data: 'dusty lofi' }],
        ['bare', '"dusty lofi"'],
        ['plain text', 'dusty lofi'],
      ] as const
    ).map(([shape, answer]) => ({ shape, answer, means: 'dusty lofi' })),
  },
  {
    route: 'music/generate-persona',
    call: (gateway) =>
      gateway.music.generatePersona({
        taskId: 'task-0',
        audioId: 'audio-0',
        name: 'Ada',
        description: 'warm',
        vocalStart: 0,
        vocalEnd: 20,
      }),
    sends: {
      method: 'POST',
      path: '/music/generate-persona',
      body: {
        taskId: 'task-0',
        audioId: 'audio-0',
        name: 'Ada',
        description: 'warm',
        vocalStart: 0,
        vocalEnd: 20,
      },
    },
    shapes: [
      {
        shape: 'sunoapi',
        answer: { code: 200, data: { personaId: 'p-1', name: 'Ada', description: 'warm' } },
        means: { personaId: 'p-1' },
      },
      { shape: 'flat', answer: { persona_id: 'p-1' }, means: { personaId: 'p-1' } },
    ],
  },
];

const PICTURE = 'https://cdn.example/p.png?sig=1';
const VIDEO = 'https://cdn.example/v.mp4?sig=1';
const videoBody = { model: 'video-model', input: { prompt: 'rain' } };

const MEDIA: RouteCase[] = [
  {
    route: 'media/image',
    call: (gateway) => gateway.media.createImage({ model: 'image-model', prompt: 'rain', size: '1328*1328' }),
    sends: {
      method: 'POST',
      path: '/v1/media/services/aigc/multimodal-generation/generation',
      body: {
        model: 'image-model',
        input: { messages: [{ role: 'user', content: [{ text: 'rain' }] }] },
        parameters: { size: '1328*1328' },
      },
    },
    shapes: [
      {
        shape: 'contract',
        answer: {
          request_id: 'r1',
          output: { choices: [{ message: { content: [{ image: PICTURE }] } }] },
          usage: { width: 1328, height: '1328', image_count: 1 },
        },
        means: { images: [PICTURE] },
      },
      {
        shape: 'several choices, one without a picture',
        answer: {
          output: {
            choices: [
              { message: { content: [{ text: 'here' }, { image: PICTURE }] } },
              { message: { content: [{ text: 'no' }] } },
              { message: { content: [{ image: `${PICTURE}2` }] } },
            ],
          },
        },
        means: { images: [PICTURE, `${PICTURE}2`] },
      },
      {
        shape: 'results',
        answer: { output: { results: [{ url: PICTURE }, { code: 'X' }] } },
        means: { images: [PICTURE] },
      },
    ],
  },
  {
    route: 'media/video',
    call: (gateway) => gateway.media.createVideo({ model: 'video-model', prompt: 'rain' }),
    sends: {
      method: 'POST',
      path: '/v1/media/services/aigc/video-generation/video-synthesis',
      body: videoBody,
    },
    shapes: [
      {
        shape: 'contract',
        answer: {
          request_id: 'r1',
          output: { task_id: 'v-1', task_status: 'PENDING' },
          metadata: { provider: 'x' },
        },
        means: { taskId: 'v-1' },
      },
      {
        shape: 'flat',
        answer: { taskId: 'v-1', taskStatus: 'RUNNING' },
        means: { taskId: 'v-1' },
      },
      {
        shape: 'no status',
        answer: { output: { task_id: 'v-1' } },
        means: { taskId: 'v-1' },
      },
      {
        shape: 'enveloped',
        answer: { code: 200, data: { output: { task_id: 'v-1', task_status: 'PENDING' } } },
        means: { taskId: 'v-1' },
      },
    ],
  },
  {
    route: 'media/task',
    call: (gateway) => gateway.media.queryVideo('v-1'),
    sends: { method: 'GET', path: '/v1/media/tasks/v-1' },
    shapes: [
      {
        shape: 'contract',
        answer: {
          request_id: 'r1',
          output: {
            task_id: 'v-1',
            task_status: 'SUCCEEDED',
            submit_time: '2026-01-01 00:00:00.000',
            scheduled_time: '2026-01-01 00:00:00.100',
            end_time: '2026-01-01 00:01:00.000',
            orig_prompt: 'rain',
            actual_prompt: 'grey rain',
            video_url: VIDEO,
          },
          usage: {
            duration: 5,
            input_video_duration: 0,
            output_video_duration: 5.04,
            video_count: 1,
            SR: 720,
            ratio: '16:9',
          },
        },
        means: { taskId: 'v-1', status: 'succeeded', videoUrl: VIDEO },
      },
      {
        shape: 'pending',
        answer: { output: { task_id: 'v-1', task_status: 'PENDING', video_url: '' } },
        means: { taskId: 'v-1', status: 'pending' },
      },
      {
        shape: 'failed',
        answer: {
          output: { task_id: 'v-1', task_status: 'FAILED', code: 'DataInspectionFailed', message: 'no' },
        },
        means: {
          taskId: 'v-1',
          status: 'failed',
          failure: { code: 'blocked', gatewayCode: 'DataInspectionFailed', message: 'no' },
        },
      },
      {
        shape: 'failed, flat',
        answer: { task_id: 'v-1', task_status: 'failed', code: 'InternalError.Timeout', message: 'no' },
        means: {
          taskId: 'v-1',
          status: 'failed',
          failure: { code: 'not-made', gatewayCode: 'InternalError.Timeout', message: 'no' },
        },
      },
      {
        shape: 'failed without a reason',
        answer: { output: { task_id: 'v-1', task_status: 'FAILED' } },
        means: { taskId: 'v-1', status: 'failed', failure: { code: 'not-made' } },
      },
      {
        shape: 'suspected of infringement',
        answer: {
          output: { task_id: 'v-1', task_status: 'FAILED', code: 'IPInfringementSuspect', message: 'no' },
        },
        means: {
          taskId: 'v-1',
          status: 'failed',
          failure: { code: 'blocked', gatewayCode: 'IPInfringementSuspect', message: 'no' },
        },
      },
      {
        shape: 'without its input file',
        answer: {
          output: {
            task_id: 'v-1',
            task_status: 'FAILED',
            code: 'InvalidParameter.DataInspection',
            message: 'Unable to download the media resource during the data inspection process.',
          },
        },
        means: {
          taskId: 'v-1',
          status: 'failed',
          failure: {
            code: 'unfetched',
            gatewayCode: 'InvalidParameter.DataInspection',
            message: 'Unable to download the media resource during the data inspection process.',
          },
        },
      },
      {
        shape: 'cancelled',
        answer: { output: { task_id: 'v-1', task_status: 'CANCELED' } },
        means: { taskId: 'v-1', status: 'cancelled', failure: { code: 'cancelled' } },
      },
      {
        shape: 'a word that means neither an end nor a lost task',
        answer: { output: { task_id: 'v-1', task_status: 'PRE-PROCESSING' } },
        means: { taskId: 'v-1', status: 'running' },
      },
      {
        shape: 'a lost task',
        answer: { output: { task_id: 'v-1', task_status: 'UNKNOWN' } },
        means: { taskId: 'v-1', status: 'unknown' },
      },
      {
        shape: 'without an id',
        answer: { output: { task_status: 'SUCCEEDED', video_url: VIDEO } },
        means: { status: 'succeeded', videoUrl: VIDEO },
      },
    ],
  },
];

const textPart = (text: string) => ({
  parts: [{ type: 'text', text }],
  finish: { reason: 'stop', detail: expect.anything() },
});

const ANSWERS: RouteCase[] = [
  {
    route: 'chat/completions',
    call: (gateway) => wholeOf(gateway.chat.stream({ ...QUESTION, system: 'Be brief.' })),
    sends: {
      method: 'POST',
      path: '/chat/v1/chat/completions',
      body: {
        model: 'some-model',
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Why is rain grey?' },
        ],
      },
    },
    shapes: [
      {
        shape: 'openai',
        answer: {
          model: 'some-model-1',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Light.' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
        },
        means: { ...textPart('Light.'), usage: { inputTokens: 7, outputTokens: 2 } },
      },
      {
        shape: 'content in parts, several choices',
        answer: {
          choices: [
            { index: 1, message: { content: 'Other.' }, finish_reason: 'stop' },
            {
              index: 0,
              message: { content: [{ type: 'text', text: 'Li' }, { text: 'ght.' }] },
              finish_reason: 'stop',
            },
          ],
        },
        means: textPart('Light.'),
      },
      {
        shape: 'enveloped',
        answer: { code: 200, data: { choices: [{ message: { content: 'Light.' }, finish_reason: 'stop' }] } },
        means: textPart('Light.'),
      },
      {
        shape: 'refusal',
        answer: { choices: [{ message: { content: null, refusal: 'I will not.' }, finish_reason: 'stop' }] },
        means: {
          parts: [{ type: 'text', text: 'I will not.' }],
          finish: { reason: 'refused', detail: 'stop' },
        },
      },
      {
        shape: 'blocked',
        answer: { choices: [{ message: { content: '' }, finish_reason: 'content_filter' }] },
        means: { parts: [], finish: { reason: 'blocked', detail: 'content_filter' } },
      },
    ],
  },
  {
    route: 'msg/messages',
    call: (gateway) => gateway.msg.complete(QUESTION),
    sends: {
      method: 'POST',
      path: '/msg/v1/messages',
      body: {
        model: 'some-model',
        max_tokens: 4096,
        messages: [{ role: 'user', content: 'Why is rain grey?' }],
      },
    },
    shapes: [
      {
        shape: 'anthropic',
        answer: {
          type: 'message',
          model: 'm1',
          content: [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'text', text: 'Light.' },
            { type: 'new_thing', x: 1 },
          ],
          stop_reason: 'end_turn',
          usage: { input_tokens: 7, output_tokens: 2 },
        },
        means: {
          ...textPart('Light.'),
          parts: [
            { type: 'thought', text: 'Hm.' },
            { type: 'text', text: 'Light.' },
          ],
          usage: { inputTokens: 7, outputTokens: 2 },
        },
      },
      {
        shape: 'content as text',
        answer: { content: 'Light.', stop_reason: 'stop_sequence' },
        means: textPart('Light.'),
      },
      {
        shape: 'enveloped',
        answer: { code: 200, data: { content: [{ text: 'Light.' }], stop_reason: 'end_turn' } },
        means: textPart('Light.'),
      },
      {
        shape: 'cut',
        answer: { content: [], stop_reason: 'max_tokens' },
        means: { parts: [], finish: { reason: 'length', detail: 'max_tokens' } },
      },
    ],
  },
];

const GEN_SHAPES: RouteCase['shapes'] = [
  {
    shape: 'gemini',
    answer: {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ text: 'Hm.', thought: true }, { text: 'Li' }, { text: 'ght.' }],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, thoughtsTokenCount: 3 },
    },
    means: {
      parts: [
        { type: 'thought', text: 'Hm.' },
        { type: 'text', text: 'Light.' },
      ],
      finish: { reason: 'stop', detail: 'STOP' },
      usage: { inputTokens: 7, outputTokens: 5 },
    },
  },
  {
    shape: 'a list of chunks',
    answer: [
      { candidates: [{ content: { parts: [{ text: 'Li' }] } }] },
      { candidates: [{ content: { parts: [{ text: 'ght.' }] }, finishReason: 'STOP' }] },
    ],
    means: { parts: [{ type: 'text', text: 'Light.' }], finish: { reason: 'stop', detail: 'STOP' } },
  },
  {
    shape: 'a blocked prompt',
    answer: { promptFeedback: { blockReason: 'SAFETY' } },
    means: { parts: [], finish: { reason: 'blocked', detail: 'SAFETY' } },
  },
  {
    shape: 'a picture, in snake case',
    answer: {
      candidates: [
        {
          content: { parts: [{ inline_data: { mime_type: 'image/png', data: 'AAAA' } }] },
          finish_reason: 'STOP',
        },
      ],
    },
    means: {
      parts: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }],
      finish: { reason: 'stop', detail: 'STOP' },
    },
  },
  {
    shape: 'a function call',
    answer: {
      candidates: [
        {
          content: {
            parts: [{ functionCall: { name: 'rain', args: { where: 'Oslo' } }, thoughtSignature: 's' }],
          },
          finishReason: 'STOP',
        },
      ],
    },
    means: {
      parts: [{ type: 'tool-call', name: 'rain', arguments: { where: 'Oslo' }, signature: 's' }],
      finish: { reason: 'tool-calls', detail: 'STOP' },
    },
  },
];

const contents = [{ role: 'user', parts: [{ text: 'Why is rain grey?' }] }];
const tools = [
  {
    name: 'rain',
    description: 'Whether it rains',
    parameters: {
      type: 'object',
      properties: { where: { type: 'string', description: 'a town' } },
      required: ['where'],
    },
  },
];

const GEN: RouteCase[] = [
  {
    route: 'gen/stream',
    call: (gateway) => wholeOf(gateway.gen.stream(QUESTION)),
    sends: {
      method: 'POST',
      path: '/gen/v1beta/models/some-model:streamGenerateContent?alt=sse',
      body: { contents },
    },
    shapes: GEN_SHAPES,
  },
  {
    route: 'gen/image',
    call: (gateway) => gateway.gen.generateImage(QUESTION),
    sends: {
      method: 'POST',
      path: '/gen/v1beta/models/some-model:generateContent',
      body: { contents, generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
    },
    shapes: GEN_SHAPES,
  },
  {
    route: 'gen/tools',
    call: (gateway) => gateway.gen.callTools({ ...QUESTION, tools }),
    sends: {
      method: 'POST',
      path: '/v1beta/models/some-model:generateContent',
      body: { contents, tools: [{ functionDeclarations: tools }] },
    },
    shapes: GEN_SHAPES,
  },
  {
    route: 'gen/think',
    call: (gateway) => gateway.gen.think(QUESTION),
    sends: {
      method: 'POST',
      path: '/v1beta/models/some-model:generateContent',
      body: { contents, generationConfig: { thinkingConfig: { thinkingBudget: -1 } } },
    },
    shapes: GEN_SHAPES,
  },
];

/** Every route except the two listings, which have separate tests. Streams get a single body here. */
export const ROUTE_CASES: readonly RouteCase[] = [...MUSIC, ...MEDIA, ...ANSWERS, ...GEN];
