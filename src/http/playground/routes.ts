/** Serves the browser chat to this machine only. All other requests get a 404. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import type { BrowserChat } from '../../core/web/platform-routes.ts';
import { isSameSecret } from '../../core/web/signatures.ts';
import { type AssetSources, assetRoutes, lazyAssets, pageHeaders } from '../assets.ts';
import { sendNotFound } from '../not-found.ts';
import { isCompressed, type Routes } from '../server.ts';
import { createGuard, type Guard } from './guard.ts';

export interface PlaygroundOptions {
  readonly chat: BrowserChat;
  /** The listener's URL on this machine. */
  readonly url: string;
}

/** The page's URL, printed at startup. Treat it like a password. */
export const playgroundUrl = ({ url, chat: { token } }: PlaygroundOptions): string =>
  `${url}/playground/${token}`;

const REQUEST_BYTES = 1024 * 1024;
/** A page with more unread data is disconnected; it reconnects and gets the full state. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * `/playground/:token` serves the page, its modules, the WebSocket `events`, `POST requests` and `POST uploads`. The bot reads
 * uploads at `GET /playground/uploads/:id`.
 */
export function playgroundRoutes({ chat, url }: PlaygroundOptions): Routes {
  const { port } = new URL(url);
  const isAllowed = createGuard(port);
  const assets = lazyAssets({ ...SOURCES, path: `/playground/${chat.token}/assets` });

  return (scope) => {
    eventSockets({ chat, url, isAllowed })(scope);
    scope.addHook('onRequest', async (request, reply) => {
      if (!isAllowed(request)) return sendRefusal(reply);
    });

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
        const { path } = await assets();
        const page = pageOf({
          style: path('styles.css'),
          script: path('playground.js'),
          icon: path('icon.svg'),
        });
        return reply.headers({ ...pageHeaders(), 'cache-control': 'no-store' }).send(page);
      });

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
  // Shared with song pages.
  files: ['audio.js', 'deck.js', 'elements.js', 'mixing.js', 'shared.css'].map(
    (name) => new URL(`../pages/browser/${name}`, import.meta.url),
  ),
  packages: { 'htm/preact/standalone': new URL(import.meta.resolve('htm/preact/standalone')) },
  packageFolders: { 'sugar-high': new URL('./', import.meta.resolve('sugar-high')) },
  styles: [
    ...['shared.css', 'base.css', 'layout.css', 'welcome.css', 'messages.css'],
    ...['markdown.css', 'media.css', 'composer.css', 'forms.css', 'motion.css'],
  ],
};

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= 300;

const sendRefusal = (reply: FastifyReply): FastifyReply =>
  sendNotFound(reply.header('cache-control', 'no-store'));

async function rejectCompressed(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if (isCompressed(request)) return reply.code(415).send({ error: 'send the body uncompressed' });
  return undefined;
}

/** A WebSocket for each page: browsers open at most six streams over HTTP to one host, and pages in other tabs share them. */
function eventSockets({ chat, url, isAllowed }: PlaygroundOptions & { readonly isAllowed: Guard }): Routes {
  const path = `/playground/${chat.token}/events`;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 });
  return (scope) => {
    scope.addHook('onClose', async () => {
      for (const socket of sockets.clients) socket.terminate();
    });
    scope.server.on('upgrade', (request: IncomingMessage, connection: Socket, head: Buffer) => {
      const { pathname = '', searchParams } = URL.parse(request.url ?? '', url) ?? {};
      const person = searchParams?.get('as');
      if (!isAllowed(request) || !isSameSecret(pathname, path) || typeof person !== 'string') {
        connection.on('error', () => connection.destroy());
        connection.end('HTTP/1.1 404 Not Found\r\ncache-control: no-store\r\nconnection: close\r\n\r\n');
        return;
      }
      sockets.handleUpgrade(request, connection, head, (socket) => void sendEvents(chat, person, socket));
    });
  };
}

async function sendEvents(chat: BrowserChat, person: string, socket: WebSocket): Promise<void> {
  const disconnected = new AbortController();
  socket.once('close', () => disconnected.abort());
  // A faulty frame closes the socket as well.
  socket.on('error', () => socket.terminate());
  await chat.watch(
    person,
    (event) => {
      socket.send(JSON.stringify(event));
      if (socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
    },
    disconnected.signal,
  );
  socket.close();
}

function pageOf({ style, script, icon }: Readonly<Record<'style' | 'script' | 'icon', string>>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Minstrel playground</title>
<link rel="icon" href="${icon}" type="image/svg+xml">
<link rel="stylesheet" href="${style}">
</head>
<body>
<div id="app"><p class="loading">Loading the playground… It needs JavaScript.</p></div>
<script type="module" src="${script}"></script>
</body>
</html>
`;
}
