/** Requests to the families' public services. Their strict doubles are in test/public/. */
import { describe, expect, it, vi } from 'vitest';
import type { Gateway } from '../../src/gateway/client.ts';
import { createGateway } from '../../src/gateway/client.ts';
import { type Accounts, GATEWAY_FAMILIES, type GatewayFamily, routeAt } from '../../src/gateway/routes.ts';
import {
  API_KEY,
  answer,
  errorOf,
  gatewayAt,
  QUESTION,
  type Script,
  startServer,
  wholeOf,
} from './support.ts';

const SONG = { model: 'V5', callBackUrl: 'https://bot.example/callbacks/1' } as const;
const system = 'Be brief.';

async function publicAt(script: Script, family: GatewayFamily, options: { models?: string[] } = {}) {
  const server = await startServer(script);
  const accounts: Accounts = {
    [family]: { service: 'public', baseUrl: server.url, apiKey: API_KEY, ...options },
  };
  return { server, gateway: gatewayAt('', { accounts }).gateway };
}

const gives =
  (body: unknown): Script =>
  (_, response) =>
    answer(response, body);

interface PublicCase {
  family: GatewayFamily;
  call: (gateway: Gateway) => Promise<unknown>;
  path: string;
  headers: Record<string, string>;
  body?: object;
}

const bearer = { authorization: `Bearer ${API_KEY}` };
const contents = [{ role: 'user', parts: [{ text: 'Why is rain grey?' }] }];

const CASES: PublicCase[] = [
  {
    family: 'chat',
    call: ({ chat }) => wholeOf(chat.stream({ ...QUESTION, system })),
    path: '/v1/chat/completions',
    headers: bearer,
    body: {
      model: 'some-model',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Why is rain grey?' },
      ],
    },
  },
  {
    family: 'msg',
    call: ({ msg }) => msg.complete({ ...QUESTION, system }),
    path: '/v1/messages',
    headers: { 'x-api-key': API_KEY, 'anthropic-version': '2023-06-01' },
    body: {
      model: 'some-model',
      max_tokens: 4096,
      system,
      messages: [{ role: 'user', content: 'Why is rain grey?' }],
    },
  },
  {
    family: 'gen',
    call: ({ gen }) => wholeOf(gen.stream({ ...QUESTION, system })),
    path: '/v1beta/models/some-model:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': API_KEY },
    body: { contents, systemInstruction: { parts: [{ text: system }] } },
  },
  {
    family: 'media',
    call: ({ media }) => media.createImage({ model: 'wan2.6-t2i', prompt: 'rain' }),
    path: '/api/v1/services/aigc/multimodal-generation/generation',
    headers: bearer,
    body: {
      model: 'wan2.6-t2i',
      input: { messages: [{ role: 'user', content: [{ text: 'rain' }] }] },
      parameters: { n: 1 },
    },
  },
  {
    family: 'media',
    call: ({ media }) =>
      media.createVideo({ model: 'wan2.6-i2v', prompt: 'rain', resolution: '720P', duration: 5 }),
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    headers: { ...bearer, 'x-dashscope-async': 'enable' },
    body: { model: 'wan2.6-t2v', input: { prompt: 'rain' }, parameters: { duration: 5, size: '1280*720' } },
  },
  {
    family: 'media',
    call: ({ media }) =>
      media.createVideo({ model: 'wan2.6-t2v', imageUrl: 'https://bot.example/p.png', resolution: '720P' }),
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    headers: { ...bearer, 'x-dashscope-async': 'enable' },
    body: {
      model: 'wan2.6-i2v',
      input: { img_url: 'https://bot.example/p.png' },
      parameters: { resolution: '720P' },
    },
  },
  {
    family: 'media',
    call: ({ media }) =>
      media.createVideo({
        model: 'wan2.10-t2v',
        imageUrl: 'https://bot.example/p.png',
        audioUrl: 'https://bot.example/a.mp3',
      }),
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    headers: bearer,
    body: {
      model: 'wan2.10-i2v',
      input: {
        media: [
          { type: 'first_frame', url: 'https://bot.example/p.png' },
          { type: 'driving_audio', url: 'https://bot.example/a.mp3' },
        ],
      },
    },
  },
  {
    family: 'media',
    call: ({ media }) => media.queryVideo('task-1'),
    path: '/api/v1/tasks/task-1',
    headers: bearer,
  },
  {
    family: 'music',
    call: ({ music }) => music.generate({ ...SONG, customMode: false, instrumental: true, prompt: 'rain' }),
    path: '/api/v1/generate',
    headers: bearer,
    body: { ...SONG, customMode: false, instrumental: true, prompt: 'rain' },
  },
  {
    family: 'music',
    call: ({ music }) => music.generateLyrics({ prompt: 'rain', callBackUrl: SONG.callBackUrl }),
    path: '/api/v1/lyrics',
    headers: bearer,
    body: { prompt: 'rain', callBackUrl: SONG.callBackUrl },
  },
];

it.each(CASES)(
  '$family sends $path as its service documents it',
  async ({ family, call, path, headers, body }) => {
    const { server, gateway } = await publicAt(gives({}), family);
    // Empty answers are not usable. Only the request matters here.
    await call(gateway).catch(() => undefined);
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({ path, headers });
    expect(server.received[0]?.body).toEqual(body);
  },
);

describe('a base URL', () => {
  it.each([
    ['chat', 'https://api.example', 'https://api.example/v1/models'],
    ['chat', 'https://api.example/openai/v1/', 'https://api.example/openai/v1/models'],
    ['chat', 'https://api.example/api/paas/v4', 'https://api.example/api/paas/v4/models'],
    ['msg', 'https://api.example', 'https://api.example/v1/models?limit=1000'],
    ['msg', 'https://api.example/anthropic', 'https://api.example/anthropic/v1/models?limit=1000'],
    ['msg', 'https://api.example/v1', 'https://api.example/v1/models?limit=1000'],
    ['gen', 'https://api.example', 'https://api.example/v1beta/models?pageSize=1000'],
    ['gen', 'https://api.example/v1beta', 'https://api.example/v1beta/models?pageSize=1000'],
  ] as const)('of %s may be %s', (family, baseUrl, url) => {
    expect(routeAt(`${family}/models`, { service: 'public', baseUrl })?.url).toBe(url);
  });

  it('of a local chat service needs no key, and then none is sent', async () => {
    const server = await startServer(gives({ data: [{ id: 'llama3.2' }] }));
    const accounts: Accounts = { chat: { service: 'public', baseUrl: `${server.url}/v1` } };
    const { gateway } = gatewayAt('', { accounts });
    expect((await gateway.models.refresh()).map(({ id }) => id)).toEqual(['llama3.2']);
    expect(server.received[0]?.headers.authorization).toBeUndefined();
  });
});

describe('a family without a service', () => {
  it('sends nothing, and the error names the reason', async () => {
    const { server, gateway } = await publicAt(gives({}), 'chat');
    const error = await errorOf(gateway.music.styleGenerate({ content: 'lofi' }));
    expect(error).toMatchObject({ code: 'no-service', taken: 'no', retryable: false });
    expect(await errorOf(gateway.msg.complete(QUESTION))).toMatchObject({ code: 'no-service' });
    expect(server.received).toEqual([]);
  });

  it('is not among the dialects', async () => {
    const { gateway } = await publicAt(gives({}), 'gen');
    expect(gateway.models.dialects).toEqual(['gen']);
    expect(
      createGateway({
        accounts: {},
        fetch,
        now: Date.now,
        elapsed: Date.now,
        random: () => 0,
        sleep: vi.fn(),
      }).models.dialects,
    ).toEqual([]);
  });
});

describe('the models of public services', () => {
  it('of OpenAI are for answers, except those that cannot answer', async () => {
    const ids = ['whisper-1', 'text-embedding-3-small', 'gpt-4.1', 'gpt-5-mini', 'gpt-image-1', 'tts-1'];
    const { gateway } = await publicAt(
      gives({ object: 'list', data: ids.map((id, created) => ({ id, object: 'model', created })) }),
      'chat',
    );
    const models = await gateway.models.refresh();
    expect(models.flatMap(({ id, uses = [] }) => (uses.length > 0 ? [id] : []))).toEqual([
      'gpt-4.1',
      'gpt-5-mini',
    ]);
    expect(gateway.models.preferred('answers')?.id).toBe('gpt-5-mini');
    expect(gateway.models.preferred('pictures')).toBeUndefined();
  });

  it.each([
    ['meta-llama/Llama-3.1-8B-Instruct', true],
    ['qwen2.5-7b-instruct', true],
    ['mistral-small-latest', true],
    ['democracy-7b', true],
    ['nomic-embed-text:latest', false],
    ['bge-reranker-v2', false],
    ['gpt-3.5-turbo-instruct', false],
    ['gpt-4o-mini-transcribe', false],
    ['gpt-5.1-codex-mini', false],
  ])('of a list without hints answer by their names: %s, %s', async (id, answers) => {
    const { gateway } = await publicAt(gives({ data: [{ id }] }), 'chat');
    expect((await gateway.models.refresh()).map(({ uses }) => uses)).toEqual([answers ? ['answers'] : []]);
  });

  it('delay a question only briefly', async () => {
    const { gateway } = await publicAt(() => new Promise(() => undefined), 'chat');
    await gateway.models.ready();
    expect(gateway.models.preferred('answers')).toBeUndefined();
  });

  it('of DashScope come before those of Google for images', async () => {
    const server = await startServer(
      gives({ models: [{ name: 'models/gemini-image', supportedGenerationMethods: ['generateContent'] }] }),
    );
    const account = { service: 'public', baseUrl: server.url, apiKey: API_KEY } as const;
    const { gateway } = gatewayAt('', {
      accounts: { gen: account, media: { ...account, models: ['my-image', 'other-image-flash'] } },
    });
    await gateway.models.refresh();
    expect(gateway.models.preferred('pictures')?.id).toBe('my-image');
  });

  it('may read images, unless the list denies it', async () => {
    const { gateway } = await publicAt(
      gives({
        data: [
          { id: 'unknown' },
          { id: 'blind', capabilities: { completion_chat: true, vision: false } },
          {
            id: 'seeing',
            architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
          },
          { id: 'text', architecture: { input_modalities: ['text'], output_modalities: ['text'] } },
        ],
      }),
      'chat',
    );
    await gateway.models.refresh();
    const reading = ['unknown', 'blind', 'seeing', 'text'].filter((id) => gateway.models.readsImages(id));
    expect(reading).toEqual(['unknown', 'seeing']);
  });

  it('of Anthropic are fetched page by page, the newest small one preferred', async () => {
    const { server, gateway } = await publicAt(
      (request, response) =>
        answer(
          response,
          request.path.includes('after_id')
            ? {
                data: [{ id: 'claude-haiku-4-5', display_name: 'Claude Haiku 4.5' }],
                has_more: false,
                last_id: 'x',
              }
            : {
                data: [{ id: 'claude-opus-4-6', type: 'model' }],
                has_more: true,
                last_id: 'claude-opus-4-6',
              },
        ),
      'msg',
    );
    const models = await gateway.models.refresh();
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1/models?limit=1000',
      '/v1/models?limit=1000&after_id=claude-opus-4-6',
    ]);
    expect(models.map(({ id, listedBy, routes }) => [id, listedBy, routes])).toEqual([
      ['claude-opus-4-6', ['msg'], ['msg']],
      ['claude-haiku-4-5', ['msg'], ['msg']],
    ]);
    expect(gateway.models.preferred('answers')?.id).toBe('claude-haiku-4-5');
  });

  it('of Google are fetched page by page, without those that generate no content', async () => {
    const model = (name: string, ...supportedGenerationMethods: string[]) => ({
      name: `models/${name}`,
      displayName: name.toUpperCase(),
      supportedGenerationMethods,
    });
    const { server, gateway } = await publicAt(
      (request, response) =>
        answer(
          response,
          request.path.includes('pageToken')
            ? { models: [model('gemini-2.5-flash-image', 'generateContent')] }
            : {
                models: [
                  model('imagen-4.0', 'predict'),
                  model('text-embedding-004', 'embedContent'),
                  model('gemini-2.5-flash', 'generateContent', 'countTokens'),
                ],
                nextPageToken: 'next=1',
              },
        ),
      'gen',
    );
    const models = await gateway.models.refresh();
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1beta/models?pageSize=1000',
      '/v1beta/models?pageSize=1000&pageToken=next%3D1',
    ]);
    expect(models.map(({ id, uses, routes }) => ({ id, uses, routes }))).toEqual([
      { id: 'gemini-2.5-flash', uses: ['answers'], routes: ['gen'] },
      { id: 'gemini-2.5-flash-image', uses: ['pictures', 'answers'], routes: ['gen'] },
    ]);
    expect(gateway.models.preferred('pictures')?.id).toBe('gemini-2.5-flash-image');
  });

  it('of DashScope are the known ones, or those in the settings, without a request', async () => {
    const known = await publicAt(gives({}), 'media');
    await known.gateway.models.refresh();
    expect(known.gateway.models.preferred('pictures')?.id).toBe('qwen-image-plus');
    expect(known.gateway.models.preferred('videos')?.id).toBe('wan2.6-t2v');
    const set = await publicAt(gives({}), 'media', { models: ['wan9-t2v', 'my-image'] });
    await set.gateway.models.refresh();
    expect(set.gateway.models.cached().map(({ id, uses }) => [id, uses])).toEqual([
      ['wan9-t2v', ['videos']],
      ['my-image', ['pictures']],
    ]);
    expect([...known.server.received, ...set.server.received]).toEqual([]);
  });

  it('may have any name if the service has no list', async () => {
    const server = await startServer((request, response) =>
      request.path.startsWith('/chat/')
        ? answer(response, { error: { message: 'not found' } }, { status: 404 })
        : answer(response, { data: [{ id: 'claude' }] }),
    );
    const at = (path: string) =>
      ({ service: 'public', baseUrl: `${server.url}${path}`, apiKey: API_KEY }) as const;
    const { gateway } = gatewayAt('', { accounts: { chat: at('/chat/v1'), msg: at('/msg') } });
    await gateway.models.refresh();
    expect(gateway.models.resolve('sonar')).toEqual({ kind: 'unlisted' });
    expect(gateway.models.resolve('claude')).toMatchObject({ kind: 'id' });
  });

  it('of a gateway are listed with them, even if it supports neither chat nor msg', async () => {
    const server = await startServer((request, response) =>
      answer(response, { data: [{ id: request.path.startsWith('/own') ? 'gpt-5-mini' : 'canvas-plus' }] }),
    );
    const gatewayAccount = { service: 'gateway', baseUrl: server.url, apiKey: API_KEY } as const;
    const own = (path: string) =>
      ({ service: 'public', baseUrl: `${server.url}/own${path}`, apiKey: API_KEY }) as const;
    const accounts = { chat: own('/chat/v1'), msg: own('/msg'), media: gatewayAccount };
    const { gateway } = gatewayAt('', { accounts });
    expect((await gateway.models.refresh()).map(({ id }) => id)).toEqual(['gpt-5-mini', 'canvas-plus']);
    expect(server.received.map(({ path }) => path).sort()).toEqual([
      '/chat/v1/models',
      '/own/chat/v1/models',
      '/own/msg/v1/models?limit=1000',
    ]);
  });
});

describe('the check of a key', () => {
  const PATHS = {
    chat: '/v1/models',
    msg: '/v1/models?limit=1000',
    gen: '/v1beta/models?pageSize=1000',
    media: '/api/v1/tasks/00000000-0000-4000-8000-000000000000',
    music: '/api/v1/generate/credit',
  } as const satisfies Record<GatewayFamily, string>;

  it.each(GATEWAY_FAMILIES)('of %s is one free request', async (family) => {
    const { server, gateway } = await publicAt(gives({ code: 200, data: [] }), family);
    await gateway.checkKey(family);
    expect(server.received.map(({ method, path }) => [method, path])).toEqual([['GET', PATHS[family]]]);
  });

  it.each(GATEWAY_FAMILIES)('of %s fails if the service rejects it', async (family) => {
    const refusal = {
      code: 'InvalidApiKey',
      message: 'no',
      error: { type: 'authentication_error', message: 'no' },
    };
    const { gateway } = await publicAt((_, response) => answer(response, refusal, { status: 401 }), family);
    expect(await errorOf(gateway.checkKey(family))).toMatchObject({ code: 'auth' });
  });

  it('of media succeeds if the service only reports an unknown task', async () => {
    const missing = { code: 'InvalidParameter', message: 'task not found', request_id: 'r' };
    const { gateway } = await publicAt((_, response) => answer(response, missing, { status: 400 }), 'media');
    await gateway.checkKey('media');
  });
});
