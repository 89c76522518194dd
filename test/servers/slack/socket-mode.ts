import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { SlackRefusal } from './call.ts';
import { asFields, type Fields, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import type { Workspace } from './workspace.ts';

export type EnvelopeType = 'slash_commands' | 'interactive' | 'events_api';

export interface Delivery {
  /** The payload of the app's acknowledgement; undefined without a payload or acknowledgement. */
  ack: Fields | undefined;
  acknowledged: boolean;
  /** The number of times the envelope was sent. */
  attempts: number;
  /** The time from the last attempt to the acknowledgement, in ms. */
}

/** Sends one payload to the app. Resolves when it is acknowledged or given up. */
export type Deliver = (type: EnvelopeType, payload: Fields, acceptsResponse: boolean) => Promise<Delivery>;

export interface SocketModeOptions {
  workspace: Workspace;
  /** The acknowledgement deadline; three seconds on Slack. */
  ackTimeoutMs: number;
  /** Delays before an unacknowledged event is resent; on Slack none, one minute and five minutes. */
  redeliveryMs: readonly number[];
}

/** Slack's side of Socket Mode: tickets, hello, envelopes to one connection each, acknowledgements, redelivery. */
export class SocketMode {
  readonly #options: SocketModeOptions;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #open: WebSocket[] = [];
  readonly #tickets = new Set<string>();
  readonly #waiting = new Map<string, (payload: unknown) => void>();
  #events = 0;
  #closing = false;
  /** The total number of connections. */
  connected = 0;

  constructor(options: SocketModeOptions) {
    this.#options = options;
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket, head) => {
      const url = new URL(request.url ?? '/', 'http://slack');
      const ticket = url.searchParams.get('ticket') ?? '';
      if (this.#closing || url.pathname !== '/link/' || !this.#tickets.delete(ticket)) {
        socket.destroy();
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (websocket) => this.#welcome(websocket));
    });
  }

  /** Creates a one-time URL for a new connection, as `apps.connections.open` returns it. */
  ticket(baseUrl: string): string {
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    return `${baseUrl.replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=${this.#options.workspace.appId}`;
  }

  get connections(): number {
    return this.#open.length;
  }

  /** Asks every client to reconnect, as Slack does every few hours. */
  refresh(): void {
    for (const socket of this.#open)
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
  }

  /** Drops every connection without a close frame. */
  drop(): void {
    for (const socket of this.#open) socket.terminate();
  }

  /** Closes every connection with a handshake, and drops those that do not respond. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(
      this.#open.map(async (socket) => {
        const closed = once(socket, 'close');
        socket.close(1001);
        const timeout = setTimeout(() => socket.terminate(), 500);
        await closed;
        clearTimeout(timeout);
      }),
    );
    this.#sockets.close();
  }

  /** Sends one payload. Resolves when it is acknowledged or given up. */
  async deliver(type: EnvelopeType, payload: Fields, acceptsResponse: boolean): Promise<Delivery> {
    const waits = type === 'events_api' ? this.#options.redeliveryMs : [];
    for (let attempt = 0; ; attempt += 1) {
      const ack = await this.#send({
        type,
        envelope_id: randomUUID(),
        payload,
        accepts_response_payload: acceptsResponse,
        ...(type === 'events_api'
          ? { retry_attempt: attempt, retry_reason: attempt === 0 ? '' : 'timeout' }
          : {}),
      });
      if (ack !== undefined) {
        const body = asFields(asFields(ack).payload);
        if (!acceptsResponse && Object.keys(body).length > 0) {
          this.#refuse(type, 'unexpected_response_payload', payload);
        }
        return {
          ack: Object.keys(body).length > 0 ? body : undefined,
          acknowledged: true,
          attempts: attempt + 1,
        };
      }
      this.#refuse(type, 'operation_timeout', payload);
      const wait = waits[attempt];
      if (wait === undefined) return { ack: undefined, acknowledged: false, attempts: attempt + 1 };
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  #refuse(type: EnvelopeType, error: string, payload: Fields): void {
    this.#options.workspace.refuse({
      method: type,
      error,
      detail: [`Not acknowledged within ${this.#options.ackTimeoutMs} ms`],
      arguments: payload,
    });
  }

  async #send(envelope: Fields & { envelope_id: string }): Promise<unknown> {
    const socket = await this.#nextSocket();
    if (socket === undefined) return undefined;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(envelope.envelope_id);
        resolve(undefined);
      }, this.#options.ackTimeoutMs);
      this.#waiting.set(envelope.envelope_id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      socket.send(JSON.stringify(envelope));
    });
  }

  /** Chooses the next connection for each event. Without one, waits as long as for an acknowledgement. */
  async #nextSocket(): Promise<WebSocket | undefined> {
    const until = performance.now() + this.#options.ackTimeoutMs;
    while (this.#open.length === 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.#events += 1;
    return this.#open[this.#events % Math.max(this.#open.length, 1)];
  }

  #welcome(socket: WebSocket): void {
    if (this.#open.length >= SLACK.socketConnections) {
      socket.close();
      throw new SlackRefusal('too_many_websockets');
    }
    this.#open.push(socket);
    this.connected += 1;
    socket.on('close', () => this.#open.splice(this.#open.indexOf(socket), 1));
    socket.on('message', (data) => {
      const message: unknown = JSON.parse(String(data));
      const id = isFields(message) ? String(message.envelope_id) : '';
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    });
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: this.#open.length,
        connection_info: { app_id: this.#options.workspace.appId },
        debug_info: { host: 'applink', approximate_connection_time: 18060 },
      }),
    );
    this.#options.workspace.emit('changed');
  }
}
