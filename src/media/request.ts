import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { MediaError, systemErrorCode } from './errors.ts';

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
    const answer = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: { ...agentHeaders, ...headers },
      signal,
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    });
    // A body that nobody reads any more may still fail; that must not end the process.
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

/** Turns what undici and sockets throw into a MediaError; an abort becomes the signal's own reason. */
export function fromTransport(error: unknown, signal: AbortSignal): unknown {
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

/** `Retry-After` (RFC 9110 10.2.3: seconds or a date) in milliseconds from now. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function singleValues(headers: Readonly<Record<string, string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
