/**
 * A proxy between the bot and the emulator. Fails requests according to the plan, and records paid requests, so that double
 * payments are found independently of the bot.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChaosOptions, type GatewayFault, planGatewayFault } from './plan.ts';

/** In every prompt of a run, to map a request to its ask. */
const MARK = /chaos-\d+-/;

export interface GatewayProxy {
  readonly url: string;
  /** How often the gateway accepted each paid request, by `route mark`. */
  readonly taken: ReadonlyMap<string, number>;
  /** The number of requests with a fault. */
  readonly faults: number;
  calm(): void;
  close(): Promise<void>;
}

export async function startGatewayProxy(
  options: Pick<ChaosOptions, 'seed' | 'failing'>,
  target: () => string,
): Promise<GatewayProxy> {
  const taken = new Map<string, number>();
  const attempts = new Map<string, number>();
  let calm = false;
  let faults = 0;

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const path = request.url ?? '/';
    const mark = MARK.exec(body.toString('utf8'))?.[0];
    const isPaid = request.method === 'POST' && mark !== undefined;
    const kind = `${routeOf(path)} ${mark ?? ''}`;
    const attempt = (attempts.get(kind) ?? 0) + 1;
    attempts.set(kind, attempt);
    const fault = calm || path.includes('/models') ? undefined : planGatewayFault(options, kind, attempt);
    const appliedFault = fault?.type === 'callback' && !path.includes('/music/') ? undefined : fault;
    if (appliedFault) faults += 1;
    await applyFault(appliedFault);

    async function applyFault(planned: GatewayFault | undefined): Promise<void> {
      switch (planned?.type) {
        case 'status': {
          const { status, retryAfter } = planned;
          const headers = retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` };
          response.writeHead(status, { 'content-type': 'application/json', ...headers });
          response.end(JSON.stringify({ code: status, msg: 'planned' }));
          return;
        }
        case 'reset':
          request.socket.destroy();
          return;
        case 'lost': {
          await forward({});
          if (planned.how === 'reset') request.socket.destroy();
          else response.writeHead(502, { 'content-type': 'application/json' }).end('{"code":502}');
          return;
        }
        case 'slow':
          await sleep(planned.milliseconds);
          return await answer({});
        case 'callback':
          return await answer({ 'x-emulator-fault': planned.fault });
        case undefined:
          return await answer({});
        default:
          planned satisfies never;
      }
    }

    async function forward(extra: Record<string, string>): Promise<Response> {
      const reply = await fetch(`${target()}${path}`, {
        method: request.method ?? 'GET',
        headers: { ...plainHeaders(request.headers), ...extra },
        ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
      });
      if (isPaid && reply.ok && !(await refuses(reply.clone()))) taken.set(kind, (taken.get(kind) ?? 0) + 1);
      return reply;
    }

    async function answer(extra: Record<string, string>): Promise<void> {
      const reply = await forward(extra);
      const type = reply.headers.get('content-type');
      response.writeHead(reply.status, type === null ? {} : { 'content-type': type });
      if (reply.body) for await (const chunk of reply.body) response.write(chunk);
      response.end();
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The cast is safe, because a listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    taken,
    get faults() {
      return faults;
    },
    calm: () => {
      calm = true;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Music refuses with HTTP 200 and a code in the body. */
async function refuses(reply: Response): Promise<boolean> {
  if (!(reply.headers.get('content-type') ?? '').includes('json')) return false;
  const body: unknown = await reply.json().catch(() => undefined);
  return typeof body === 'object' && body !== null && 'code' in body && body.code !== 200;
}

/** Paths of tasks and files contain ids that differ between runs. */
function routeOf(path: string): string {
  return (path.split('?')[0] ?? '').replace(/\/(tasks|files)\/.*/, '/$1');
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function plainHeaders({
  host: _,
  connection: __,
  'content-length': ___,
  'transfer-encoding': ____,
  ...headers
}: IncomingHttpHeaders) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
