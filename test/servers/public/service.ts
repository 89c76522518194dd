/** Common parts of the doubles of public services: an HTTP listener, scripted answers, and a record of requests. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { API_KEY } from '../../gateway/support.ts';

/** The key that every double accepts, and that the tests of the gateway's client send. */
export const SERVICE_KEY = API_KEY;

export interface ServiceRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The body as it was sent. */
  readonly text: string;
}

export interface ServiceAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, strings unchanged. */
  readonly body?: unknown;
  /** Sent instead of `body`, one by one. A generator that throws breaks the connection. */
  readonly chunks?: Iterable<string> | AsyncIterable<string>;
}

export interface AcceptedRequest {
  readonly path: string;
  readonly body: unknown;
}

export interface RefusedByService {
  readonly path: string;
  readonly answer: ServiceAnswer;
}

/** A public service. Doubles and the front of {@link startFacade} pass it requests. */
export interface Service extends AsyncDisposable {
  answer(request: ServiceRequest): ServiceAnswer | Promise<ServiceAnswer>;
  /** Valid requests with a body, oldest first. */
  readonly accepted: AcceptedRequest[];
  /** Requests that break a rule of the documentation. */
  readonly refused: RefusedByService[];
  /** Replaces the answer to the next valid request whose path contains this. */
  next(path: string, answer: ServiceAnswer): void;
  /** The URL that the service gives its files, once it listens. */
  origin: string;
}

/** Thrown for a request that the service refuses. */
export class Refusal extends Error {
  readonly answer: ServiceAnswer;

  constructor(answer: ServiceAnswer) {
    super(`refused: ${JSON.stringify(answer.body)}`);
    this.answer = answer;
  }
}

export interface ServiceParts {
  /** Checks a request, and returns its parsed body. Throws {@link Refusal}. */
  check(request: ServiceRequest): unknown;
  /** Answers a valid request. Throws {@link Refusal}. */
  respond(request: ServiceRequest, body: unknown): ServiceAnswer | Promise<ServiceAnswer>;
  close?(): Promise<void>;
}

export function createService({ check, respond, close }: ServiceParts): Service {
  const scripted: { path: string; answer: ServiceAnswer }[] = [];
  const service: Service = {
    origin: '',
    accepted: [],
    refused: [],
    next: (path, answer) => void scripted.push({ path, answer }),
    async answer(request) {
      try {
        const body = check(request);
        if (body !== undefined) service.accepted.push({ path: request.path, body });
        const at = scripted.findIndex(({ path }) => request.path.includes(path));
        const [script] = at < 0 ? [] : scripted.splice(at, 1);
        return script?.answer ?? (await respond(request, body));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        service.refused.push({ path: request.path, answer: error.answer });
        return error.answer;
      }
    },
    [Symbol.asyncDispose]: async () => close?.(),
  };
  return service;
}

export interface Listening extends AsyncDisposable {
  readonly origin: string;
}

/** Listens on loopback. `route` answers every request. */
export async function listenOn(
  route: (request: ServiceRequest) => ServiceAnswer | Promise<ServiceAnswer>,
): Promise<Listening> {
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://service');
    const { method = 'GET', headers } = incoming;
    const sent = await text(incoming);
    await reply(response, await route({ method, path: pathname, query: searchParams, headers, text: sent }));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Sound: it listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends an answer. */
export async function reply(
  response: ServerResponse,
  { status = 200, headers, body, chunks }: ServiceAnswer,
): Promise<void> {
  const type = chunks ? 'text/event-stream' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  if (chunks) return pipeline(Readable.from(chunks), response);
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  response.end(isRaw ? body : body === undefined ? '' : JSON.stringify(body));
}

export type Double<Kind extends Service = Service> = Kind & { readonly url: string };

/** Starts a double on its own port. `base` is the path in the base URL that its clients are given. */
export async function startDouble<Kind extends Service>(service: Kind, base = ''): Promise<Double<Kind>> {
  const listening = await listenOn((request) => service.answer(request));
  service.origin = listening.origin;
  return {
    ...service,
    url: `${listening.origin}${base}`,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** Parses a JSON body, or calls `refuse`. */
export function parsedBody({ text: sent }: ServiceRequest, refuse: (message: string) => Refusal): unknown {
  try {
    return JSON.parse(sent);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : 'not JSON');
  }
}

/** An event of a stream of server-sent events. */
export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** Four characters a token, as the services' own guides estimate. */
export const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value ?? '').length / 4);

/** The answer of the text models: it counts the person's turns and repeats the last one. */
export function answerTo(questions: readonly string[]): string {
  return `Answer ${questions.length} to “${questions.at(-1)?.trim()}”.`;
}

/** Cuts an answer as a model streams it. */
export const piecesOf = (answer: string): string[] => answer.match(/\S+\s*/g) ?? [];
