import { OperatorError, systemErrorCode } from '../core/errors.ts';

/** Error codes of this folder, and whether a retry may succeed. */
const CODES = {
  /** The address is not public, not allowed, or contains credentials. */
  address: { retryable: false },
  /** Not an http(s) address, or a response that breaks the protocol. */
  protocol: { retryable: false },
  /** More redirects than allowed, or one without a target. */
  redirects: { retryable: false },
  /** More bytes than the limit, declared or counted. */
  'too-large': { retryable: false },
  /** The connection, the data or the end did not come in time. */
  timeout: { retryable: true },
  /** The content is not one of the expected kinds. */
  type: { retryable: false },
  /** The server responded with an error status. */
  status: { retryable: false },
  /** The connection failed or broke. */
  network: { retryable: true },
  /** The disk or the bucket is full. */
  'disk-full': { retryable: true },
  /** The store does not respond, or refuses. */
  store: { retryable: true },
  /** The stored file does not exist. */
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
 * The error of this folder. `message` never contains a query or credentials, so it may be logged. `retryAfterMs` is the delay
 * that the server requested. `status` is the HTTP status of a `status` error.
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

/** The error for too many bytes, declared or counted. */
export function tooLarge(maximumBytes: number): MediaError {
  return new MediaError('too-large', `The file is larger than the limit of ${maximumBytes} bytes`);
}

const DISK_FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Converts a file system error to a MediaError. Returns other errors unchanged. */
export function fromFileSystem(error: unknown): unknown {
  const code = systemErrorCode(error);
  if (!(error instanceof Error) || !('syscall' in error) || code === undefined) return error;
  if (DISK_FULL_CODES.has(code))
    return new MediaError('disk-full', 'No space left for media files', { cause: error });
  return new MediaError('store', `The media folder cannot be used (${code})`, { cause: error });
}
