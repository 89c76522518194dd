import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import type { PlatformRoutes } from '../../src/core/web/platform-routes.ts';
import { platformRoutes } from '../../src/http/platform-routes.ts';
import { listen } from './listener.ts';

async function serveRoutes(handle: PlatformRoutes['handle']) {
  const routes = [
    { method: 'GET', path: '/chat/install' },
    { method: 'POST', path: '/chat/events' },
  ] as const;
  const server = await listen({ routes: [platformRoutes({ routes, handle })] });
  return (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);
}

test('passes requests to the platform unchanged, regardless of the content type', async () => {
  const request = await serveRoutes(async (request, response) => {
    response.end(JSON.stringify([request.url, (await buffer(request)).toString('hex')]));
  });
  const body = Buffer.from([0x7b, 0x22, 0xc3, 0xbc, 0x00, 0xff, 0x7d]);
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
    const response = await request('/chat/events', {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    expect(await response.json()).toEqual(['/chat/events', body.toString('hex')]);
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  }
  expect(await (await request('/chat/install?code=1')).json()).toEqual(['/chat/install?code=1', '']);
});

test.each([
  ['HEAD', '/chat/install'],
  ['GET', '/chat/%69nstall'],
  ['POST', '/chat/install'],
  ['GET', '/chat/events'],
])('responds with 404 to other requests (%s %s)', async (method, path) => {
  const handle = vi.fn<PlatformRoutes['handle']>((_request, response) => void response.end());
  const request = await serveRoutes(handle);
  expect((await request(path, { method })).status).toBe(404);
  expect(handle).not.toHaveBeenCalled();
});

test('responds with 500 if the platform throws', async () => {
  const request = await serveRoutes(() => {
    throw new Error('broken');
  });
  expect((await request('/chat/install')).status).toBe(500);
});
