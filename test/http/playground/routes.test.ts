import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { BrowserChat } from '../../../src/core/web/platform-routes.ts';
import { createGuard } from '../../../src/http/playground/guard.ts';
import { playgroundRoutes, playgroundUrl } from '../../../src/http/playground/routes.ts';
import { listenAt } from '../../../src/http/server.ts';
import { collectLog } from '../listener.ts';

const TOKEN = 'Tq3-only-for-tests_9fJ';
const MEBIBYTE = 1024 * 1024;
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** The playground on a free port, with a chat that records its calls. */
async function open() {
  const log = collectLog();
  const listener = await listenAt({ host: '127.0.0.1', port: 0, log });
  onTestFinished(() => listener.close());
  const chat = {
    token: TOKEN,
    uploadBytes: 2 * MEBIBYTE,
    watch: vi.fn<BrowserChat['watch']>(async (_person, send) => send({ type: 'removed', ids: [] })),
    ask: vi.fn<BrowserChat['ask']>(async () => ({ type: 'done' })),
    upload: vi.fn<BrowserChat['upload']>(() => ({ id: 'u1' })),
    uploaded: vi.fn<BrowserChat['uploaded']>((id) =>
      id === 'u1' ? { contentType: 'text/html', bytes: Buffer.from('<script>') } : undefined,
    ),
  } satisfies BrowserChat;
  const options = { chat, url: listener.url };
  await listener.serve([playgroundRoutes(options)]);
  const { host, port } = new URL(listener.url);
  const home = `/playground/${TOKEN}`;

  interface RequestOptions {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Buffer;
  }
  /** Does not use fetch, which sets Host and Origin automatically. */
  const ask = async (path: string, { method = 'GET', headers = {}, body }: RequestOptions = {}) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: { host, ...headers } });
    const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>();
    request.once('response', resolve).once('error', reject);
    request.end(body);
    const response = await promise;
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  const ownHeaders = { origin: `http://${host}`, 'content-type': 'application/json' };
  const post = (path: string, headers: Readonly<Record<string, string>> = {}, body: string | Buffer = '{}') =>
    ask(path, { method: 'POST', headers: { ...ownHeaders, ...headers }, body });
  /** Asks for the WebSocket of events. */
  const upgrade = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(path, { headers: { ...UPGRADE, ...headers } });
  const events = (path: string) => new WebSocket(`ws://${host}${path}`, { origin: `http://${host}` });
  return { chat, log, host, port, home, options, listener, ask, post, upgrade, events };
}

test('serves the page at the printed URL, without caching, framing or inline scripts', async () => {
  const { ask, home, options, host } = await open();
  expect(playgroundUrl(options)).toBe(`http://${host}${home}`);
  const page = await ask(home);
  expect(page.status).toBe(200);
  expect(page.headers['cache-control']).toBe('no-store');
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(page.body).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/);
  const assets = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(assets).toHaveLength(3);
  let bytes = 0;
  for (const path of assets) {
    const asset = await ask(path);
    expect(asset.status).toBe(200);
    bytes += asset.body.length;
  }
  expect(bytes).toBeGreaterThan(1000);
});

test('passes events, requests and uploads to the chat', async () => {
  const { ask, post, home, chat, host, events } = await open();
  const socket = events(`${home}/events?as=ada`);
  const closed = once(socket, 'close');
  const [message] = await once(socket, 'message');
  expect(String(message)).toBe('{"type":"removed","ids":[]}');
  await closed;
  expect(chat.watch.mock.calls[0]?.[0]).toBe('ada');
  expect((await post(`${home}/requests`, {}, '{"type":"line"}')).body).toBe('{"type":"done"}');
  expect(chat.ask).toHaveBeenCalledWith({ type: 'line' });
  const type = { 'content-type': 'application/octet-stream' };
  expect((await post(`${home}/uploads?name=a.png&type=image/png`, type, Buffer.from([1, 2]))).body).toBe(
    '{"id":"u1"}',
  );
  expect(chat.upload).toHaveBeenCalledWith('a.png', 'image/png', Buffer.from([1, 2]));
  const read = await ask('/playground/uploads/u1', { headers: { host, authorization: `Bearer ${TOKEN}` } });
  expect([read.body, read.headers['content-type']]).toEqual(['<script>', 'application/octet-stream']);
  expect((await ask('/playground/uploads/u1')).status).toBe(404);
  expect((await ask('/playground/uploads/u1', { headers: { authorization: 'Bearer x' } })).status).toBe(404);
});

test('responds with 404 to other host names, proxies, other sites and wrong tokens', async () => {
  const { ask, post, upgrade, home, chat, host, port, log } = await open();
  const notFound = { status: 404, body: '{"error":"not found"}' };
  for (const name of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    '127.0.0.1:1',
    `127.0.0.1.evil.example:${port}`,
    `0.0.0.0:${port}`,
  ])
    for (const path of [home, '/']) {
      expect(await ask(path, { headers: { host: name } })).toMatchObject(notFound);
      expect((await upgrade(`${home}/events?as=mo`, { host: name })).status).toBe(404);
    }
  for (const header of ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'cf-connecting-ip', 'via'])
    expect(await ask(home, { headers: { [header]: '127.0.0.1' } })).toMatchObject(notFound);
  for (const origin of [
    'http://evil.example',
    'null',
    `https://${host}`,
    `http://127.0.0.1:1`,
    `http://${host}.evil.example`,
  ]) {
    expect(await post(`${home}/requests`, { origin })).toMatchObject(notFound);
    expect((await upgrade(`${home}/events?as=mo`, { origin })).status).toBe(404);
  }
  for (const site of ['cross-site', 'same-site'])
    expect((await upgrade(`${home}/events?as=mo`, { 'sec-fetch-site': site })).status).toBe(404);
  const withoutOrigin = { 'content-type': 'application/json' };
  expect(await ask(`${home}/requests`, { method: 'POST', headers: withoutOrigin, body: '{}' })).toMatchObject(
    notFound,
  );
  for (const token of [
    `${TOKEN}x`,
    TOKEN.slice(1),
    TOKEN.toLowerCase(),
    '%2e%2e',
    '',
    'x'.repeat(TOKEN.length),
  ]) {
    expect((await ask(`/playground/${token}`)).status).toBe(404);
    expect((await upgrade(`/playground/${token}/events?as=mo`)).status).toBe(404);
    expect((await post(`/playground/${token}/requests`)).status).toBe(404);
    expect((await post(`/playground/${token}/uploads?name=a`)).status).toBe(404);
  }
  const page = await ask(home);
  const asset = /src="([^"]+)"/.exec(page.body)?.[1] ?? '';
  expect((await ask(asset.replace(TOKEN, 'x'.repeat(TOKEN.length)))).status).toBe(404);
  expect([chat.watch, chat.ask, chat.upload].map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0]);
  expect(log.lines.join('\n')).not.toContain(TOKEN);
});

test('rejects bodies that are too large, compressed or not JSON', async () => {
  const { post, home, chat } = await open();
  const bytes = { 'content-type': 'application/octet-stream' };
  const long = JSON.stringify({ type: 'line', line: 'x'.repeat(MEBIBYTE) });
  expect((await post(`${home}/requests`, {}, long)).status).toBe(413);
  expect((await post(`${home}/uploads?name=a`, bytes, Buffer.alloc(2 * MEBIBYTE + 1))).status).toBe(413);
  expect((await post(`${home}/requests`, { 'content-encoding': 'gzip' })).status).toBe(415);
  // A form on another site could send these without a preflight request.
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    expect((await post(`${home}/requests`, { 'content-type': type })).status).toBe(415);
  expect((await post(`${home}/requests`, {}, '{"type":')).status).toBe(400);
  expect((await post(`${home}/uploads`, bytes, Buffer.from('x'))).status).toBe(400);
  expect([chat.ask, chat.upload].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

test('does not reveal without the token that it exists', async () => {
  const { ask, host } = await open();
  const bare = await listenAt({ host: '127.0.0.1', port: 0, log: collectLog() });
  onTestFinished(() => bare.close());
  await bare.serve([]);
  const { status, body } = await ask('/', { headers: { host, accept: 'text/html' } });
  const other = await fetch(bare.url, { headers: { accept: 'text/html' } });
  expect([status, body]).toEqual([other.status, await other.text()]);
});

test('answers requests that offer another protocol', async () => {
  const { ask, home } = await open();
  const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
  expect((await ask(home, { headers })).status).toBe(200);
});

test('survives faulty frames and paths, and ends open pages when the listener closes', async () => {
  const { home, chat, upgrade, events, listener } = await open();
  chat.watch.mockImplementation(async (_person, send, signal) => {
    send({ type: 'removed', ids: [] });
    await once(signal, 'abort');
  });
  for (const path of ['//', '/playground', `${home}/events`]) expect((await upgrade(path)).status).toBe(404);
  const [loud, quiet] = [events(`${home}/events?as=ada`), events(`${home}/events?as=ada`)];
  await Promise.all([loud, quiet].map((socket) => once(socket, 'message')));
  const refused = once(loud, 'close');
  loud.send('x'.repeat(2000));
  await refused;
  const ended = once(quiet, 'close');
  await Promise.all([listener.close(), ended]);
});

test('rejects requests from other machines', () => {
  const isAllowed = createGuard('3000');
  const from = (remoteAddress: string | undefined) =>
    isAllowed({ method: 'GET', headers: { host: '127.0.0.1:3000' }, socket: { remoteAddress } });
  expect(['127.0.0.1', '::1', '::ffff:127.0.0.1'].map(from)).toEqual([true, true, true]);
  expect(['10.0.0.7', '::ffff:10.0.0.7', 'fe80::1', undefined].map(from)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
