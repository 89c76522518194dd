import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { backoff } from '../../core/backoff.ts';
import { systemErrorCode } from '../../core/errors.ts';
import { MediaError, tooLarge } from '../errors.ts';

/** A server's answer whose status and headers are known and whose body has not been read. */
export interface MediaResponse {
  url: URL;
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: Readable;
}

export interface MediaRequest {
  url: URL;
  dispatcher: Dispatcher;
  signal: AbortSignal;
  idleTimeoutMs: number;
  headers: Readonly<Record<string, string>>;
}

const agentHeaders = {
  accept: '*/*',
  // A compressed body could grow without end when it is opened: none is asked for, and none is taken.
  'accept-encoding': 'identity',
  'user-agent': 'Minstrel',
} as const;

/** Sends one GET, without following redirects. Throws MediaError. */
export async function send(request: MediaRequest): Promise<MediaResponse> {
  const { url, dispatcher, signal, idleTimeoutMs, headers } = request;
  try {
    const requested = dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: { ...agentHeaders, ...headers },
      signal,
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    });
    // undici looks at the signal only when the connection has been made.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    const answer = await Promise.race([requested, aborted]);
    // An error of a body that is not read any more must not end the process.
    answer.body.on('error', () => undefined);
    return { url, status: answer.statusCode, headers: singleValues(answer.headers), body: answer.body };
  } catch (error) {
    throw fromTransport(error, signal);
  }
}

/** Reads and checks an address that came from outside. `base` resolves a redirect's relative address. */
export function readMediaUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new MediaError('protocol', 'Not an address that media can be fetched from');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new MediaError('protocol', `Media is fetched over http and https, not over ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new MediaError('address', `The address at ${url.host} carries a user name or password`);
  }
  return url;
}

const timeoutCodes: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

/** What undici and sockets throw as a MediaError; an abort becomes the signal's reason. */
function fromTransport(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof MediaError) return error;
  const code = systemErrorCode(error);
  if (code !== undefined && timeoutCodes.has(code)) {
    return new MediaError('timeout', 'The server sent nothing for too long', { cause: error });
  }
  return new MediaError('network', `The connection failed${code === undefined ? '' : ` (${code})`}`, {
    cause: error,
  });
}

function singleValues(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/** How often one body is taken up again after its connection broke. */
const maximumResumes = 4;
const resumePauses = { firstMs: 200, longestMs: 1_600 } as const;

/**
 * The bytes of a response, counted against `maximumBytes` whatever was declared. When the connection breaks and
 * the server vouches for the same bytes (a strong ETag, RFC 9110 13.1.5), the rest is asked for by range;
 * otherwise the failure is thrown. Throws MediaError.
 */
export async function* readMedia(
  first: MediaResponse,
  request: MediaRequest,
  maximumBytes: number,
  random: () => number,
): AsyncGenerator<Uint8Array, void> {
  const { signal } = request;
  const declared = declaredBytes(first);
  if (declared !== undefined && declared > maximumBytes) {
    first.body.destroy();
    throw tooLarge(maximumBytes);
  }
  const entityTag = strongEntityTag(first);
  let next = first;
  let received = 0;
  let resumes = 0;
  for (;;) {
    const response = next;
    try {
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        received += chunk.byteLength;
        if (received > maximumBytes) throw tooLarge(maximumBytes);
        yield chunk;
      }
      return;
    } catch (error) {
      const failure = fromTransport(error, signal);
      const isBroken = failure instanceof MediaError && failure.code === 'network';
      if (!isBroken || entityTag === undefined || declared === undefined) throw failure;
      if (resumes === maximumResumes) throw failure;
      resumes += 1;
      await delay(backoff({ ...resumePauses, attempt: resumes, random }), undefined, { signal }).catch(
        () => undefined,
      );
      signal.throwIfAborted();
      const headers = { ...request.headers, range: `bytes=${received}-`, 'if-range': entityTag };
      next = await send({ ...request, headers });
      const { status, headers: answered } = next;
      if (status !== 206 || answered['content-range'] !== `bytes ${received}-${declared - 1}/${declared}`) {
        next.body.destroy();
        throw failure;
      }
    } finally {
      response.body.destroy();
    }
  }
}

/** The length that the server declares for the whole body, if it declares one that makes sense. */
function declaredBytes(response: MediaResponse): number | undefined {
  const text = response.headers['content-length'];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function strongEntityTag(response: MediaResponse): string | undefined {
  const tag = response.headers.etag;
  return tag?.startsWith('"') && response.headers['accept-ranges'] !== 'none' ? tag : undefined;
}
