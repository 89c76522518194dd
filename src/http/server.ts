/** The HTTP listener. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { OperatorError, systemErrorCode } from '../core/errors.ts';
import type { Log } from '../core/telemetry/log.ts';
import { sendNotFound } from './not-found.ts';

/** Registers routes in a separate scope: their hooks and body parsers do not affect other routes. */
export type Routes = (scope: FastifyInstance) => void;

export interface ListenOptions {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** The operator's setting that errors name. Default: `PORT`. */
  readonly setting?: 'PORT' | 'ADMIN_PORT';
  readonly log: Log;
  readonly timeouts?: Partial<typeof TIMEOUTS>;
}

export interface HttpServerOptions extends ListenOptions {
  readonly routes: readonly Routes[];
}

export interface HttpServer {
  /** The URL on this machine, without a trailing slash. */
  readonly url: string;
  /** Stops accepting connections, waits briefly for responses in progress, and ends the rest. */
  close(): Promise<void>;
}

/** A server whose URL is known before its routes. It responds with 503 until `serve` is called. */
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

/** In milliseconds. Real callbacks and probes need far less. */
const TIMEOUTS = {
  /** To receive all headers of a request. */
  headersMs: 10_000,
  /** To receive a request with its body. */
  requestMs: 30_000,
  /** Without traffic in either direction. */
  idleMs: 60_000,
  /** To finish responses in progress when the server closes. */
  closeMs: 5_000,
};

/** Routes that accept a body set their own limit. */
const DEFAULT_BODY_BYTES = 1024;

/** Pending connections. Node's default of 511 is too small for bursts of callbacks. */
const BACKLOG = 4096;

/** Starts listening and serves the routes. Throws {@link ListenError} if the address is not available. */
export async function createHttpServer({ routes, ...options }: HttpServerOptions): Promise<HttpServer> {
  const listener = await listenAt(options);
  await listener.serve(routes);
  return listener;
}

/** Starts listening without routes. Throws {@link ListenError} if the address is not available. */
export async function listenAt(options: ListenOptions): Promise<Listener> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server: Server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
    // Clients that offer another protocol, such as `h2c`, get a response over HTTP/1.1.
    shouldUpgradeCallback: ({ headers }) =>
      headers.upgrade?.toLowerCase() === 'websocket' && server.listenerCount('upgrade') > 0,
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
  // A TCP server always has an object; strings are for pipes.
  const port = typeof address === 'object' && address ? address.port : options.port;
  let app: FastifyInstance | undefined;
  return {
    url: urlAt({ host: options.host, port }),
    async serve(routes) {
      app = createApp(server, options.log);
      for (const route of routes) app.register(async (scope) => route(scope));
      await app.ready();
      server.off('request', refuse);
      server.on('request', app.routing);
    },
    async close() {
      // The app ends its WebSockets, which Node counts as connections.
      await Promise.all([close(server, inProgress, timeouts.closeMs), app?.close()]);
    },
  };
}

/** https://www.rfc-editor.org/rfc/rfc6890, as named by ipaddr.js. */
const OWN_RANGES: ReadonlySet<string> = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal']);

/** An IP address, which some proxies write with a port. Undefined for other texts. */
export function readAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, bracketed, plain = bracketed ?? text] =
    /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  // `isValid` also accepts numbers and octal parts.
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain);
  return isAddress ? ipaddr.process(plain) : undefined;
}

/** Whether an address belongs to this machine or its network, where proxies run. False for invalid addresses. */
export function isOwnNetwork(text: string): boolean {
  const address = readAddress(text);
  return address !== undefined && OWN_RANGES.has(address.range());
}

const HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

function createApp(server: Server, log: Log): FastifyInstance {
  const app = fastify({
    // Fastify logs full URLs, and ours contain signatures.
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
        // The pattern, never the URL: a signed URL is a secret.
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
      log.error({ err: error, route: request.routeOptions.url ?? 'unknown' }, 'Request failed');
    return reply
      .code(status)
      .send({ error: REASONS[status] ?? (status < 500 ? 'bad request' : 'internal error') });
  });
  return app;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'bad request',
  413: 'too large',
  415: 'unsupported content type or encoding',
  503: 'unavailable',
};

/** Used to reject compressed bodies, since a small one could expand without limit. */
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
  // Node counts connections without a request as busy, so wait only for responses in progress.
  const finished = [...inProgress].map((response) => once(response, 'close'));
  void Promise.all(finished).then(end);
  await closed.finally(() => clearTimeout(timer));
}

/** The URL at which this machine reaches a listener, without a trailing slash. */
export const urlAt = ({ host, port }: Pick<ListenOptions, 'host' | 'port'>): string =>
  `http://${reachableHost(host)}:${port}`;

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function listenError(error: unknown, { host, port, setting = 'PORT' }: ListenOptions): unknown {
  switch (systemErrorCode(error)) {
    case 'EADDRINUSE': {
      const sentence = `Port ${port} on ${host} is in use by another program: stop that program, or set ${setting} to a free port.`;
      return new ListenError('port-taken', sentence, error);
    }
    case 'EACCES': {
      const sentence = `This user is not allowed to listen on port ${port}: set ${setting} to 1024 or higher.`;
      return new ListenError('not-permitted', sentence, error);
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const sentence = `This machine does not have the address ${host}: set ${setting === 'PORT' ? 'HOST' : setting} to an address it has, such as 127.0.0.1 or 0.0.0.0.`;
      return new ListenError('address-unavailable', sentence, error);
    }
    default:
      return error;
  }
}
