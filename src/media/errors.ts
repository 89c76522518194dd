import { OperatorError, systemErrorCode } from '../core/errors.ts';

/** Why media could not be fetched, kept or opened, and whether the same call may succeed later. */
const CODES = {
  /** The address is not one that media may come from: not public, not allowed, or with credentials. */
  address: { retryable: false },
  /** Not an http(s) address, or a response that breaks the protocol. */
  protocol: { retryable: false },
  /** More redirects than allowed, or one without a target. */
  redirects: { retryable: false },
  /** More bytes than the limit, declared or counted. */
  'too-large': { retryable: false },
  /** No connection, no byte or no end in time. */
  timeout: { retryable: true },
  /** The content is none of the expected kinds. */
  type: { retryable: false },
  /** The server answered with an error status. */
  status: { retryable: false },
  /** The connection failed or broke. */
  network: { retryable: true },
  /** No space left where files are kept. */
  'disk-full': { retryable: true },
  /** The store of kept files does not answer or refuses. */
  store: { retryable: true },
  /** No such kept file. */
  missing: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;
type MediaErrorCode = keyof typeof CODES;

interface MediaErrorDetails {
  readonly cause?: unknown;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
}

/**
 * The error of this folder. `message` never holds a query string or credentials, so it may be logged. `retryAfterMs` is
 * what the server asked to wait; `status` is the HTTP status behind a `status` error.
 */
export class MediaError extends OperatorError {
  override readonly name = 'MediaError';
  readonly code: MediaErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;

  constructor(code: MediaErrorCode, message: string, details: MediaErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? CODES[code].retryable;
    this.retryAfterMs = details.retryAfterMs;
    this.status = details.status;
  }
}

/** For more bytes than allowed, declared or counted. */
export function tooLarge(maximumBytes: number): MediaError {
  return new MediaError('too-large', `The file is larger than the limit of ${maximumBytes} bytes`);
}

const DISK_FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What the file system throws as a MediaError; what is not the file system's is returned unchanged. */
export function fromFileSystem(error: unknown): unknown {
  const code = systemErrorCode(error);
  if (!(error instanceof Error) || !('syscall' in error) || code === undefined) return error;
  if (DISK_FULL_CODES.has(code))
    return new MediaError('disk-full', 'No space left for media files', { cause: error });
  return new MediaError('store', `The media folder cannot be used (${code})`, { cause: error });
}
