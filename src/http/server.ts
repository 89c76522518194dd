/** The listener: one HTTP server whose routes are given to it. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { OperatorError, systemErrorCode } from '../core/errors.ts';
import type { Log } from '../core/telemetry/log.ts';
import { sendNotFound } from './not-found.ts';

/** Registers routes in a scope of their own: their hooks and body parsers do not reach other routes. */
export type Routes = (scope: FastifyInstance) => void;

export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Log;
  readonly timeouts?: Partial<typeof TIMEOUTS>;
}

export interface HttpServerOptions extends ListenOptions {
  readonly routes: readonly Routes[];
}

export interface HttpServer {
  /** Where this machine reaches it, without a slash at the end. */
  readonly url: string;
  /** Takes no new connections, lets responses in progress finish for a moment, and ends the rest. */
  close(): Promise<void>;
}

/** A server whose address is known before its routes: until it serves them, every response is 503. */
export interface Listener extends HttpServer {
  serve(routes: readonly Routes[]): Promise<void>;
}

export type ListenErrorCode = 'port-taken' | 'not-permitted' | 'address-unavailable';

/** The listener could not start. The message is a sentence for the operator. */
export class ListenError extends OperatorError {
  override readonly name = 'ListenError';
  readonly code: ListenErrorCode;

  constructor(code: ListenErrorCode, sentence: string, cause: unknown) {
    super(sentence, { cause });
    this.code = code;
  }
}

/** In milliseconds. An honest sender of a callback or a probe needs far less. */
const TIMEOUTS = {
  /** For all headers of a request. */
  headersMs: 10_000,
  /** For a request with its body. */
  requestMs: 30_000,
  /** For a connection without traffic in either direction. */
  idleMs: 60_000,
  /** For responses in progress when the server closes. */
  closeMs: 5_000,
};

/** Routes that take a body say how much of it; all others take next to nothing. */
const DEFAULT_BODY_BYTES = 1024;

/** Pending connections. Node's default of 511 is too small for bursts of callbacks. */
const BACKLOG = 4096;

/** Listens with its routes. Throws {@link ListenError} when the address cannot be had. */
export async function createHttpServer({ routes, ...options }: HttpServerOptions): Promise<HttpServer> {
  const listener = await listenAt(options);
  await listener.serve(routes);
  return listener;
}

/** Takes the address. Throws {@link ListenError} when it cannot be had. */
export async function listenAt(options: ListenOptions): Promise<Listener> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
  });
  server.setTimeout(timeouts.idleMs);
  const inProgress = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    inProgress.add(response);
    response.once('close', () => inProgress.delete(response));
  });
  const refuse = (_request: unknown, response: ServerResponse) =>
    void response.writeHead(503, { 'retry-after': '1' }).end();
  server.on('request', refuse);
  try {
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG });
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error, options);
  }
  const address = server.address();
  // A TCP server always answers with an object; text is for pipes.
  const port = typeof address === 'object' && address ? address.port : options.port;
  let app: FastifyInstance | undefined;
  return {
    url: `http://${reachableHost(options.host)}:${port}`,
    async serve(routes) {
      app = createApp(server, options.log);
      for (const route of routes) app.register(async (scope) => route(scope));
      await app.ready();
      server.off('request', refuse);
      server.on('request', app.routing);
    },
    async close() {
      await close(server, inProgress, timeouts.closeMs);
      await app?.close();
    },
  };
}

/** https://www.rfc-editor.org/rfc/rfc6890, in the words of ipaddr.js. */
const OWN_RANGES: ReadonlySet<string> = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal']);

/** Whether an address is of this machine or its network, where proxies run. False for other text. */
export const isOwnNetwork = (address: string): boolean =>
  ipaddr.isValid(address) && OWN_RANGES.has(ipaddr.process(address).range());

const HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** Answers the server's requests. */
function createApp(server: Server, log: Log): FastifyInstance {
  const app = fastify({
    // Its own log lines hold whole URLs, and ours carry signatures.
    logger: false,
    // Trust a proxy on this machine or network for the client's address.
    trustProxy: isOwnNetwork,
    bodyLimit: DEFAULT_BODY_BYTES,
    routerOptions: { maxParamLength: 256 },
    serverFactory: () => server,
    frameworkErrors: (_error, _request, reply) => {
      void sendNotFound(reply);
    },
  });
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(HEADERS);
    if (request.is404) sendNotFound(reply);
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    log.debug(
      {
        method: request.method,
        // The pattern and never the URL: a signed URL is a key.
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
      },
      'Request completed',
    );
    done();
  });
  app.setNotFoundHandler((_request, reply) => sendNotFound(reply));
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    if (status >= 500)
      log.error({ err: error, route: request.routeOptions.url ?? 'unknown' }, 'Route failed');
    return reply.code(status).send({ error: REASONS[status] ?? (status < 500 ? 'bad request' : 'broken') });
  });
  return app;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'bad request',
  413: 'too large',
  415: 'unsupported content type or encoding',
  503: 'unavailable',
};

/** Compressed bodies are refused: a small one could grow without end. */
export function isCompressed({ headers }: FastifyRequest): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding.trim().toLowerCase() !== 'identity';
}

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return 500;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600 ? statusCode : 500;
}

async function close(server: Server, inProgress: Set<ServerResponse>, graceMs: number): Promise<void> {
  const end = () => server.closeAllConnections();
  const timer = setTimeout(end, graceMs);
  const closed = once(server, 'close');
  server.close();
  // Node counts connections without a request as busy, so only responses in progress are waited for.
  const answers = [...inProgress].map((response) => once(response, 'close'));
  void Promise.all(answers).then(end);
  await closed.finally(() => clearTimeout(timer));
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function listenError(error: unknown, { host, port }: ListenOptions): unknown {
  switch (systemErrorCode(error)) {
    case 'EADDRINUSE': {
      const sentence = `Port ${port} on ${host} is in use by another program: stop that program, or set PORT to a free port.`;
      return new ListenError('port-taken', sentence, error);
    }
    case 'EACCES': {
      const sentence = `This user is not allowed to listen on port ${port}: set PORT to 1024 or higher.`;
      return new ListenError('not-permitted', sentence, error);
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const sentence = `This machine does not have the address ${host}: set HOST to an address it has, such as 127.0.0.1 or 0.0.0.0.`;
      return new ListenError('address-unavailable', sentence, error);
    }
    default:
      return error;
  }
}
