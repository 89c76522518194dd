/**
 * Why media could not be fetched, kept or opened. Each code is one cause that callers treat differently:
 *
 * - `address`   the address is not one that media may come from (not public, not allowed, carries credentials)
 * - `protocol`  not an http(s) address, or an answer that breaks the protocol
 * - `redirects` more redirects than allowed, or one that leads nowhere
 * - `too-large` more bytes than the limit, declared or counted
 * - `timeout`   no connection, no byte or no end within its time
 * - `type`      the content is none of the expected kinds
 * - `status`    the server answered with an error status
 * - `network`   the connection failed or broke
 * - `disk-full` no room left where files are kept
 * - `store`     the place where files are kept does not answer or refuses
 * - `missing`   no such kept file
 */
export type MediaErrorCode =
  | 'address'
  | 'protocol'
  | 'redirects'
  | 'too-large'
  | 'timeout'
  | 'type'
  | 'status'
  | 'network'
  | 'disk-full'
  | 'store'
  | 'missing';

const retryableByDefault = {
  address: false,
  protocol: false,
  redirects: false,
  'too-large': false,
  timeout: true,
  type: false,
  status: false,
  network: true,
  'disk-full': true,
  store: true,
  missing: false,
} as const satisfies Record<MediaErrorCode, boolean>;

interface MediaErrorDetails {
  cause?: unknown;
  retryable?: boolean;
  retryAfterMs?: number | undefined;
  status?: number;
}

/**
 * The only error the media room throws on purpose. `message` never holds a query string or credentials, so it
 * may be logged. `retryable` says whether the same call may succeed later; `retryAfterMs` is the server's own
 * word on when; `status` is the HTTP status behind a `status` error.
 */
export class MediaError extends Error {
  override readonly name = 'MediaError';
  readonly code: MediaErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly status?: number;

  constructor(code: MediaErrorCode, message: string, details: MediaErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? retryableByDefault[code];
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    if (details.status !== undefined) this.status = details.status;
  }
}

/** The system error code (`ENOSPC`, `ECONNRESET`, `UND_ERR_SOCKET`…) of anything thrown, if it has one. */
export function systemErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

const diskFullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Turns what the file system throws into a MediaError; what is not the file system's is returned unchanged. */
export function fromFileSystem(error: unknown): unknown {
  const code = systemErrorCode(error);
  if (!(error instanceof Error) || !('syscall' in error) || code === undefined) return error;
  if (diskFullCodes.has(code)) return new MediaError('disk-full', 'No room left for media', { cause: error });
  return new MediaError('store', `The media folder cannot be used (${code})`, { cause: error });
}
