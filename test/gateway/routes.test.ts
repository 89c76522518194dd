import { describe, expect, it } from 'vitest';
import { ROUTES, type RouteName } from '../../src/gateway/routes.ts';
import type { GatewayErrorCode } from '../../src/gateway/transport/errors.ts';
import { ROUTE_CASES } from './route-cases.ts';
import { API_KEY, answer, errorOf, gatewayAt, startServer } from './support.ts';

/** The code for a body that is not JSON. Half a JSON may also be an interrupted stream. */
const UNREADABLE = expect.stringMatching(/^(?:nonsense|broken-stream)$/);
const PAGE = '<!DOCTYPE html><html>hello</html>';
const isStream = (route: RouteName) => route === 'chat/completions' || route === 'gen/stream';
const isRead = (route: RouteName) => ROUTES[route].kind === 'read';

describe('every route, in every shape', () => {
  for (const { route, call, sends, shapes } of ROUTE_CASES) {
    it(`${route} sends the contract's request with the headers of its family`, async () => {
      const [{ answer: body, status = 200 } = { answer: {} }] = shapes;
      const server = await startServer((_, response) => answer(response, body, { status }));
      await call(gatewayAt(`${server.url}/`).gateway);
      const [request] = server.received;
      expect({ method: request?.method, path: request?.path }).toEqual({
        method: sends.method,
        path: sends.path,
      });
      expect(request?.body).toEqual(sends.body);
      if (sends.method === 'POST') expect(request?.headers['content-type']).toBe('application/json');
      if (ROUTES[route].family === 'msg') {
        expect(request?.headers).toMatchObject({ 'x-api-key': API_KEY, 'vendor-version': '2023-06-01' });
        expect(request?.headers.authorization).toBeUndefined();
      } else {
        expect(request?.headers.authorization).toBe(`Bearer ${API_KEY}`);
        expect(request?.headers['x-api-key']).toBeUndefined();
      }
    });

    it.each(shapes)(`${route} reads: $shape`, async ({ answer: body, status = 200, means }) => {
      const server = await startServer((_, response) => answer(response, body, { status }));
      expect(await call(gatewayAt(server.url).gateway)).toEqual(means);
    });
  }
});

/** The same errors in each of the five dialects (sources: src/gateway/transport/refusal-body.ts). */
interface Said {
  dialect: string;
  status: number;
  body: unknown;
  code: GatewayErrorCode;
  message?: string;
}

const DIALECTS: Said[] = [
  {
    dialect: 'music, in a good answer',
    status: 200,
    body: { code: 401, msg: 'no such key', data: null },
    code: 'auth',
    message: 'no such key',
  },
  {
    dialect: 'music',
    status: 401,
    body: { code: 401, msg: 'no such key' },
    code: 'auth',
    message: 'no such key',
  },
  {
    dialect: 'media',
    status: 401,
    body: { code: 'InvalidApiKey', message: 'no such key', request_id: 'r' },
    code: 'auth',
    message: 'no such key',
  },
  {
    dialect: 'chat',
    status: 401,
    body: {
      error: { message: 'no such key', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
    },
    code: 'auth',
    message: 'no such key',
  },
  {
    dialect: 'msg',
    status: 401,
    body: { type: 'error', error: { type: 'authentication_error', message: 'no such key' } },
    code: 'auth',
    message: 'no such key',
  },
  {
    dialect: 'gen',
    status: 401,
    body: { error: { code: 401, message: 'no such key', status: 'UNAUTHENTICATED' } },
    code: 'auth',
    message: 'no such key',
  },

  {
    dialect: 'music, frequency',
    status: 200,
    body: { code: 430, msg: 'calling too often' },
    code: 'rate',
    message: 'calling too often',
  },
  {
    dialect: 'media',
    status: 429,
    body: { code: 'Throttling.RateQuota', message: 'slower' },
    code: 'rate',
    message: 'slower',
  },
  {
    dialect: 'chat',
    status: 429,
    body: { error: { message: 'slower', type: 'requests', code: 'rate_limit_exceeded' } },
    code: 'rate',
    message: 'slower',
  },
  {
    dialect: 'msg',
    status: 429,
    body: { type: 'error', error: { type: 'rate_limit_error', message: 'slower' } },
    code: 'rate',
    message: 'slower',
  },
  {
    dialect: 'gen',
    status: 429,
    body: [{ error: { code: 429, message: 'rate of requests', status: 'RESOURCE_EXHAUSTED' } }],
    code: 'rate',
    message: 'rate of requests',
  },

  {
    dialect: 'music',
    status: 200,
    body: { code: 402, msg: 'no credits' },
    code: 'credits',
    message: 'no credits',
  },
  {
    dialect: 'media',
    status: 400,
    body: { code: 'Arrearage', message: 'unpaid' },
    code: 'credits',
    message: 'unpaid',
  },
  {
    dialect: 'chat',
    status: 429,
    body: { error: { message: 'exceeded', code: 'insufficient_quota' } },
    code: 'credits',
    message: 'exceeded',
  },
  {
    dialect: 'msg',
    status: 402,
    body: { type: 'error', error: { type: 'billing_error', message: 'unpaid' } },
    code: 'credits',
    message: 'unpaid',
  },
  {
    dialect: 'gen',
    status: 402,
    body: { error: { code: 402, message: 'prepaid', status: 'RESOURCE_EXHAUSTED' } },
    code: 'credits',
    message: 'prepaid',
  },

  {
    dialect: 'music',
    status: 200,
    body: { code: 455, msg: 'maintenance' },
    code: 'maintenance',
    message: 'maintenance',
  },
  {
    dialect: 'media',
    status: 400,
    body: { code: 'DataInspectionFailed', message: 'unfit' },
    code: 'blocked',
    message: 'unfit',
  },
  {
    dialect: 'chat',
    status: 400,
    body: { error: { message: 'x', type: 'invalid_request_error', code: 'context_length_exceeded' } },
    code: 'too-long',
    message: 'x',
  },
  {
    dialect: 'msg',
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
    },
    code: 'too-long',
  },
  {
    dialect: 'gen',
    status: 400,
    body: { error: { code: 400, message: 'contents is not specified', status: 'INVALID_ARGUMENT' } },
    code: 'invalid',
  },

  {
    dialect: 'a list of problems',
    status: 422,
    body: { detail: [{ loc: ['body'], msg: 'field required' }] },
    code: 'invalid',
    message: 'field required',
  },
  { dialect: 'one word', status: 403, body: { error: 'forbidden' }, code: 'forbidden', message: 'forbidden' },
  { dialect: 'no JSON', status: 413, body: '<html>Request Entity Too Large</html>', code: 'too-long' },
  { dialect: 'nothing', status: 403, body: '', code: 'forbidden' },
  { dialect: 'a redirect', status: 308, body: '', code: 'no-api' },
  { dialect: 'a web page that finds nothing', status: 404, body: PAGE, code: 'no-api' },
  { dialect: 'a web page that forbids', status: 403, body: PAGE, code: 'no-api' },
];

/** One route for each way of reading responses, because errors depend on nothing else of a route. */
const WAYS = [
  ...Map.groupBy(ROUTE_CASES, ({ route }) => {
    const { family, kind } = ROUTES[route];
    return [family, kind, isStream(route)].join();
  }).values(),
].flatMap(([first]) => first ?? []);

describe.each(WAYS)('$route, in every error dialect', ({ route, call }) => {
  it.each(DIALECTS)('$dialect: $code', async ({ status, body, code, message }) => {
    const server = await startServer((_, response) => answer(response, body, { status }));
    const error = await errorOf(call(gatewayAt(server.url).gateway));
    expect(error).toMatchObject({
      code,
      route: expect.stringContaining(route),
      status,
    });
    expect(error.taken).toBe('no');
    if (message !== undefined) expect(error.message.endsWith(`: ${message}`)).toBe(true);
  });
});

describe('every failing route', () => {
  describe.each(ROUTE_CASES)('$route', ({ route, call }) => {
    it('a server error is retried only for reads', async () => {
      const server = await startServer((_, response) =>
        answer(response, { error: { message: 'x' } }, { status: 500 }),
      );
      const error = await errorOf(call(gatewayAt(server.url).gateway));
      expect(error).toMatchObject({ code: 'unavailable', status: 500, retryable: isRead(route) });
      expect(error.taken).toBe(isRead(route) ? 'no' : 'unknown');
      expect(server.received).toHaveLength(isRead(route) ? 4 : 1);
    });

    it('a retry delay is awaited for reads, and left to the job for paid work', async () => {
      const server = await startServer((_, response, nth) =>
        nth === 1
          ? answer(response, '', { status: 503, headers: { 'retry-after': '2' } })
          : answer(response, { error: { message: 'no' } }, { status: 400 }),
      );
      const { gateway, waits } = gatewayAt(server.url);
      const error = await errorOf(call(gateway));
      if (isRead(route)) {
        expect(error).toMatchObject({ code: 'invalid' });
        expect(waits).toEqual([expect.toSatisfy((ms: number) => ms >= 2000 && ms < 3000)]);
      } else {
        expect(error).toMatchObject({ taken: 'no', retryable: true, retryAfterMs: 2000 });
        expect(server.received).toHaveLength(1);
      }
    });

    it('a web page is not a response of the gateway', async () => {
      const server = await startServer((_, response) => answer(response, PAGE));
      const error = await errorOf(call(gatewayAt(server.url).gateway));
      expect(error).toMatchObject({
        code: 'no-api',
        taken: isRead(route) ? 'no' : 'unknown',
      });
    });

    it.each(['{"half":', '[[['])('a response that is not JSON is nonsense: %s', async (body) => {
      const server = await startServer((_, response) => answer(response, body));
      const error = await errorOf(call(gatewayAt(server.url).gateway));
      expect(error).toMatchObject({
        code: isStream(route) ? UNREADABLE : 'nonsense',
        taken: isRead(route) ? 'no' : 'unknown',
      });
    });
  });
});

it.each([{ data: { alignedWords: [{ words: [] }] } }, { data: { alignedWords: 'none' } }, { data: {} }])(
  'unreadable words are nonsense, and not a take without words: %j',
  async (body) => {
    const server = await startServer((_, response) => answer(response, body));
    const { music } = gatewayAt(server.url).gateway;
    expect(await errorOf(music.timestampedLyrics({ taskId: 't', audioId: 'a' }))).toMatchObject({
      code: 'nonsense',
    });
  },
);
