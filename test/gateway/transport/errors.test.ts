import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../../src/gateway/client.ts';
import { gatewayAccounts } from '../../../src/gateway/routes.ts';
import type { GatewayErrorCode } from '../../../src/gateway/transport/errors.ts';
import { API_KEY, answer, errorOf, gatewayAt, QUESTION, startServer, wholeOf } from '../support.ts';

const CALLBACK = 'https://bot.example/callbacks/music/job1/c2lnbmF0dXJl';
const song = {
  customMode: false,
  instrumental: true,
  model: 'V5',
  prompt: 'rain',
  callBackUrl: CALLBACK,
} as const;

type Call = (gateway: Gateway) => Promise<unknown>;
const generate: Call = ({ music }) => music.generate(song);
const cover: Call = ({ music }) => music.generateCover({ taskId: 't1', callBackUrl: CALLBACK });
const wav: Call = ({ music }) => music.wavGenerate({ taskId: 't1', audioId: 'a1', callBackUrl: CALLBACK });
const persona: Call = ({ music }) =>
  music.generatePersona({ taskId: 't1', audioId: 'a1', name: 'Ada', description: 'warm' });
const chat: Call = (gateway) => wholeOf(gateway.chat.stream(QUESTION));
const msg: Call = (gateway) => gateway.msg.complete(QUESTION);
const gen: Call = (gateway) => wholeOf(gateway.gen.stream(QUESTION));

interface Ambiguity {
  name: string;
  call: Call;
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
  code: GatewayErrorCode;
}

describe('ambiguous codes', () => {
  const cases: Ambiguity[] = [
    {
      name: '429 on generate is credits',
      call: generate,
      body: { code: 429, msg: 'failed' },
      code: 'credits',
    },
    {
      name: '429 on generate about credits',
      call: generate,
      body: { code: 429, msg: 'The current credits are insufficient. Please top up.' },
      code: 'credits',
    },
    {
      name: '429 on generate about frequency',
      call: generate,
      body: { code: 429, msg: 'Too many requests' },
      code: 'rate',
    },
    { name: '429 on cover is rate', call: cover, body: { code: 429, msg: 'failed' }, code: 'rate' },
    {
      name: '429 on cover about credits',
      call: cover,
      body: { code: 429, msg: 'Insufficient credits' },
      code: 'credits',
    },
    { name: '429 on persona is rate', call: persona, body: { code: 429, msg: 'failed' }, code: 'rate' },
    { name: '429 of a proxy before the gateway', call: generate, status: 429, body: '', code: 'rate' },
    {
      name: '429 with a time to wait',
      call: generate,
      status: 429,
      headers: { 'retry-after': '60' },
      body: { code: 429, msg: 'x' },
      code: 'rate',
    },
    {
      name: '429 in the status, with the body code',
      call: generate,
      status: 429,
      body: { code: 429, msg: 'x' },
      code: 'credits',
    },
    { name: '405 in a music body is rate', call: generate, body: { code: 405, msg: 'x' }, code: 'rate' },
    { name: '405 as a status is a wrong method', call: generate, status: 405, body: '', code: 'invalid' },
    {
      name: '405 on chat is a wrong method',
      call: chat,
      status: 405,
      body: { error: { message: 'x' } },
      code: 'invalid',
    },
    {
      name: '400 on cover, made already',
      call: cover,
      body: { code: 400, msg: 'A cover was already generated' },
      code: 'exists',
    },
    {
      name: '400 on generate, a forbidden word',
      call: generate,
      body: { code: 400, msg: 'Sensitive word: x' },
      code: 'blocked',
    },
    {
      name: '400 on generate, too long',
      call: generate,
      body: { code: 400, msg: 'prompt length exceeds limit' },
      code: 'too-long',
    },
    { name: '413 on generate is too long', call: generate, body: { code: 413, msg: 'x' }, code: 'too-long' },
    {
      name: '409 on wav: there is one already',
      call: wav,
      body: { code: 409, msg: 'exists' },
      code: 'exists',
    },
    {
      name: '451: the file could not be fetched',
      call: generate,
      body: { code: 451, msg: 'x' },
      code: 'unfetched',
    },
    {
      name: '500 with a body that says credits',
      call: generate,
      status: 500,
      body: { code: 402, msg: 'x' },
      code: 'credits',
    },
    {
      name: 'an unknown body code',
      call: generate,
      status: 404,
      body: { code: 10_001, msg: 'x' },
      code: 'not-found',
    },
    {
      name: 'msg: 400 about the balance',
      call: msg,
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Your credit balance is too low' },
      },
      code: 'credits',
    },
    {
      name: 'msg: overloaded',
      call: msg,
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      code: 'unavailable',
    },
    {
      name: 'gen: 400 about the key',
      call: gen,
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'API key not valid.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
      code: 'auth',
    },
    {
      name: 'gen: 429 about quota and billing is rate',
      call: gen,
      status: 429,
      body: {
        error: {
          code: 429,
          message: 'You exceeded your current quota, please check your plan and billing details.',
          status: 'RESOURCE_EXHAUSTED',
        },
      },
      code: 'rate',
    },
  ];

  it.each(cases)('$name: $code', async ({ call, status = 200, headers = {}, body, code }) => {
    const server = await startServer((_, response) => answer(response, body, { status, headers }));
    expect(await errorOf(call(gatewayAt(server.url).gateway))).toMatchObject({ code, taken: 'no' });
  });
});

describe('an error', () => {
  it('has the status, the code, the message and the retry delay', async () => {
    const server = await startServer((_, response) =>
      answer(
        response,
        { error: { code: 'rate_limit_exceeded', message: 'slower' } },
        { status: 429, headers: { 'retry-after': '90' } },
      ),
    );
    const error = await errorOf(chat(gatewayAt(server.url).gateway));
    expect(error).toMatchObject({
      status: 429,
      gatewayCode: 'rate_limit_exceeded',
      message: expect.stringContaining('slower'),
      retryAfterMs: 90_000,
    });
    expect(error.message).toBe('chat/completions: rate (HTTP 429, gateway code rate_limit_exceeded): slower');
    expect(server.received, 'ninety seconds are longer than the budget').toHaveLength(1);
  });

  it('reads Retry-After as a date, and the delay in a gen body', async () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const server = await startServer((_, response, nth) =>
      nth === 1
        ? answer(response, '', { status: 503, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT' } })
        : answer(
            response,
            { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '33.5s' }] } },
            { status: 429 },
          ),
    );
    const { gateway } = gatewayAt(server.url, { now: () => now });
    expect((await errorOf(gen(gateway))).retryAfterMs).toBe(120_000);
    expect((await errorOf(gen(gateway))).retryAfterMs).toBe(33_500);
  });

  it('contains neither the key nor a signed URL', async () => {
    const echo = `key ${API_KEY} callback ${CALLBACK} file https://cdn.example/a.mp3?Signature=abc`;
    const server = await startServer((_, response) =>
      answer(response, { code: 400, msg: echo, data: { callBackUrl: CALLBACK } }),
    );
    const error = await errorOf(generate(gatewayAt(server.url).gateway));
    const message = error.message;
    expect(message).toContain('https://cdn.example/a.mp3?[removed]');
    for (const secret of [API_KEY, 'c2lnbmF0dXJl', 'Signature=abc']) expect(message).not.toContain(secret);
  });

  it('contains no escaped signed URL, and no part of one in a truncated text', async () => {
    const messageFor = async (body: object) => {
      const server = await startServer((_, response) => answer(response, body, { status: 400 }));
      return (await errorOf(generate(gatewayAt(server.url).gateway))).message;
    };
    // The gateway may quote the refused request in its message.
    const escaped = `call ${CALLBACK.replaceAll('/', '\\/')} or https:\\/\\/cdn.example\\/a.mp3?Signature=abc\\/def`;
    for (const msg of [escaped, `${encodeURIComponent(CALLBACK)} failed`]) {
      expect(await messageFor({ code: 400, msg })).not.toMatch(/c2lnbmF0dXJl|Signature=abc|def/);
    }
    // A message is cut after 500 characters: in the middle of a secret.
    const half = API_KEY.slice(0, 12);
    expect(await messageFor({ code: 400, msg: `${'x'.repeat(500 - half.length)}${API_KEY}` })).not.toContain(
      half,
    );
  });
});

describe('requests that the contract forbids', () => {
  const refusedCalls: Record<string, Call> = {
    'custom mode without a style': ({ music }) =>
      music.generate({ ...song, customMode: true, title: 'Rain' }),
    'custom mode without a title': ({ music }) =>
      music.generate({ ...song, customMode: true, style: 'lofi' }),
    'a persona that ends before it starts': ({ music }) =>
      music.generatePersona({
        taskId: 't',
        audioId: 'a',
        name: 'n',
        description: 'd',
        vocalStart: 9,
        vocalEnd: 3,
      }),
    'a callback that is not a web URL': ({ music }) =>
      music.generate({ ...song, callBackUrl: 'ftp://bot.example' }),
    'a question without a turn': ({ chat: route }) => wholeOf(route.stream({ model: 'm', turns: [] })),
    'a blank question': ({ msg: route }) =>
      route.complete({ model: 'm', turns: [{ role: 'user', parts: [{ type: 'text', text: ' ' }] }] }),
    'a question without a model': ({ chat: route }) => wholeOf(route.stream({ ...QUESTION, model: ' ' })),
    'a file that is not an image': ({ gen: route }) =>
      wholeOf(
        route.stream({
          ...QUESTION,
          turns: [{ role: 'user', parts: [{ type: 'image', mimeType: 'text/html', data: 'AAAA' }] }],
        }),
      ),
    'a limit of zero tokens': ({ msg: route }) => route.complete({ ...QUESTION, maxTokens: 0 }),
    'no tools for function calling': ({ gen: route }) => route.callTools(QUESTION),
    'a model ID that leaves its path': ({ gen: route }) =>
      wholeOf(route.stream({ ...QUESTION, model: '../../music' })),
    'a task ID that leaves its path': ({ media }) => media.queryVideo('..'),
    'an image size in words': ({ media }) => media.createImage({ model: 'm', prompt: 'p', size: 'large' }),
  };

  it.each(Object.entries(refusedCalls))('%s is refused before anything is sent', async (_, call) => {
    const server = await startServer((_request, response) => answer(response, {}));
    expect(await errorOf(call(gatewayAt(server.url).gateway))).toMatchObject({
      code: 'invalid',
      taken: 'no',
      retryable: false,
    });
    expect(server.received).toEqual([]);
  });

  it('sends only fields of the route', async () => {
    const server = await startServer((_, response) => answer(response, {}));
    const request = { ...song, surprise: 'field' };
    await gatewayAt(server.url).gateway.music.generate(request);
    expect(server.received[0]?.body).toEqual(song);
  });

  it('a client with an invalid URL or key cannot be built', () => {
    expect(() => gatewayAt('gateway.example')).toThrow(TypeError);
    expect(() => gatewayAt('http://gateway.example?x=1')).toThrow(TypeError);
    const accounts = gatewayAccounts({ baseUrl: 'http://gateway.example', apiKey: 'two\nlines' });
    expect(() => gatewayAt('', { accounts })).toThrow(TypeError);
  });
});
