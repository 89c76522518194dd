import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { Answer, AnswerEvent, AnswerPart } from '../../src/gateway/answers.ts';
import { createGateway, type Gateway } from '../../src/gateway/client.ts';
import { gatewayAccounts } from '../../src/gateway/routes.ts';
import { GatewayError } from '../../src/gateway/transport/errors.ts';
import type { GatewayOptions } from '../../src/gateway/transport/request.ts';

export const API_KEY = 'sk-test-0123456789';

/** A request that the server received. */
interface ReceivedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingMessage['headers'];
  /** The parsed JSON body; undefined for an empty one. */
  body: unknown;
  /** Resolves when the client has disconnected. */
  closed: Promise<void>;
}

export interface ScriptedServer {
  url: string;
  received: ReceivedRequest[];
}

export type Script = (
  request: ReceivedRequest,
  response: ServerResponse,
  nth: number,
) => void | Promise<void>;

/** A real HTTP server on loopback with scripted responses. It closes with the test. */
export async function startServer(script: Script): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const request: ReceivedRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
      closed,
    };
    requests.push(request);
    await script(request, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // A server that listens on TCP has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received: requests };
}

/** Responds with JSON, or with text unchanged. */
export function answer(
  response: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
}

export interface TestClock {
  /** All delays of the client, in milliseconds. */
  waits: number[];
}

/** A gateway client whose retry delays end at once and advance its clock. */
export function gatewayAt(
  url: string,
  overrides: Partial<GatewayOptions> = {},
): { gateway: Gateway } & TestClock {
  const waits: number[] = [];
  let now = Date.now();
  const gateway = createGateway({
    accounts: gatewayAccounts({ baseUrl: url, apiKey: API_KEY }),
    fetch: globalThis.fetch,
    now: () => now,
    elapsed: () => now,
    random: () => 0.5,
    sleep: async (ms) => {
      waits.push(ms);
      now += ms;
    },
    ...overrides,
  });
  return { gateway, waits };
}

/** Stops the timers for this test. `vi.advanceTimersByTimeAsync` advances them. The network continues. */
export function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Advances the stopped clock until the work ends. */
export async function timeUntil<Result>(work: Promise<Result>, stepMs: number): Promise<Result> {
  const over = { yes: false };
  const settle = () => {
    over.yes = true;
  };
  work.then(settle, settle);
  while (!over.yes) {
    await vi.advanceTimersByTimeAsync(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return work;
}

/** Returns the GatewayError of a call. */
export async function errorOf(call: Promise<unknown>): Promise<GatewayError> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`expected a failure, got ${JSON.stringify(outcome.value)}`);
  if (!(outcome.error instanceof GatewayError)) throw outcome.error;
  return outcome.error;
}

export const QUESTION = {
  model: 'some-model',
  turns: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Why is rain grey?' }] }],
};

/** Reads a stream to a whole answer. */
export async function wholeOf(stream: AsyncIterable<AnswerEvent>): Promise<Answer> {
  const parts: AnswerPart[] = [];
  for await (const event of stream) {
    if (event.type === 'finish') {
      const { type: _, ...end } = event;
      return { parts, ...end };
    }
    const last = parts.at(-1);
    const { part } = event;
    if (last && 'text' in last && 'text' in part && last.type === part.type) last.text += part.text;
    else parts.push({ ...part });
  }
  throw new Error('a stream ended without its finish');
}
