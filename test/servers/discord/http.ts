import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { readBody } from './body.ts';
import type { Connection, Faults } from './faults.ts';
import type { Gateway } from './gateway.ts';
import { Refusal } from './refusal.ts';
import { type RouteContext, serve } from './routes.ts';
import type { World } from './world.ts';

export interface RefusedRequest {
  method: string;
  path: string;
  status: number;
  code: number;
  reason: string;
}

export interface HttpParts {
  readonly world: World;
  readonly gateway: Gateway;
  readonly faults: Faults;
  readonly context: RouteContext;
}

/** The HTTP listener: REST, gateway upgrades and CDN files. */
export class HttpSide {
  readonly refused: RefusedRequest[] = [];
  readonly requests: string[] = [];
  readonly happened = new EventEmitter().setMaxListeners(0);
  readonly #parts: () => HttpParts;
  readonly #http: Server;
  readonly #connections = new WeakMap<Socket, Connection>();

  constructor(parts: () => HttpParts) {
    this.#parts = parts;
    this.#http = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        // Requests cut off by a killed process are not mistakes.
        if (!request.complete) return void response.destroy();
        this.refused.push({
          method: request.method ?? '',
          path: request.url ?? '',
          status: 500,
          code: 0,
          reason: `internal error: ${String(error)}`,
        });
        response.destroy();
      });
    });
    this.#http.on('upgrade', (request, socket, head) => parts().gateway.upgrade(request, socket, head));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#http.close(() => resolve());
    });
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname.startsWith('/attachments/')) return this.#serveFile(url, response);
    const method = request.method ?? 'GET';
    const path = url.pathname.replace(/^\/api\/v10/, '');
    const connection = this.#connectionOf(request.socket);
    const body = await readBody(request).catch((error: unknown) => ({ error }));
    this.requests.push(`${method} ${path}`);
    const authorized = request.headers.authorization === `Bot ${this.#parts().gateway.token}`;
    const fault = this.#parts().faults.intercept(method, path, authorized, connection);
    if (fault.early !== undefined)
      this.refused.push({ method, path, status: 429, code: 0, reason: fault.early });
    if (fault.isDropped) return void request.socket.destroy();
    const send = async (status: number, json: unknown, headers: Record<string, string> = {}) => {
      const wait = this.#parts().faults.delayFor(`${method} ${path}`);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const type =
        status === 204 ? {} : { 'content-type': typeof json === 'string' ? 'text/html' : 'application/json' };
      connection.answeredAt = performance.now();
      response.writeHead(status, { ...type, ...fault.headers, ...headers });
      response.end(status === 204 ? undefined : typeof json === 'string' ? json : JSON.stringify(json));
      this.happened.emit('change');
    };
    if (fault.answer && !fault.afterTaking)
      return send(fault.answer.status, fault.answer.body, fault.answer.headers);
    try {
      if ('error' in body) throw body.error;
      const reply = serve(this.#parts().context, method, path, url.searchParams, body, authorized);
      if (fault.answer) await send(fault.answer.status, fault.answer.body);
      else await send(reply.status, reply.json);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Asking whether an interaction has a response is allowed.
      if (method !== 'GET' || !path.startsWith('/webhooks/') || error.status !== 404)
        this.refused.push({ method, path, status: error.status, code: error.code, reason: error.reason });
      await send(error.status, {
        message: error.message,
        code: error.code,
        ...(error.code === 50_035
          ? { errors: { _errors: [{ code: 'INVALID', message: error.reason }] } }
          : {}),
      });
    }
  }

  #connectionOf(socket: Socket): Connection {
    const connection = this.#connections.get(socket) ?? { answeredAt: Number.NEGATIVE_INFINITY };
    this.#connections.set(socket, connection);
    return connection;
  }

  #serveFile(url: URL, response: ServerResponse): void {
    const attachment = this.#parts().world.attachments.get(url.pathname.split('/')[3] ?? '');
    if (!attachment) return void response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': attachment.contentType,
      'content-length': attachment.bytes.length,
    });
    response.end(attachment.bytes);
  }
}
