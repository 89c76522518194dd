import type { Readable } from 'node:stream';
import { type Dispatcher, errors, interceptors, type RetryHandler } from 'undici';
import { systemErrorCode } from '../../core/errors.ts';
import type { System } from '../../core/system.ts';
import { backoff, retryAfterOf } from '../../core/util/backoff.ts';
import { MediaError, tooLarge } from '../errors.ts';

export interface MediaRequest extends Pick<System, 'now' | 'random' | 'sleep'> {
  readonly url: URL;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  readonly maximumRedirects: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A successful response whose body has not been read. */
export interface MediaResponse {
  /** The declared length. */
  readonly bytes: number | undefined;
  readonly body: Readable;
}

const AGENT_HEADERS = {
  accept: '*/*',
  // A small compressed body can unpack without end, so compression is neither requested nor accepted.
  'accept-encoding': 'identity',
  'user-agent': 'Minstrel',
} as const;

/**
 * 403, 404 and 425 are retried: generated media is announced before all servers have it, and object stores return 403 for
 * keys that don't exist yet.
 */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([403, 404, 408, 425, 429]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  ...['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'ENOTFOUND'],
  'UND_ERR_SOCKET',
]);
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'],
]);
const MAX_TRIES = 4;
/** If a server requests a longer delay, the caller decides. */
const PAUSES = { firstMs: 200, longestMs: 5_000 } as const;

/**
 * Sends a GET, follows redirects and retries temporary failures. Resumes an interrupted body if the server sent a strong
 * ETag (RFC 9110 13.1.5). Throws MediaError, or the signal's reason.
 */
export async function send(request: MediaRequest): Promise<MediaResponse> {
  const { url, signal, idleTimeoutMs, maximumRedirects, now, random, sleep } = request;
  let isRepeatable = true;
  const retry: RetryHandler.RetryCallback = (error, { state }, decide) => {
    const pause = isRepeatable ? pauseBefore(error, state.counter, now(), random) : undefined;
    if (pause === undefined) return decide(error);
    void sleep(pause, signal).then(() => decide(signal.aborted ? error : null));
  };
  const dispatcher = request.dispatcher.compose(
    interceptors.retry({ retry, throwOnError: false }),
    interceptors.redirect({ maxRedirections: maximumRedirects, throwOnMaxRedirect: true }),
  );
  try {
    const responding = dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: { ...AGENT_HEADERS, ...request.headers },
      signal,
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    });
    // undici checks the signal only after it has connected.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    const answer = await Promise.race([responding, aborted]);
    // An error of an abandoned body must not end the process.
    answer.body.on('error', () => undefined);
    isRepeatable = hasStrongTag(answer.headers);
    const refusal = refusalOf(url, answer, now());
    if (refusal) {
      answer.body.destroy();
      throw refusal;
    }
    return { bytes: declaredBytes(answer.headers), body: answer.body };
  } catch (error) {
    throw fromTransport(error, signal);
  }
}

/** Yields the bytes of a response and enforces `maximumBytes`. Throws MediaError, or the signal's reason. */
export async function* readMedia(
  { bytes: declared, body }: MediaResponse,
  maximumBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let received = 0;
  try {
    if (declared !== undefined && declared > maximumBytes) throw tooLarge(maximumBytes);
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      received += chunk.byteLength;
      if (received > maximumBytes) throw tooLarge(maximumBytes);
      yield chunk;
    }
  } catch (error) {
    throw fromTransport(error, signal);
  } finally {
    body.destroy();
  }
}

/** Parses and checks an untrusted URL. */
export function readMediaUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new MediaError('protocol', 'The address is not a valid URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new MediaError('protocol', `The address must use http or https, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new MediaError('address', `The address at ${url.host} contains a user name or password`);
  }
  return url;
}

/** Returns milliseconds, or undefined if the error is permanent. */
function pauseBefore(error: Error, attempt: number, now: number, random: () => number): number | undefined {
  if (attempt >= MAX_TRIES) return undefined;
  const isStatus = error instanceof errors.RequestRetryError;
  const canRetry = isStatus
    ? isTemporary(error.statusCode)
    : CONNECTION_CODES.has(systemErrorCode(error) ?? '');
  if (!canRetry) return undefined;
  const requestedMs = isStatus ? retryAfter(error.headers, now) : undefined;
  const pause = Math.max(requestedMs ?? 0, backoff({ ...PAUSES, attempt: Math.max(1, attempt), random }));
  return pause <= PAUSES.longestMs ? pause : undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>;

const isTemporary = (status: number): boolean => status >= 500 || TEMPORARY_STATUSES.has(status);

/** Returns an error if the response has no file. */
function refusalOf(url: URL, { statusCode: status, headers }: Answer, now: number): MediaError | undefined {
  if (REDIRECTS.has(status))
    return new MediaError('redirects', 'The server sent a redirect without a target');
  if (status !== 200)
    return new MediaError('status', `The server at ${url.host} responded with ${status}`, {
      status,
      retryable: isTemporary(status),
      retryAfterMs: retryAfter(headers, now),
    });
  const encoding = header(headers, 'content-encoding')?.trim().toLowerCase() ?? '';
  return encoding === '' || encoding === 'identity'
    ? undefined
    : new MediaError('protocol', `The body is compressed (${encoding}), which was not requested`);
}

function header(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const retryAfter = (headers: Headers, now: number) =>
  retryAfterOf({ get: (name) => header(headers, name) }, now);

/** Returns the declared length if it is valid. */
function declaredBytes(headers: Headers): number | undefined {
  const text = header(headers, 'content-length');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function hasStrongTag(headers: Headers): boolean {
  return header(headers, 'etag')?.startsWith('"') === true && header(headers, 'accept-ranges') !== 'none';
}

/** Converts errors of undici and sockets to a MediaError, and an abort to the signal's reason. */
function fromTransport(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof MediaError) return error;
  const code = systemErrorCode(error);
  const details = { cause: error };
  if (code === 'UND_ERR_REDIRECT_MAX') return new MediaError('redirects', 'Too many redirects', details);
  // The requested URL has been checked, so the invalid URL is from a redirect.
  if (code === 'UND_ERR_INVALID_ARG' || code === 'ERR_INVALID_URL')
    return new MediaError('redirects', 'The server redirected to an invalid address', details);
  if (code !== undefined && TIMEOUT_CODES.has(code))
    return new MediaError('timeout', 'The server sent no data in time', details);
  const suffix = code === undefined ? '' : ` (${code})`;
  return new MediaError('network', `The connection failed${suffix}`, details);
}
