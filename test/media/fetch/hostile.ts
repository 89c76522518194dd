/** Helpers of the tests of attacks. */
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { FetchExpectation, MediaFetcher } from '../../../src/media/fetch/fetcher.ts';
import { bytesOf, listen, listening, mp3 } from '../helpers.ts';

export const song = mp3(200);
export const audio = { from: 'gateway', kinds: ['audio'] } as const;

/** Fetches and reads to the end, like storing does. */
export async function read(
  fetcher: MediaFetcher,
  url: string,
  expectation: FetchExpectation = audio,
): Promise<Buffer> {
  return fetcher.fetch(url, expectation, ({ stream }) => bytesOf(stream));
}

/** A server that must never be reached. */
export async function forbidden() {
  const answer = vi.fn<RequestListener>((_request, response) => response.end(song));
  const listener = await listen(answer);
  return { ...listener, answer };
}

/** Writes raw bytes to every request, for responses that no HTTP library would send. */
export async function listenRaw(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  listening.add(`127.0.0.1:${port}`);
  return `http://127.0.0.1:${port}`;
}
