/** The listener: one HTTP server whose routes are given to it. */
import type { ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Log } from '../command.ts';

/** Registers routes in a scope of their own: their hooks and body parsers do not reach other routes. */
export type Routes = (scope: FastifyInstance) => void;

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly routes: readonly Routes[];
  readonly log: Log;
  /** How long a sender may take. */
  readonly timeouts?: Partial<HttpTimeouts>;
}

interface HttpTimeouts {
  /** For all headers, in milliseconds. */
  readonly headersMs: number;
  /** For the whole request with its body, in milliseconds. */
  readonly requestMs: number;
  /** For a connection on which nothing moves in either direction, in milliseconds. */
  readonly idleMs: number;
  /** For answers under way when the server closes, in milliseconds. */
  readonly closeMs: number;
}

export interface HttpServer {
  /** Where this machine reaches it, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets answers under way finish for a moment, and ends the rest. */
  close(): Promise<void>;
}

export type ListenErrorCode = 'port-taken' | 'not-permitted' | 'address-unavailable';

/** The listener could not start. The message is a sentence for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code: ListenErrorCode;

  constructor(code: ListenErrorCode, sentence: string, cause: unknown) {
    super(sentence, { cause });
    this.code = code;
  }
}

/** An honest sender of a callback or a probe needs far less. */
const TIMEOUTS = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 60_000,
  closeMs: 5_000,
} satisfies HttpTimeouts;

/** Routes that take a body say how much of it; all others take next to nothing. */
const DEFAULT_BODY_BYTES = 1024;

/** Starts to listen. Throws {@link ListenError} when the address cannot be had. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const timeouts: HttpTimeouts = { ...TIMEOUTS, ...options.timeouts };
  const app = fastify({
    // Its own log lines hold whole URLs, and ours carry signatures.
    logger: false,
    trustProxy: false,
    bodyLimit: DEFAULT_BODY_BYTES,
    requestTimeout: timeouts.requestMs,
    connectionTimeout: timeouts.idleMs,
    http: {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
    },
    routerOptions: { maxParamLength: 256 },
    frameworkErrors: (_error, _request, reply) => {
      void sendNotFound(reply);
    },
  });
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    if (request.is404) return sendNotFound(reply);
  });
  app.addHook('onResponse', async (request, reply) => {
    options.log.debug(
      {
        method: request.method,
        // The pattern and never the URL: a signed URL is a key.
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
      },
      'Answered a request',
    );
  });
  app.setNotFoundHandler((_request, reply) => sendNotFound(reply));
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    if (status >= 500)
      options.log.error({ err: error, route: request.routeOptions.url ?? 'unknown' }, 'A route broke');
    return reply.code(status).send({ error: REASONS[status] ?? (status < 500 ? 'bad request' : 'broken') });
  });
  const underWay = new Set<ServerResponse>();
  app.server.on('request', (_request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
  });
  for (const routes of options.routes) app.register(async (scope) => routes(scope));

  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (error) {
    await app.close();
    throw listenError(error, options);
  }
  const address = app.server.address();
  // A TCP server always answers with an object; text is for pipes.
  const port = typeof address === 'object' && address ? address.port : options.port;
  return {
    url: `http://${reachableHost(options.host)}:${port}`,
    port,
    close: () => close(app, underWay, timeouts.closeMs),
  };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'bad request',
  404: 'not found',
  413: 'too large',
  415: 'unsupported content type or encoding',
  503: 'unavailable',
};

/** The one answer for everything that does not exist, so that nobody can tell a near miss from nonsense. */
export function sendNotFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: REASONS[404] });
}

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return 500;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600 ? statusCode : 500;
}

async function close(app: FastifyInstance, underWay: Set<ServerResponse>, graceMs: number): Promise<void> {
  const end = () => app.server.closeAllConnections();
  const timer = setTimeout(end, graceMs);
  const closed = app.close();
  // Connections that never asked anything count as busy for Node, so only the answers under way are waited for.
  const answers = [...underWay].map(
    (response) => new Promise<void>((resolve) => response.once('close', resolve)),
  );
  void Promise.all(answers).then(end);
  try {
    await closed;
  } finally {
    clearTimeout(timer);
  }
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function listenError(error: unknown, { host, port }: HttpServerOptions): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new ListenError(
        'port-taken',
        `Port ${port} on ${host} is taken by another program: stop that program, or set PORT to a free port.`,
        error,
      );
    case 'EACCES':
      return new ListenError(
        'not-permitted',
        `This user may not listen on port ${port}: set PORT to a port from 1024 on.`,
        error,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ListenError(
        'address-unavailable',
        `This machine has no address ${host}: set HOST to one of its own, such as 127.0.0.1 or 0.0.0.0.`,
        error,
      );
    default:
      return error;
  }
}
