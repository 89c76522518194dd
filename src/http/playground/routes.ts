/** Serves the browser chat to this machine only. All other requests get a 404. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BrowserChat } from '../../core/web/platform-routes.ts';
import { isSameSecret } from '../../core/web/signatures.ts';
import { type AssetSources, assetRoutes, lazyAssets, pageHeaders } from '../assets.ts';
import { sendNotFound } from '../not-found.ts';
import { isCompressed, type Routes } from '../server.ts';
import { createGuard } from './guard.ts';

export interface PlaygroundOptions {
  readonly chat: BrowserChat;
  /** The listener's URL on this machine. */
  readonly url: string;
}

/** The page's URL, printed at startup. Treat it like a password. */
export const playgroundUrl = ({ url, chat: { token } }: PlaygroundOptions): string =>
  `${url}/playground/${token}`;

const REQUEST_BYTES = 1024 * 1024;
/** Shorter than the listener's idle timeout. */
const PING_MS = 20_000;
/** A page with more unread data is disconnected; it reconnects and gets the full state. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * `GET /` explains how to find the page. `/playground/:token` serves the page, its modules, `GET events`, `POST requests` and
 * `POST uploads`. The bot reads uploads at `GET /playground/uploads/:id`.
 */
export function playgroundRoutes({ chat, url }: PlaygroundOptions): Routes {
  const { port } = new URL(url);
  const isAllowed = createGuard(port);
  const assets = lazyAssets({ ...SOURCES, path: `/playground/${chat.token}/assets` });

  return (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!isAllowed(request)) return sendRefusal(reply);
    });

    scope.get('/', (_request, reply) =>
      reply
        .code(403)
        .headers({ 'cache-control': 'no-store' })
        .type('text/plain; charset=utf-8')
        .send('Open the playground at the address Minstrel printed when it started.\n'),
    );

    scope.get<{ Params: { id: string } }>('/playground/uploads/:id', async (request, reply) => {
      const upload = chat.uploaded(request.params.id);
      const isBot = isSameSecret(request.headers.authorization ?? '', `Bearer ${chat.token}`);
      if (!isBot || !upload) return sendRefusal(reply);
      return reply.header('cache-control', 'no-store').type('application/octet-stream').send(upload.bytes);
    });

    scope.register(async (tokenScope) => {
      tokenScope.addHook<{ Params: { token: string } }>('onRequest', async (request, reply) => {
        if (!isSameSecret(request.params.token, chat.token)) return sendRefusal(reply);
      });
      assetRoutes('/playground/:token/assets', assets)(tokenScope);
      tokenScope.get('/playground/:token', async (_request, reply) => {
        const loaded = await assets();
        return reply
          .headers({ ...pageHeaders(), 'cache-control': 'no-store' })
          .send(pageOf({ style: loaded.path('styles.css'), script: loaded.path('playground.js') }));
      });
      tokenScope.get<{ Querystring: { as?: unknown } }>(
        '/playground/:token/events',
        async (request, reply) => {
          const { as } = request.query;
          if (typeof as !== 'string') return sendRefusal(reply);
          await sendEvents(chat, as, request, reply);
        },
      );

      tokenScope.addContentTypeParser(
        'application/json',
        { parseAs: 'string' },
        tokenScope.getDefaultJsonParser('error', 'error'),
      );
      tokenScope.post('/playground/:token/requests', {
        bodyLimit: REQUEST_BYTES,
        onRequest: rejectCompressed,
        handler: async (request, reply) => {
          const answer = await chat.ask(request.body);
          reply.header('cache-control', 'no-store');
          return answer ? reply.send(answer) : reply.code(400).send({ error: 'bad request' });
        },
      });

      tokenScope.addContentTypeParser(
        'application/octet-stream',
        { parseAs: 'buffer' },
        (_request, body, done) => done(null, body),
      );
      tokenScope.post<{ Body: unknown; Querystring: { name?: unknown; type?: unknown } }>(
        '/playground/:token/uploads',
        {
          bodyLimit: chat.uploadBytes,
          onRequest: rejectCompressed,
          handler: async ({ body, query: { name, type = '' } }, reply) => {
            if (!Buffer.isBuffer(body) || !isShort(name) || !isShort(type))
              return reply.code(400).send({ error: 'bad request' });
            return reply.send(chat.upload(name, type, body));
          },
        },
      );
    });
  };
}

const SOURCES: Omit<AssetSources, 'path'> = {
  folders: [new URL('./browser/', import.meta.url), new URL('./styles/', import.meta.url)],
  packages: { 'htm/preact/standalone': new URL(import.meta.resolve('htm/preact/standalone')) },
  styles: [
    ...['base.css', 'layout.css', 'welcome.css', 'messages.css'],
    ...['markdown.css', 'media.css', 'composer.css', 'forms.css'],
  ],
};

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= 300;

const sendRefusal = (reply: FastifyReply): FastifyReply =>
  sendNotFound(reply.header('cache-control', 'no-store'));

async function rejectCompressed(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (isCompressed(request)) return reply.code(415).send({ error: 'send the body uncompressed' });
  return undefined;
}

async function sendEvents(
  chat: BrowserChat,
  person: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw } = reply;
  reply.hijack();
  const disconnected = new AbortController();
  raw.once('close', () => disconnected.abort());
  request.raw.socket.setNoDelay(true);
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  raw.write('retry: 1000\n\n');
  const ping = setInterval(() => raw.write(': still here\n\n'), PING_MS);
  await chat.watch(
    person,
    (event) => {
      raw.write(`data: ${JSON.stringify(event)}\n\n`);
      if (raw.writableLength > MAX_UNREAD_BYTES) raw.destroy();
    },
    disconnected.signal,
  );
  clearInterval(ping);
  raw.end();
}

function pageOf({ style, script }: { readonly style: string; readonly script: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Minstrel playground</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
</head>
<body>
<div id="app"><p class="loading">Loading the playground… It needs JavaScript.</p></div>
<script type="module" src="${script}"></script>
</body>
</html>
`;
}
