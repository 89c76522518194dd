import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, fetch as undiciFetch } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import type { GatewayOptions } from '../../../src/gateway/transport/request.ts';
import { freePort } from '../../servers/free-port.ts';
import { answer, errorOf, gatewayAt, startServer, stopTimers } from '../support.ts';

const song = {
  customMode: false,
  instrumental: true,
  model: 'V5',
  prompt: 'rain',
  callBackUrl: 'https://bot.example/callbacks/music/job1/sig',
} as const;

/** A refusal by the gateway before any work. */
const BUSY = { error: { type: 'overloaded_error', message: 'busy' } };

/** A URL without a listener. */
const deadAddress = async () => `http://127.0.0.1:${await freePort()}`;

/** Their failures have different codes. */
const FETCHES = [
  ['Node’s fetch', globalThis.fetch],
  ['undici’s fetch with a dispatcher', undiciFetchThrough(new Agent({ connectTimeout: 2_000 }))],
] as const;

function undiciFetchThrough(dispatcher: Agent): GatewayOptions['fetch'] {
  return (url, init) => undiciFetch(url, { ...init, dispatcher });
}

describe.each(FETCHES)('a gateway that cannot be reached, by %s', (_name, fetch) => {
  it('has not accepted the work, and the job decides about paid work', async () => {
    const { gateway, waits } = gatewayAt(await deadAddress(), { fetch });
    const error = await errorOf(gateway.music.generate(song));
    expect(error).toMatchObject({ code: 'network', taken: 'no', retryable: true });
    expect(waits).toEqual([]);
  });

  it('is retried for a read, then given up', async () => {
    const { gateway, waits } = gatewayAt(await deadAddress(), { fetch });
    expect(await errorOf(gateway.media.queryVideo('v1'))).toMatchObject({ code: 'network' });
    expect(waits).toHaveLength(3);
    expect(waits).toEqual([...waits].sort((one, other) => one - other));
  });

  it('whose name is unknown has not accepted the work', async () => {
    const { gateway } = gatewayAt('http://gateway.invalid', { fetch });
    expect(await errorOf(gateway.music.generate(song))).toMatchObject({ code: 'network', taken: 'no' });
  });

  it('without TLS has not accepted the work', async () => {
    const server = await startServer((_, response) => answer(response, {}));
    const { gateway } = gatewayAt(server.url.replace('http:', 'https:'), { fetch });
    expect(await errorOf(gateway.music.generate(song))).toMatchObject({ code: 'network', taken: 'no' });
    expect(server.received).toEqual([]);
  });

  it('may have accepted the work if the connection broke later', async () => {
    const server = await startServer((_, response) => void response.destroy());
    const { gateway } = gatewayAt(server.url, { fetch });
    expect(await errorOf(gateway.music.generate(song))).toMatchObject({ code: 'network', taken: 'unknown' });
    expect(server.received).toHaveLength(1);
  });

  it('is read once it responds', async () => {
    const server = await startServer((_, response) => answer(response, { taskId: 't1' }));
    expect(await gatewayAt(server.url, { fetch }).gateway.music.generate(song)).toEqual({ taskId: 't1' });
  });
});

describe('a connection that breaks after the request was sent', () => {
  it('may have delivered paid work, which is not retried', async () => {
    const server = await startServer((_, response) => void response.destroy());
    const { gateway, waits } = gatewayAt(server.url);
    expect(await errorOf(gateway.music.generate(song))).toMatchObject({
      code: 'network',
      taken: 'unknown',
      retryable: false,
    });
    expect(server.received).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  it('in the middle of a response is the same', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"code":200', () => response.destroy());
    });
    expect(await errorOf(gatewayAt(server.url).gateway.music.generate(song))).toMatchObject({
      code: 'network',
      taken: 'unknown',
    });
    expect(server.received).toHaveLength(1);
  });

  it('a read is retried until it succeeds', async () => {
    const server = await startServer((_, response, nth) =>
      nth < 3
        ? void response.destroy()
        : answer(response, { output: { task_id: 'v1', task_status: 'RUNNING' } }),
    );
    expect(await gatewayAt(server.url).gateway.media.queryVideo('v1')).toEqual({
      taskId: 'v1',
      status: 'running',
    });
    expect(server.received).toHaveLength(3);
  });
});

describe('a 503 or a redirect on paid work', () => {
  const CONNECTION_TERMINATION =
    'upstream connect error or disconnect/reset before headers. reset reason: connection termination';

  it.each([
    ['a mesh whose connection broke', CONNECTION_TERMINATION],
    ['a proxy’s page', '<html><h1>503 Service Temporarily Unavailable</h1></html>'],
    ['no body', ''],
    ['a body without a code', { message: 'Service Unavailable' }],
    ['a proxy’s JSON', { status: 503, message: CONNECTION_TERMINATION }],
    ['a transcoder’s JSON', { code: 14, message: CONNECTION_TERMINATION, details: [] }],
    ['a problem without a type', { type: 'about:blank', title: 'Service Unavailable', status: 503 }],
    ['the status in words', { statusCode: 503, error: 'Service_Unavailable', message: 'upstream' }],
    ['the status as the gateway’s own code', { code: 503, msg: 'busy' }],
  ])('%s: the work may have been accepted, and is sent once', async (_, body) => {
    const server = await startServer((_request, response) => answer(response, body, { status: 503 }));
    expect(await errorOf(gatewayAt(server.url).gateway.music.generate(song))).toMatchObject({
      code: 'unavailable',
      taken: 'unknown',
      retryable: false,
    });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['with a named error', BUSY, {}],
    ['with the gateway’s own code', { code: 430, msg: 'too often' }, {}],
    ['with a retry delay', CONNECTION_TERMINATION, { 'retry-after': '1' }],
  ])('%s it was not accepted, and the job may send it again', async (_, body, headers) => {
    const server = await startServer((_request, response) =>
      answer(response, body, { status: 503, headers }),
    );
    const { gateway, waits } = gatewayAt(server.url);
    expect(await errorOf(gateway.music.generate(song))).toMatchObject({ taken: 'no', retryable: true });
    expect({ waits, sent: server.received.length }).toEqual({ waits: [], sent: 1 });
  });

  it.each([302, 303])('%i may follow accepted work', async (status) => {
    const server = await startServer((_, response) =>
      answer(response, '', { status, headers: { location: '/elsewhere' } }),
    );
    expect(await errorOf(gatewayAt(server.url).gateway.music.generate(song))).toMatchObject({
      taken: 'unknown',
      retryable: false,
    });
    expect(server.received).toHaveLength(1);
  });

  it.each([301, 307, 308])('%i redirects the work, so it was not accepted here', async (status) => {
    const server = await startServer((_, response) =>
      answer(response, '', { status, headers: { location: '/elsewhere' } }),
    );
    expect(await errorOf(gatewayAt(server.url).gateway.music.generate(song))).toMatchObject({ taken: 'no' });
  });

  it('a “server error” in a successful response is not retried', async () => {
    const server = await startServer((_, response) => answer(response, { code: 500, msg: 'server error' }));
    expect(await errorOf(gatewayAt(server.url).gateway.music.generate(song))).toMatchObject({
      code: 'unavailable',
      retryable: false,
    });
    expect(server.received).toHaveLength(1);
  });
});

describe('a gateway with several addresses', () => {
  const refusedConnection = (address: string) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED', syscall: 'connect' });
  const broken = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  const failsWith =
    (...errors: Error[]): GatewayOptions['fetch'] =>
    () =>
      Promise.reject(
        new TypeError('fetch failed', {
          // Node sets the code of the first error.
          cause: Object.assign(new AggregateError(errors), { code: 'ECONNREFUSED' }),
        }),
      );

  it('has not accepted the work only if each address failed before sending', async () => {
    const all = gatewayAt('http://gateway.example', {
      fetch: failsWith(refusedConnection('::1'), refusedConnection('127.0.0.1')),
    });
    expect(await errorOf(all.gateway.music.generate(song))).toMatchObject({ taken: 'no' });
    const one = gatewayAt('http://gateway.example', { fetch: failsWith(refusedConnection('::1'), broken) });
    expect(await errorOf(one.gateway.music.generate(song))).toMatchObject({ taken: 'unknown' });
    expect(one.waits).toEqual([]);
  });
});

describe('a gateway that does not respond in time', () => {
  it('may have accepted paid work', async () => {
    const server = await startServer(() => undefined);
    stopTimers();
    const call = errorOf(gatewayAt(server.url).gateway.music.generate(song));
    await expect.poll(() => server.received).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await call).toMatchObject({
      code: 'timeout',
      taken: 'unknown',
      retryable: false,
    });
    expect(server.received).toHaveLength(1);
  });

  it('in the middle of a response is the same', async () => {
    const server = await startServer((_, response) => void response.write('{"code":'));
    stopTimers();
    const call = errorOf(gatewayAt(server.url).gateway.music.generate(song));
    await expect.poll(() => server.received).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await call).toMatchObject({ code: 'timeout', taken: 'unknown' });
  });

  it('a read is retried', async () => {
    const server = await startServer((_, response, nth) =>
      nth === 1 ? undefined : answer(response, { output: { task_status: 'RUNNING' } }),
    );
    stopTimers();
    const call = gatewayAt(server.url).gateway.media.queryVideo('v1');
    await expect.poll(() => server.received).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await call).toMatchObject({ status: 'running' });
  });
});

describe('the delay between attempts', () => {
  it('ends with the budget, however short each attempt is', async () => {
    const server = await startServer((_, response) =>
      answer(response, '', { status: 503, headers: { 'retry-after': '9' } }),
    );
    const { gateway, waits } = gatewayAt(server.url);
    expect(await errorOf(gateway.media.queryVideo('v1'))).toMatchObject({
      code: 'unavailable',
      retryAfterMs: 9000,
    });
    expect(waits).toHaveLength(2);
    expect(waits.every((ms) => ms >= 9000)).toBe(true);
  });

  it('grows, with jitter', async () => {
    const server = await startServer((_, response) => answer(response, BUSY, { status: 503 }));
    const spread = await Promise.all(
      [0, 0.999].map(async (random) => {
        const { gateway, waits } = gatewayAt(server.url, { random: () => random });
        await errorOf(gateway.media.queryVideo('v1'));
        return waits;
      }),
    );
    expect(spread).toEqual([
      [375, 750, 1500],
      [625, 1250, 2499],
    ]);
  });

  it('does not apply to maintenance without a retry delay', async () => {
    const server = await startServer((_, response) =>
      answer(response, { code: 455, msg: 'maintenance' }, { status: 503 }),
    );
    const { gateway } = gatewayAt(server.url);
    expect(await errorOf(gateway.media.queryVideo('v1'))).toMatchObject({ retryable: true });
    expect(server.received).toHaveLength(1);
  });

  it('stops when the caller aborts', async () => {
    const controller = new AbortController();
    const server = await startServer((_, response) => answer(response, BUSY, { status: 503 }));
    const { gateway } = gatewayAt(server.url, {
      sleep: async () => controller.abort(),
    });
    const error = await errorOf(gateway.media.queryVideo('v1', { signal: controller.signal }));
    expect(error).toMatchObject({ code: 'aborted', taken: 'no' });
    expect(server.received).toHaveLength(1);
  });
});

describe('aborting', () => {
  it('before sending: nothing was accepted', async () => {
    const server = await startServer((_, response) => answer(response, {}));
    const signal = AbortSignal.abort();
    expect(await errorOf(gatewayAt(server.url).gateway.music.generate(song, { signal }))).toMatchObject({
      code: 'aborted',
      taken: 'no',
    });
    expect(server.received).toEqual([]);
  });

  it('while waiting: the request ends at once, and may have been accepted', async () => {
    const controller = new AbortController();
    const server = await startServer((request) => {
      controller.abort();
      return request.closed;
    });
    const error = await errorOf(
      gatewayAt(server.url).gateway.music.generate(song, { signal: controller.signal }),
    );
    expect(error).toMatchObject({ code: 'aborted', taken: 'unknown', retryable: false });
    await server.received[0]?.closed;
  });
});

it('a request leaves no listeners on a long-lived signal', async () => {
  const server = await startServer((_, response) => answer(response, { code: 200, data: { taskId: 't1' } }));
  const { signal } = new AbortController();
  expect(await gatewayAt(server.url).gateway.music.generate(song, { signal })).toMatchObject({
    taskId: 't1',
  });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

describe('endless responses', () => {
  it('are read up to a limit', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const endless = function* () {
        for (;;) yield Buffer.alloc(64 * 1024, ' ');
      };
      return pipeline(Readable.from(endless()), response).catch(() => undefined);
    });
    const error = await errorOf(gatewayAt(server.url).gateway.media.queryVideo('v1'));
    expect(error).toMatchObject({ code: 'nonsense' });
    expect(error.message).toContain('longer than');
    await server.received[0]?.closed;
  });
});

it('a redirect is not followed, because it would send the key elsewhere', async () => {
  const elsewhere = await startServer((_, response) => answer(response, { code: 200 }));
  const server = await startServer((_, response) =>
    answer(response, '', { status: 307, headers: { location: elsewhere.url } }),
  );
  expect(await errorOf(gatewayAt(server.url).gateway.music.generate(song))).toMatchObject({
    code: 'no-api',
    taken: 'no',
  });
  expect(elsewhere.received).toEqual([]);
});
