/** The chat in the browser, for this machine alone. Whatever else asks gets the answer of what does not exist. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BrowserChat } from '../../core/web/platform-routes.ts';
import { isSameSecret } from '../../core/web/signatures.ts';
import { type AssetSources, assetRoutes, lazyAssets, pageHeaders } from '../assets.ts';
import { sendNotFound } from '../not-found.ts';
import { isCompressed, type Routes } from '../server.ts';
import { createGuard } from './guard.ts';

export interface PlaygroundOptions {
  readonly chat: BrowserChat;
  /** Where this machine reaches the listener. */
  readonly url: string;
}

/** Where the page is: it is printed at the start, and is as good as a password. */
export const playgroundUrl = ({ url, chat: { token } }: PlaygroundOptions): string =>
  `${url}/playground/${token}`;

const REQUEST_BYTES = 1024 * 1024;
/** Less than the listener lets a connection be silent. */
const PING_MS = 20_000;
/** A page that reads more slowly is disconnected; it reconnects and gets the whole state. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * `GET /` says where to look. Under `/playground/:token` are the page, its modules, `GET events`, `POST requests` and
 * `POST uploads`; the bot itself reads uploads at `GET /playground/uploads/:id`.
 */
export function playgroundRoutes({ chat, url }: PlaygroundOptions): Routes {
  const { port } = new URL(url);
  const isOurs = createGuard(port);
  const assets = lazyAssets({ ...SOURCES, path: `/playground/${chat.token}/assets` });

  return (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!isOurs(request)) return refuse(reply);
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
      if (!isBot || !upload) return refuse(reply);
      return reply.header('cache-control', 'no-store').type('application/octet-stream').send(upload.bytes);
    });

    scope.register(async (inside) => {
      inside.addHook<{ Params: { token: string } }>('onRequest', async (request, reply) => {
        if (!isSameSecret(request.params.token, chat.token)) return refuse(reply);
      });
      assetRoutes('/playground/:token/assets', assets)(inside);
      inside.get('/playground/:token', async (_request, reply) => {
        const found = await assets();
        return reply
          .headers({ ...pageHeaders(), 'cache-control': 'no-store' })
          .send(pageOf({ style: found.path('styles.css'), script: found.path('playground.js') }));
      });
      inside.get<{ Querystring: { as?: unknown } }>('/playground/:token/events', async (request, reply) => {
        const { as } = request.query;
        if (typeof as !== 'string') return refuse(reply);
        await sendEvents(chat, as, request, reply);
      });

      inside.addContentTypeParser(
        'application/json',
        { parseAs: 'string' },
        inside.getDefaultJsonParser('error', 'error'),
      );
      inside.post('/playground/:token/requests', {
        bodyLimit: REQUEST_BYTES,
        onRequest: refuseCompressed,
        handler: async (request, reply) => {
          const answer = await chat.ask(request.body);
          reply.header('cache-control', 'no-store');
          return answer ? reply.send(answer) : reply.code(400).send({ error: 'bad request' });
        },
      });

      inside.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
        done(null, body),
      );
      inside.post<{ Body: unknown; Querystring: { name?: unknown; type?: unknown } }>(
        '/playground/:token/uploads',
        {
          bodyLimit: chat.uploadBytes,
          onRequest: refuseCompressed,
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

const refuse = (reply: FastifyReply): FastifyReply => sendNotFound(reply.header('cache-control', 'no-store'));

async function refuseCompressed(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
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
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
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
      if (raw.writableLength > MOST_UNREAD_BYTES) raw.destroy();
    },
    gone.signal,
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
<title>Minstrel’s playground</title>
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
