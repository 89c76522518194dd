import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type Reply = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

export interface Upstream extends AsyncDisposable {
  readonly url: string;
  /** Request bodies answered by a script, oldest first. */
  readonly requests: { readonly path: string; readonly body: unknown }[];
  /** Number of scripted responses aborted by the client. */
  abandoned: number;
  /** Scripts the response to the next request whose path contains this. Other requests are passed to `gateway`. */
  next(path: string, ...replies: Reply[]): void;
  /** Destination of other requests. */
  gateway?: string;
}

/** A proxy in front of the emulator, whose responses a test writes byte by byte. */
export async function startUpstream(): Promise<Upstream> {
  const scripts: { path: string; reply: Reply }[] = [];
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const path = request.url ?? '';
    const index = scripts.findIndex((script) => path.includes(script.path));
    const [script] = index < 0 ? [] : scripts.splice(index, 1);
    if (!script) return pass(request, response, body);
    upstream.requests.push({ path, body: JSON.parse(body.toString() || 'null') });
    response.on('close', () => {
      if (!response.writableFinished) upstream.abandoned += 1;
    });
    await script.reply(response, request);
  }

  async function pass(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && !['host', 'connection', 'content-length'].includes(name)
        ? [[name, value]]
        : [],
    );
    const answer = await fetch(`${upstream.gateway}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Sound because it listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  const upstream: Upstream = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    abandoned: 0,
    next(path, ...replies) {
      scripts.push(...replies.map((reply) => ({ path, reply })));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return upstream;
}

/** A complete answer. */
export const json =
  (value: unknown, status = 200): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };

export function events(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** An event of a chat stream with this text. */
export const chatEvent = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

const chatEnd = (reason = 'stop'): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })}\n\ndata: [DONE]\n\n`;

/** A complete chat stream. */
export const chatStream = (words: readonly string[], reason = 'stop'): string =>
  words.map(chatEvent).join('') + chatEnd(reason);
