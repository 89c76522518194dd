import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, onTestFinished } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { type FaultyEmulator, type FaultyOptions, startFaultyEmulator } from './faulty.ts';

const quick = (): FaultyOptions => ({ speed: 0, songSeconds: 3, studio: createSampleStudio() });

/** Starts an emulator without delays that ends with the test. Its media are samples by default. */
export async function runEmulator(options: FaultyOptions = {}): Promise<FaultyEmulator> {
  const emulator = await startFaultyEmulator({ ...quick(), ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

/** A shared emulator for the tests of a file without special options. Started by the first test. */
export function shareEmulator(options: FaultyOptions = {}): () => Promise<FaultyEmulator> {
  let shared: Promise<FaultyEmulator> | null = null;
  afterAll(async () => (await shared)?.close());
  return () => {
    shared ??= startFaultyEmulator({ ...quick(), ...options });
    return shared;
  };
}

export interface Receiver {
  readonly url: string;
  /** Raw bodies, including those of refused attempts. */
  readonly bodies: string[];
  /** The bodies, parsed. */
  json(): unknown[];
}

/** A callback receiver that responds with the given statuses in order, and then with 200. */
export async function runReceiver(...statuses: (number | 'reset' | 'hang')[]): Promise<Receiver> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      const status = statuses.shift() ?? 200;
      if (status === 'reset') request.socket.destroy();
      else if (status !== 'hang') response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // A TCP server's address is never a string.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callback`,
    bodies,
    json: () => bodies.map((body) => JSON.parse(body)),
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes and fail where one differs
  readonly body: any;
}

/** Sends JSON, by default with the headers of the family. */
export async function post(
  emulator: Emulator,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(emulator.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...rightHeaders(emulator, path), ...headers },
    body: JSON.stringify(body),
  });
  return read(response);
}

export async function get(
  emulator: Emulator,
  path: string,
  headers?: Record<string, string>,
): Promise<Answer> {
  return read(await fetch(emulator.url + path, { headers: headers ?? rightHeaders(emulator, path) }));
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

function rightHeaders(emulator: Emulator, path: string): Record<string, string> {
  return path.startsWith('/msg/')
    ? { 'x-api-key': emulator.apiKey, 'vendor-version': '2023-06-01' }
    : { authorization: `Bearer ${emulator.apiKey}` };
}

export async function fetchBytes(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

export interface Song {
  readonly taskId: string;
  readonly audioId: string;
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  readonly items: readonly any[];
}

/** Creates a song and waits for it. */
export async function makeSong(
  emulator: Emulator,
  receiver: Receiver,
  fields: Record<string, unknown> = {},
): Promise<Song> {
  const { body } = await post(emulator, '/music/generate', songFields(receiver, fields));
  await emulator.settled();
  // The shape of the last callback is checked where callbacks are tested.
  const last = receiver.json().at(-1) as { data: { data: { id: string }[] } };
  return { taskId: body.data.taskId, audioId: last.data.data[0]?.id ?? '', items: last.data.data };
}

export function songFields(receiver: Pick<Receiver, 'url'>, fields: Record<string, unknown> = {}) {
  return {
    customMode: false,
    instrumental: false,
    model: 'V5',
    prompt: 'a cat in the rain',
    callBackUrl: receiver.url,
    ...fields,
  };
}
