import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { Routes } from '../../src/http/server.ts';
import { collectLog, connectTo, listen, portOf, sendRaw } from './listener.ts';

const hello: Routes = (scope) => {
  scope.get('/hello/:name', async (request) => ({ hello: request.params }));
};

test('serves the routes it is given and says where it listens', async () => {
  const server = await listen({ routes: [hello] });
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const response = await fetch(`${server.url}/hello/rain`);
  expect(await response.json()).toEqual({ hello: { name: 'rain' } });
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('a listener on every address still names one that can be opened', async () => {
  const server = await listen({ host: '0.0.0.0', routes: [hello] });
  expect((await fetch(`${server.url}/hello/rain`)).status).toBe(200);
});

test('unknown paths, methods and broken paths all get the same 404', async () => {
  const server = await listen({ routes: [hello] });
  const answers = await Promise.all(
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
  expect(new Set(answers.map(String))).toEqual(new Set(['404,{"error":"not found"}']));
});

test('no route parses a body that it did not ask for', async () => {
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

test('a route that breaks answers 500 without its reason, which goes to the log', async () => {
  const log = collectLog();
  const broken: Routes = (scope) => {
    scope.get('/break/:secret', async () => {
      throw new Error('the database password is hunter2');
    });
  };
  const server = await listen({ routes: [broken], log });
  const response = await fetch(`${server.url}/break/key`);
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('{"error":"internal error"}');
  expect(log.lines).toContainEqual(expect.stringContaining('error Request failed'));
});

test('the log names routes by their pattern, never by the URL', async () => {
  const log = collectLog();
  const server = await listen({ routes: [hello], log });
  await fetch(`${server.url}/hello/a-signed-secret?token=another-secret`);
  await fetch(`${server.url}/wrong/a-signed-secret`);
  await expect.poll(() => log.lines).toHaveLength(2);
  expect(log.lines[0]).toContain('"route":"/hello/:name","status":200');
  expect(log.lines.join()).not.toContain('secret');
});

test('a sender that never finishes its headers is cut off', async () => {
  const server = await listen({ routes: [hello], timeouts: { headersMs: 100, requestMs: 200 } });
  const answer = await sendRaw(server, 'GET /hello/rain HTTP/1.1\r\nhost: x\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
});

test('a connection on which nothing moves is closed', async () => {
  const server = await listen({ routes: [hello], timeouts: { idleMs: 100 } });
  expect(await sendRaw(server)).toBe('');
});

test('what is not HTTP is answered with 400 and closed', async () => {
  const server = await listen({ routes: [hello] });
  expect(await sendRaw(server, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
});

test('closing lets a running answer finish', async () => {
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
  const answer = fetch(`${server.url}/slow`);
  await expect.poll(() => entered).toHaveBeenCalled();
  const closed = server.close();
  open();
  expect((await answer).status).toBe(200);
  await closed;
  await expect(fetch(`${server.url}/slow`)).rejects.toThrow();
});

test('closing ends what does not finish in time', async () => {
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
  const answer = fetch(`${server.url}/never`).catch(() => 'ended');
  await expect.poll(() => entered).toHaveBeenCalled();
  await server.close();
  expect(await answer).toBe('ended');
});

test('closing does not wait for open connections that ask nothing', async () => {
  // Nothing but the right behaviour ends these connections before the time limit of the test.
  const server = await listen({ routes: [hello], timeouts: { closeMs: 2 ** 31 - 1, idleMs: 0 } });
  const silent = connectTo(server);
  await once(silent, 'connect');
  const kept = connectTo(server);
  kept.write('GET /hello HTTP/1.1\r\nHost: bot.example\r\n\r\n');
  await once(kept, 'data');
  const ended = Promise.all([once(silent, 'close'), once(kept, 'close')]);
  await server.close();
  await ended;
});

test('a port that is taken is a sentence that says what to do', async () => {
  const first = await listen();
  await expect(listen({ port: portOf(first) })).rejects.toThrow(
    `Port ${portOf(first)} on 127.0.0.1 is in use by another program: stop that program, or set PORT to a free port.`,
  );
});

test('an address of another machine is a sentence that says what to do', async () => {
  await expect(listen({ host: '192.0.2.1' })).rejects.toMatchObject({
    code: 'address-unavailable',
    message: expect.stringContaining('set HOST'),
  });
});
