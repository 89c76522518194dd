import { createHash, createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import parseRange from 'range-parser';
import { RefusedRequest } from './requests.ts';

interface StoredFile {
  readonly bytes: Buffer;
  readonly contentType: string;
}

const extensions: Record<string, string> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'image/png': 'png',
  'video/mp4': 'mp4',
};
const maxStoredBytes = 512 * 1024 * 1024;

export type FileShelf = ReturnType<typeof createFileShelf>;

/** The generated files, named by their content. The least recently used ones are deleted above 512 MiB. */
export function createFileShelf(secret: string, baseUrl: () => string, maxBytes = maxStoredBytes) {
  const files = new Map<string, StoredFile>();
  const temporary = new Set<string>();
  let storedBytes = 0;
  const sign = (name: string, expires: string): string =>
    createHmac('sha256', secret).update(`${name} ${expires}`).digest('hex').slice(0, 32);
  return {
    /** Stores a file and returns its name. */
    add(bytes: Uint8Array, contentType: string): string {
      const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
      const name = `${digest}.${extensions[contentType] ?? 'bin'}`;
      const known = files.get(name);
      files.delete(name);
      files.set(name, known ?? { bytes: Buffer.from(bytes), contentType });
      if (known === undefined) storedBytes += bytes.length;
      for (const [oldest, file] of files) {
        if (storedBytes <= maxBytes || oldest === name) break;
        files.delete(oldest);
        temporary.delete(oldest);
        storedBytes -= file.bytes.length;
      }
      return name;
    },
    get: (name: string) => files.get(name),
    /** Returns a URL that works as long as the file is stored. */
    url: (name: string) => `${baseUrl()}/files/${name}`,
    /** Returns a URL that works until a time (milliseconds since 1970). */
    temporaryUrl(name: string, expiresAt: number): string {
      temporary.add(name);
      const expires = String(Math.floor(expiresAt / 1000));
      return `${baseUrl()}/files/${name}?Expires=${expires}&Signature=${sign(name, expires)}`;
    },
    /** True if a file URL's query is valid: not expired, or without an expiry if the file has none. */
    allows(name: string, query: URLSearchParams, now: number): boolean {
      const expires = query.get('Expires');
      if (expires === null) return !temporary.has(name);
      return query.get('Signature') === sign(name, expires) && now < Number(expires) * 1000;
    },
  };
}

/** Return values of range-parser. */
const unsatisfiableRange = -1;
const unreadableRange = -2;

/** `GET /files/<name>`: the generated files, with single byte ranges and expiring URLs. */
export function registerFileRoute(
  server: FastifyInstance,
  context: { files: FileShelf; now(): number },
): void {
  server.get<{ Params: { name: string } }>('/files/:name', async (request, reply) => {
    const { name } = request.params;
    const file = context.files.get(name);
    if (file === undefined) throw new RefusedRequest('not found', `no file ${name}; it may have expired`);
    const query = new URL(request.url, 'http://emulator').searchParams;
    if (!context.files.allows(name, query, context.now())) {
      return reply
        .code(403)
        .type('application/xml')
        .send(
          '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired.</Message></Error>',
        );
    }
    reply
      .type(file.contentType)
      .header('accept-ranges', 'bytes')
      .header('cache-control', 'private, max-age=3600');
    const { range: header } = request.headers;
    const ranges = header === undefined ? unreadableRange : parseRange(file.bytes.length, header);
    if (ranges === unsatisfiableRange)
      return reply.code(416).header('content-range', `bytes */${file.bytes.length}`).send();
    const [range, ...rest] = ranges === unreadableRange ? [] : ranges;
    if (range === undefined || rest.length > 0) return reply.send(file.bytes);
    return reply
      .code(206)
      .header('content-range', `bytes ${range.start}-${range.end}/${file.bytes.length}`)
      .send(file.bytes.subarray(range.start, range.end + 1));
  });
}

/** A file that could not be fetched. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
}

const timeoutMilliseconds = 30_000;

/**
 * Fetches a client's file over http(s), or reads it from a base64 `data:` URL, up to a number of bytes. Any address is
 * allowed, because the emulator serves only its operator. Throws DownloadError.
 */
export async function download(
  context: { readonly fetch: typeof globalThis.fetch; readonly closing: AbortSignal },
  url: string,
  maxBytes: number,
): Promise<Uint8Array> {
  try {
    const signal = AbortSignal.any([context.closing, AbortSignal.timeout(timeoutMilliseconds)]);
    const response = await context.fetch(url, { signal });
    if (!response.ok) throw new DownloadError(`the server responded with ${response.status}`);
    const chunks: Uint8Array[] = [];
    let total = 0;
    for await (const chunk of response.body ?? []) {
      total += chunk.length;
      if (total > maxBytes) throw new DownloadError(`the file is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Uint8Array.from(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    throw new DownloadError('the server cannot be reached', { cause: error });
  }
}
