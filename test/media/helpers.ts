import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createMediaFetcher, type MediaFetcherOptions } from '../../src/media/fetch/fetcher.ts';

/** A temporary folder for this test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-media-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Listener {
  origin: string;
  port: number;
}

/** An HTTP server on loopback that ends with the test. */
export async function listen(answer: RequestListener): Promise<Listener> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  listening.add(`127.0.0.1:${port}`);
  return { origin: `http://127.0.0.1:${port}`, port };
}

/** Every server of {@link listen}, as allowed hosts. */
export const listening = new Set<string>();

type FetcherOptions = Partial<Omit<MediaFetcherOptions, 'allowedHosts' | 'timeoutMs'>> & {
  readonly allowedHosts?: readonly string[];
  readonly timeoutMs?: number;
  readonly personTimeoutMs?: number;
};

/** A fetcher that may reach the servers of this test, retries at once and has small size limits. */
export function fetcherFor(overrides: FetcherOptions = {}) {
  const { allowedHosts, timeoutMs = 600_000, personTimeoutMs = timeoutMs, ...options } = overrides;
  const allowed = allowedHosts ? new Set(allowedHosts) : listening;
  const fetcher = createMediaFetcher({
    allowedHosts: { gateway: allowed, platform: allowed },
    maximumBytes: 1_000_000,
    timeoutMs: { gateway: timeoutMs, platform: timeoutMs, person: personTimeoutMs },
    idleTimeoutMs: 600_000,
    maximumRedirects: 3,
    concurrency: 4,
    now: () => Date.now(),
    random: () => 0.5,
    sleep: async () => undefined,
    ...options,
  });
  onTestFinished(() => fetcher.close());
  return fetcher;
}

/** One MPEG-1 layer III frame at 128 kbit/s and 44.1 kHz is 417 bytes: header, then audio. */
export function mp3(frames: number): Buffer {
  const header = Buffer.from([0xff, 0xfb, 0x90, 0x00]);
  return Buffer.concat(
    Array.from({ length: frames }, () => Buffer.concat([header, Buffer.alloc(413, 0x55)])),
  );
}

/** An MP3 file of about this size with unique content. */
export function uniqueMp3(bytes: number): Buffer {
  return Buffer.concat([mp3(1), randomBytes(bytes)]);
}

export async function bytesOf(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source));
}

export async function* chunks(...parts: (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}
