import { describe, expect, test, vi } from 'vitest';
import {
  type PageOptions,
  pageRoutes,
  WEBHOOK_BODY_BYTES,
  type WebhookOptions,
  webhookRoutes,
} from '../../src/http/platform-routes.ts';
import { listen } from './listener.ts';

async function receiver(receive: WebhookOptions['receive']) {
  const server = await listen({ routes: [webhookRoutes({ path: '/chat/events', receive })] });
  const post = (init: RequestInit = {}) =>
    fetch(`${server.url}/chat/events`, { method: 'POST', body: '{}', ...init });
  return { post };
}

describe('what a chat platform posts', () => {
  test('is handed over byte by byte, whatever it calls itself', async () => {
    const receive = vi.fn<WebhookOptions['receive']>(async () => ({ status: 202 }));
    const { post } = await receiver(receive);
    const body = Buffer.from([0x7b, 0x22, 0xc3, 0xbc, 0x00, 0xff, 0x7d]);
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const response = await post({ body, headers: { 'content-type': type, 'x-proof': 'p' } });
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
    expect(receive).toHaveBeenCalledTimes(3);
    for (const [request] of receive.mock.calls) {
      expect(Buffer.compare(request.body, body)).toBe(0);
      expect(request.headers['x-proof']).toBe('p');
    }
  });

  test('is answered with JSON where there is some', async () => {
    const { post } = await receiver(async () => ({ status: 200, json: { type: 1 } }));
    expect(await (await post()).json()).toEqual({ type: 1 });
  });

  test('without a body is empty', async () => {
    const receive = vi.fn<WebhookOptions['receive']>(async () => ({ status: 401 }));
    const { post } = await receiver(receive);
    expect((await post({ body: null })).status).toBe(401);
    expect(receive.mock.calls[0]?.[0].body).toHaveLength(0);
  });

  test('is not found while its platform is not running', async () => {
    const { post } = await receiver(async () => undefined);
    expect((await post()).status).toBe(404);
  });

  test('is refused when it is too large or compressed, and never handed over', async () => {
    const receive = vi.fn<WebhookOptions['receive']>(async () => ({ status: 200 }));
    const { post } = await receiver(receive);
    expect((await post({ body: Buffer.alloc(WEBHOOK_BODY_BYTES + 1) })).status).toBe(413);
    expect((await post({ headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
    expect(receive).not.toHaveBeenCalled();
  });

  test('that breaks its receiver is answered 500', async () => {
    const { post } = await receiver(async () => {
      throw new Error('broken');
    });
    expect((await post()).status).toBe(500);
  });
});

describe('a page of a chat platform', () => {
  async function visitor(visit: PageOptions['visit']) {
    const server = await listen({ routes: [pageRoutes({ paths: ['/chat/install'], visit })] });
    return (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);
  }

  test('is answered by the platform, query and all', async () => {
    const visit = await visitor(({ url }, response) => void response.end(url));
    const response = await visit('/chat/install?code=1');
    expect([response.status, await response.text()]).toEqual([200, '/chat/install?code=1']);
  });

  test.each([
    ['HEAD', '/chat/install'],
    ['GET', '/chat/%69nstall'],
    ['POST', '/chat/install'],
  ])('that the platform would not know is not found (%s %s)', async (method, path) => {
    const visited = vi.fn<PageOptions['visit']>((_request, response) => void response.end());
    const visit = await visitor(visited);
    expect((await visit(path, { method })).status).toBe(404);
    expect(visited).not.toHaveBeenCalled();
  });

  test('that breaks is answered 500', async () => {
    const visit = await visitor(() => {
      throw new Error('broken');
    });
    expect((await visit('/chat/install')).status).toBe(500);
  });
});
