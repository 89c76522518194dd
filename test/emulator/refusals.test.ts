import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { MUSIC_ROUTES } from '../fixtures/music-routes.ts';
import { get, post } from './harness.ts';
import { SHAPES } from './shapes.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ speed: 0, songSeconds: 3, shape: SHAPES.flat });
});
afterAll(() => emulator.close());

const callBackUrl = 'http://127.0.0.1:9/never';
const messages = [{ role: 'user', content: 'hi' }];
const contents = [{ parts: [{ text: 'hi' }] }];
const song = { customMode: false, instrumental: true, model: 'V5', prompt: 'rain', callBackUrl };
const image = {
  model: 'canvas-plus',
  input: { messages: [{ role: 'user', content: [{ text: 'a boat' }] }] },
};
const video = { model: 'reel-standard', input: { prompt: 'a boat' } };
const paths = {
  music: '/music/generate',
  image: '/v1/media/services/aigc/multimodal-generation/generation',
  video: '/v1/media/services/aigc/video-generation/video-synthesis',
  videoAlternate: '/media/v1/services/aigc/video-generation/video-synthesis',
  chat: '/chat/v1/chat/completions',
  msg: '/msg/v1/messages',
  count: '/msg/v1/messages/count_tokens',
  gen: '/gen/v1beta/models/facet-text:generateContent',
  stream: '/gen/v1beta/models/facet-text:streamGenerateContent?alt=sse',
  draw: '/gen/v1beta/models/facet-picture:generateContent',
  tools: '/v1beta/models/facet-tools:generateContent',
  think: '/v1beta/models/facet-thinker-preview:generateContent',
} as const;

const musicPaths = MUSIC_ROUTES.map((name) => `/music/${name}`);

/** A refusal in each dialect. */
const dialects = {
  music: { code: expect.any(Number), msg: expect.any(String) },
  media: { code: expect.any(String), message: expect.any(String), request_id: expect.any(String) },
  chat: { error: { message: expect.any(String), type: expect.any(String), param: null } },
  msg: {
    type: 'error',
    error: { type: expect.any(String), message: expect.any(String) },
    request_id: expect.any(String),
  },
  gen: { error: { code: expect.any(Number), message: expect.any(String), status: expect.any(String) } },
} as const;

async function send(path: string, headers: Record<string, string>, body: unknown = {}) {
  const response = await fetch(emulator.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe('headers', () => {
  const bearer = [
    ...musicPaths.map((path) => [path, dialects.music, song] as const),
    [paths.image, dialects.media, image],
    [paths.video, dialects.media, video],
    [paths.videoAlternate, dialects.media, video],
    [paths.chat, dialects.chat, { model: 'chat-small', messages }],
    [paths.gen, dialects.gen, { contents }],
    [paths.stream, dialects.gen, { contents }],
    [paths.draw, dialects.gen, { contents }],
    [paths.tools, dialects.gen, { contents }],
    [paths.think, dialects.gen, { contents }],
    ['GET /v1/media/tasks/v1', dialects.media, undefined],
    ['GET /media/v1/tasks/v1', dialects.media, undefined],
  ] as const;
  test.each(bearer)('%s requires a Bearer token', async (path, dialect, body) => {
    const mistakes = [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: emulator.apiKey },
      { authorization: `Basic ${emulator.apiKey}` },
      { 'x-api-key': emulator.apiKey },
      { 'x-api-key': emulator.apiKey, 'vendor-version': '2023-06-01' },
      { 'x-goog-api-key': emulator.apiKey },
    ];
    for (const headers of mistakes) {
      const answer =
        body === undefined
          ? await get(emulator, path.replace('GET ', ''), headers)
          : await send(path, headers, body);
      expect(answer.status, JSON.stringify(headers)).toBe(401);
      expect(answer.body).toMatchObject(dialect);
    }
  });

  test.each([
    [paths.msg, { model: 'scribe-large', max_tokens: 5, messages }],
    [paths.count, { model: 'scribe-large', messages }],
  ])('%s requires x-api-key and vendor-version', async (path, body) => {
    const key = emulator.apiKey;
    const version = '2023-06-01';
    const mistakes: [Record<string, string>, number][] = [
      [{}, 401],
      [{ authorization: `Bearer ${key}` }, 401],
      [{ authorization: `Bearer ${key}`, 'vendor-version': version }, 401],
      [{ 'x-api-key': 'wrong', 'vendor-version': version }, 401],
      [{ 'x-api-key': key }, 400],
      [{ 'x-api-key': key, 'anthropic-version': version }, 400],
      [{ 'x-api-key': key, 'vendor-version': '2020-01-01' }, 400],
    ];
    for (const [headers, status] of mistakes) {
      const answer = await send(path, headers, body);
      expect(answer.status, JSON.stringify(headers)).toBe(status);
      expect(answer.body).toMatchObject(dialects.msg);
    }
    expect((await send(path, { 'x-api-key': key, 'vendor-version': version }, body)).status).toBe(200);
  });

  test('the model list accepts either family on the chat path, and only the messages family on the msg path', async () => {
    const bearerHeaders = { authorization: `Bearer ${emulator.apiKey}` };
    const messages = { 'x-api-key': emulator.apiKey, 'vendor-version': '2023-06-01' };
    expect((await get(emulator, '/chat/v1/models', bearerHeaders)).status).toBe(200);
    expect((await get(emulator, '/chat/v1/models', messages)).status).toBe(200);
    expect((await get(emulator, '/msg/v1/models', messages)).status).toBe(200);
    expect((await get(emulator, '/msg/v1/models', bearerHeaders)).status).toBe(401);
    expect((await get(emulator, '/chat/v1/models', { 'x-api-key': emulator.apiKey })).status).toBe(400);
    expect((await get(emulator, '/chat/v1/models', {})).status).toBe(401);
  });

  test.each([paths.music, paths.image, paths.chat, paths.msg, paths.gen])(
    '%s accepts only JSON',
    async (path) => {
      const plain = await post(emulator, path, {}, { 'content-type': 'text/plain' });
      expect(plain.status).toBe(path === paths.music ? 400 : 415);
      const key = {
        authorization: `Bearer ${emulator.apiKey}`,
        'x-api-key': emulator.apiKey,
        'vendor-version': '2023-06-01',
      };
      expect((await send(path, key, '{"model":')).status).toBe(400);
    },
  );
});

test('GET /v1/models is a 404 with any headers', async () => {
  expect((await get(emulator, '/v1/models')).status).toBe(404);
  expect((await get(emulator, '/v1/models', {})).status).toBe(404);
});

describe('dialects', () => {
  const imageBlock = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const imageUrl = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const tools = [{ functionDeclarations: [{ name: 'sing', description: 'sings' }] }];
  const pictures = { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } };
  const large = { model: 'scribe-large', max_tokens: 50 };
  const inlineData = { mimeType: 'image/png', data: 'AAAA' };
  const inline = { messages: [{ role: 'user', content: [{ inlineData }] }] };
  test.each([
    ['contents on chat', paths.chat, dialects.chat, { model: 'chat-small', contents }],
    [
      'contents with messages on chat',
      paths.chat,
      dialects.chat,
      { model: 'chat-small', messages, contents },
    ],
    [
      'a messages-style block on chat',
      paths.chat,
      dialects.chat,
      { model: 'chat-small', messages: [{ role: 'user', content: [imageBlock] }] },
    ],
    [
      'a messages-style system on chat',
      paths.chat,
      dialects.chat,
      { model: 'chat-small', system: 'x', messages },
    ],
    ['no messages on chat', paths.chat, dialects.chat, { model: 'chat-small' }],
    [
      'a chat-style part on msg',
      paths.msg,
      dialects.msg,
      { ...large, messages: [{ role: 'user', content: [imageUrl] }] },
    ],
    [
      'a system turn on msg',
      paths.msg,
      dialects.msg,
      { ...large, messages: [{ role: 'system', content: 'x' }, ...messages] },
    ],
    ['two user turns on msg', paths.msg, dialects.msg, { ...large, messages: [...messages, ...messages] }],
    [
      'an assistant first on msg',
      paths.msg,
      dialects.msg,
      { ...large, messages: [{ role: 'assistant', content: 'x' }, ...messages] },
    ],
    ['no max_tokens on msg', paths.msg, dialects.msg, { model: 'scribe-large', messages }],
    ['too many max_tokens on msg', paths.msg, dialects.msg, { ...large, max_tokens: 10_000_000, messages }],
    ['a stream on msg', paths.msg, dialects.msg, { ...large, stream: true, messages }],
    ['contents on msg', paths.msg, dialects.msg, { ...large, contents }],
    ['messages on gen', paths.gen, dialects.gen, { messages }],
    ['messages with contents on gen', paths.gen, dialects.gen, { messages, contents }],
    ['a model in the body on gen', paths.gen, dialects.gen, { model: 'facet-text', contents }],
    ['content instead of parts on gen', paths.gen, dialects.gen, { contents: messages }],
    ['no text on gen', paths.gen, dialects.gen, { contents: [{ parts: [{ text: '' }] }] }],
    ['tools on the gen path', paths.gen, dialects.gen, { contents, tools }],
    ['images from a text model', paths.gen, dialects.gen, { contents, ...pictures }],
    ['messages on the stream', paths.stream, dialects.gen, { messages }],
    ['messages on gen images', paths.draw, dialects.gen, { messages, ...pictures }],
    ['messages on function calling', paths.tools, dialects.gen, { messages, tools }],
    ['messages on thinking', paths.think, dialects.gen, { messages }],
    ['contents on token counting', paths.count, dialects.msg, { model: 'scribe-large', contents }],
    ['a gen image part on chat', paths.chat, dialects.chat, { model: 'chat-small', ...inline }],
    ['a gen image part on msg', paths.msg, dialects.msg, { ...large, ...inline }],
    ['no alt=sse', paths.stream.replace('?alt=sse', ''), dialects.gen, { contents }],
    ['another alt', paths.stream.replace('sse', 'json'), dialects.gen, { contents }],
    ['no responseModalities', paths.draw, dialects.gen, { contents }],
    [
      'only IMAGE',
      paths.draw,
      dialects.gen,
      { contents, generationConfig: { responseModalities: ['IMAGE'] } },
    ],
    ['only TEXT', paths.draw, dialects.gen, { contents, generationConfig: { responseModalities: ['TEXT'] } }],
    [
      'a thinking budget past its bound',
      paths.think,
      dialects.gen,
      { contents, generationConfig: { thinkingConfig: { thinkingBudget: 99_999 } } },
    ],
    ['contents on image', paths.image, dialects.media, { model: 'canvas-plus', contents, ...pictures }],
    ['messages on image', paths.image, dialects.media, { model: 'canvas-plus', messages }],
    [
      'a chat-style part on image',
      paths.image,
      dialects.media,
      {
        model: 'canvas-plus',
        input: { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] },
      },
    ],
    ['a string content on image', paths.image, dialects.media, { model: 'canvas-plus', input: { messages } }],
    ['a size with x', paths.image, dialects.media, { ...image, parameters: { size: '512x512' } }],
    ['a size too large', paths.image, dialects.media, { ...image, parameters: { size: '4096*4096' } }],
    [
      'a size the classic model lacks',
      paths.image,
      dialects.media,
      { ...image, model: 'qwen-image', parameters: { size: '512*512' } },
    ],
    [
      'a prompt too long for image',
      paths.image,
      dialects.media,
      { model: 'canvas-plus', input: { messages: [{ role: 'user', content: [{ text: 'x'.repeat(801) }] }] } },
    ],
    ['contents on video', paths.video, dialects.media, { model: 'reel-standard', contents }],
    ['messages on video', paths.video, dialects.media, { model: 'reel-standard', messages }],
    [
      'messages on video’s other path',
      paths.videoAlternate,
      dialects.media,
      { model: 'reel-standard', messages },
    ],
    ['gen images on video', paths.video, dialects.media, { ...video, ...pictures }],
    ['an empty input for a video', paths.video, dialects.media, { model: 'reel-standard', input: {} }],
    ['no image to animate', paths.video, dialects.media, { ...video, model: 'reel-animate' }],
    [
      'a lower-case resolution',
      paths.video,
      dialects.media,
      { ...video, parameters: { resolution: '720p' } },
    ],
    ['a duration in text', paths.video, dialects.media, { ...video, parameters: { duration: '5' } }],
    ['an unknown member', paths.video, dialects.media, { ...video, prompt: 'x' }],
  ])('%s is refused', async (_, path, dialect, body) => {
    const answer = await post(emulator, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject(dialect);
  });

  test.each([
    [
      'a text model on the path without gen',
      '/v1beta/models/facet-text:generateContent',
      { contents },
      dialects.gen,
    ],
    [
      'a tool model on the path with gen',
      '/gen/v1beta/models/facet-tools:generateContent',
      { contents },
      dialects.gen,
    ],
    [
      'a stream without gen',
      '/v1beta/models/facet-tools:streamGenerateContent?alt=sse',
      { contents },
      dialects.gen,
    ],
    [
      'a stream of pictures',
      '/gen/v1beta/models/facet-picture:streamGenerateContent?alt=sse',
      { contents },
      dialects.gen,
    ],
    [
      'a chat model in another dialect',
      paths.msg,
      { model: 'chat-small', max_tokens: 5, messages },
      dialects.msg,
    ],
    ['an unknown model', paths.chat, { model: 'no-such', messages }, dialects.chat],
    ['a video model for images', paths.image, { ...image, model: 'reel-standard' }, dialects.media],
    ['an unknown route', '/chat/v1/completions', {}, dialects.chat],
    ['an unknown music route', '/music/dance', {}, dialects.music],
  ])('%s is not found', async (_, path, body, dialect) => {
    const answer = await post(emulator, path, body);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject(dialect);
  });

  test('a display name is refused with its ID', async () => {
    const answer = await post(emulator, paths.chat, { model: 'Chat Small', messages });
    expect(answer.body.error.message).toContain("'chat-small'");
  });
});

describe('another dialect on music', () => {
  test.each(musicPaths)('%s accepts neither messages nor contents', async (path) => {
    for (const body of [
      { model: 'V5', messages },
      { model: 'V5', contents },
      { ...song, messages },
      { ...song, contents },
    ]) {
      const answer = await post(emulator, path, body);
      expect(answer.status, JSON.stringify(body)).toBe(400);
      expect(answer.body).toMatchObject(dialects.music);
    }
  });
});

describe('music fields', () => {
  const custom = {
    ...song,
    customMode: true,
    instrumental: false,
    style: 'lofi',
    title: 'Rain',
    prompt: '[Verse]\nla',
  };
  const upload = { uploadUrl: 'http://127.0.0.1:9/a.mp3', callBackUrl };
  test.each([
    ['no customMode', '/music/generate', { ...song, customMode: undefined }, 400, 'customMode'],
    ['no model', '/music/generate', { ...song, model: undefined }, 400, 'model'],
    ['a model before V4', '/music/generate', { ...song, model: 'V3_5' }, 400, 'model'],
    ['no callBackUrl', '/music/generate', { ...song, callBackUrl: undefined }, 400, 'callBackUrl'],
    [
      'a callBackUrl that is none',
      '/music/generate',
      { ...song, callBackUrl: 'ftp://x/y' },
      400,
      'callBackUrl',
    ],
    ['no prompt in simple mode', '/music/generate', { ...song, prompt: ' ' }, 400, 'prompt'],
    ['a long simple prompt', '/music/generate', { ...song, prompt: 'x'.repeat(501) }, 413, 'prompt'],
    ['custom mode without style', '/music/generate', { ...custom, style: '' }, 400, 'style'],
    ['custom mode without title', '/music/generate', { ...custom, title: undefined }, 400, 'title'],
    ['custom vocals without lyrics', '/music/generate', { ...custom, prompt: undefined }, 400, 'prompt'],
    [
      'V4 lyrics too long',
      '/music/generate',
      { ...custom, model: 'V4', prompt: 'x'.repeat(3001) },
      413,
      'prompt',
    ],
    ['V5 lyrics too long', '/music/generate', { ...custom, prompt: 'x'.repeat(5001) }, 413, 'prompt'],
    [
      'a V4 style too long',
      '/music/generate',
      { ...custom, model: 'V4', style: 'x'.repeat(201) },
      413,
      'style',
    ],
    [
      'a title too long',
      '/music/generate',
      { ...custom, model: 'V4_5ALL', title: 'x'.repeat(81) },
      413,
      'title',
    ],
    ['an unknown persona', '/music/generate', { ...custom, personaId: 'unknown' }, 404, 'personaId'],
    [
      'a member that does not exist',
      '/music/generate',
      { ...song, callback_url: callBackUrl },
      400,
      'callback_url',
    ],
    ['chat messages', '/music/generate', { ...song, messages }, 400, 'messages'],
    [
      'an unknown audio to extend',
      '/music/extend',
      { audioId: 'x', model: 'V5', callBackUrl, defaultParamFlag: false },
      404,
      'audioId',
    ],
    [
      'no defaultParamFlag',
      '/music/extend',
      { audioId: 'x', model: 'V5', callBackUrl },
      400,
      'defaultParamFlag',
    ],
    [
      'a long lyrics prompt',
      '/music/generate-lyrics',
      { prompt: 'la '.repeat(201), callBackUrl },
      413,
      'prompt',
    ],
    ['no content', '/music/style-generate', { content: '' }, 400, 'content'],
    ['an unknown task', '/music/timestamped-lyrics', { taskId: 'x', audioId: 'y' }, 404, 'taskId'],
    ['an unknown cover task', '/music/generate-cover', { taskId: 'x', callBackUrl }, 404, 'taskId'],
    [
      'an unknown split',
      '/music/vocal-removal',
      { taskId: 'x', audioId: 'y', type: 'drums', callBackUrl },
      400,
      'type',
    ],
    ['no audioId for a WAV', '/music/wav-generate', { taskId: 'x', callBackUrl }, 400, 'audioId'],
    [
      'a long author',
      '/music/mp4-generate',
      { taskId: 'x', audioId: 'y', author: 'x'.repeat(51), callBackUrl },
      400,
      'author',
    ],
    ['no uploadUrl', '/music/upload-cover', { ...custom }, 400, 'uploadUrl'],
    [
      'no negativeTags',
      '/music/add-vocals',
      { ...upload, prompt: 'la', title: 'x', style: 'y' },
      400,
      'negativeTags',
    ],
    [
      'style for tags',
      '/music/add-instrumental',
      { ...upload, title: 'x', style: 'y', negativeTags: '' },
      400,
      'tags',
    ],
    [
      'an override without continueAt',
      '/music/upload-extend',
      { ...upload, defaultParamFlag: true, model: 'V5', instrumental: true, style: 'x', title: 'y' },
      400,
      'continueAt',
    ],
  ])('%s is refused with the name of the field', async (_, path, body, code, field) => {
    const answer = await post(emulator, path, body);
    expect(answer.status).toBe(code);
    expect(answer.body).toMatchObject({ code });
    expect(answer.body.msg).toContain(field);
  });
});
