import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { Routes } from '../../src/http/server.ts';
import { collectLog, connectTo, listen, portOf, sendRaw } from './listener.ts';

const hello: Routes = (scope) => {
  scope.get('/hello/:name', async (request) => ({ hello: request.params }));
};

test('serves its routes and returns its URL', async () => {
  const server = await listen({ routes: [hello] });
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const response = await fetch(`${server.url}/hello/rain`);
  expect(await response.json()).toEqual({ hello: { name: 'rain' } });
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('returns a reachable URL when it listens on all addresses', async () => {
  const server = await listen({ host: '0.0.0.0', routes: [hello] });
  expect((await fetch(`${server.url}/hello/rain`)).status).toBe(200);
});

test('responds with the same 404 to unknown paths, methods and invalid paths', async () => {
  const server = await listen({ routes: [hello] });
  const responses = await Promise.all(
    [
      ['GET', '/nothing'],
      ['POST', '/hello/rain'],
      ['GET', '/hello/%zz'],
      ['GET', `/hello/${'x'.repeat(300)}`],
      ['GET', '/..%2f..%2fetc/passwd'],
    ].map(async ([method = '', path]) => {
      const response = await fetch(`${server.url}${path}`, { method });
      return [response.status, await response.text()];
    }),
  );
  expect(new Set(responses.map(String))).toEqual(new Set(['404,{"error":"not found"}']));
});

test('rejects bodies for routes without a parser', async () => {
  const server = await listen({
    routes: [(scope) => void scope.post('/knock', async (request) => ({ body: typeof request.body }))],
  });
  const response = await fetch(`${server.url}/knock`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  });
  expect(response.status).toBe(415);
});

test('responds with 500 if a route throws, and logs the cause', async () => {
  const log = collectLog();
  const failing: Routes = (scope) => {
    scope.get('/break/:secret', async () => {
      throw new Error('the database password is hunter2');
    });
  };
  const server = await listen({ routes: [failing], log });
  const response = await fetch(`${server.url}/break/key`);
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('{"error":"internal error"}');
  expect(log.lines).toContainEqual(expect.stringContaining('error Request failed'));
});

test('logs the route pattern, never the URL', async () => {
  const log = collectLog();
  const server = await listen({ routes: [hello], log });
  await fetch(`${server.url}/hello/a-signed-secret?token=another-secret`);
  await fetch(`${server.url}/wrong/a-signed-secret`);
  await expect.poll(() => log.lines).toHaveLength(2);
  expect(log.lines[0]).toContain('"route":"/hello/:name","status":200');
  expect(log.lines.join()).not.toContain('secret');
});

test('closes a connection that never finishes its headers', async () => {
  const server = await listen({ routes: [hello], timeouts: { headersMs: 100, requestMs: 200 } });
  const response = await sendRaw(server, 'GET /hello/rain HTTP/1.1\r\nhost: x\r\n');
  expect(response).toMatch(/^HTTP\/1.1 408 /);
});

test('closes an idle connection', async () => {
  const server = await listen({ routes: [hello], timeouts: { idleMs: 100 } });
  expect(await sendRaw(server)).toBe('');
});

test('responds with 400 to data that is not HTTP', async () => {
  const server = await listen({ routes: [hello] });
  expect(await sendRaw(server, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
});

test('waits for responses in progress when closing', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const entered = vi.fn();
  const server = await listen({
    routes: [
      (scope) =>
        void scope.get('/slow', async () => {
          entered();
          await gate;
          return { done: true };
        }),
    ],
  });
  const response = fetch(`${server.url}/slow`);
  await expect.poll(() => entered).toHaveBeenCalled();
  const closed = server.close();
  open();
  expect((await response).status).toBe(200);
  await closed;
  await expect(fetch(`${server.url}/slow`)).rejects.toThrow();
});

test('ends responses that do not finish in time when closing', async () => {
  const entered = vi.fn();
  const server = await listen({
    timeouts: { closeMs: 50 },
    routes: [
      (scope) =>
        void scope.get('/never', () => {
          entered();
          return new Promise(() => {});
        }),
    ],
  });
  const response = fetch(`${server.url}/never`).catch(() => 'ended');
  await expect.poll(() => entered).toHaveBeenCalled();
  await server.close();
  expect(await response).toBe('ended');
});

test('does not wait for idle connections when closing', async () => {
  // The timeouts are longer than the test, so only `close` can end these connections.
  const server = await listen({ routes: [hello], timeouts: { closeMs: 2 ** 31 - 1, idleMs: 0 } });
  const silent = connectTo(server);
  await once(silent, 'connect');
  const keptAlive = connectTo(server);
  keptAlive.write('GET /hello HTTP/1.1\r\nHost: bot.example\r\n\r\n');
  await once(keptAlive, 'data');
  const ended = Promise.all([once(silent, 'close'), once(keptAlive, 'close')]);
  await server.close();
  await ended;
});

test('explains what to do if the port is in use', async () => {
  const first = await listen();
  await expect(listen({ port: portOf(first) })).rejects.toThrow(
    `Port ${portOf(first)} on 127.0.0.1 is in use by another program: stop that program, or set PORT to a free port.`,
  );
});

test('explains what to do if the address is not available', async () => {
  await expect(listen({ host: '192.0.2.1' })).rejects.toMatchObject({
    code: 'address-unavailable',
    message: expect.stringContaining('set HOST'),
  });
});
