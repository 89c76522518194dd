import type { Family } from './family.ts';
import type { Shape } from './options.ts';

/** Why a request is refused, in words of the emulator; each dialect has its own words and numbers for them. */
export type Reason =
  | 'invalid'
  | 'unauthenticated'
  | 'credits'
  | 'forbidden'
  | 'not found'
  | 'conflict'
  | 'too large'
  | 'unsupported media type'
  | 'rate limited'
  | 'internal'
  | 'unavailable'
  | 'timeout';

const reasons = {
  invalid: {
    status: 400,
    music: 400,
    media: 'InvalidParameter',
    msg: 'invalid_request_error',
    gen: 'INVALID_ARGUMENT',
  },
  unauthenticated: {
    status: 401,
    music: 401,
    media: 'InvalidApiKey',
    msg: 'authentication_error',
    gen: 'UNAUTHENTICATED',
  },
  credits: { status: 402, music: 429, media: 'Arrearage', msg: 'billing_error', gen: 'RESOURCE_EXHAUSTED' },
  forbidden: {
    status: 403,
    music: 403,
    media: 'AccessDenied',
    msg: 'permission_error',
    gen: 'PERMISSION_DENIED',
  },
  'not found': { status: 404, music: 404, media: 'ModelNotFound', msg: 'not_found_error', gen: 'NOT_FOUND' },
  conflict: { status: 409, music: 409, media: 'Conflict', msg: 'conflict_error', gen: 'ABORTED' },
  'too large': {
    status: 413,
    music: 413,
    media: 'InvalidParameter',
    msg: 'request_too_large',
    gen: 'INVALID_ARGUMENT',
  },
  'unsupported media type': {
    status: 415,
    music: 400,
    media: 'InvalidParameter',
    msg: 'invalid_request_error',
    gen: 'INVALID_ARGUMENT',
  },
  'rate limited': {
    status: 429,
    music: 430,
    media: 'Throttling.RateQuota',
    msg: 'rate_limit_error',
    gen: 'RESOURCE_EXHAUSTED',
  },
  internal: { status: 500, music: 500, media: 'InternalError', msg: 'api_error', gen: 'INTERNAL' },
  unavailable: {
    status: 503,
    music: 455,
    media: 'ServiceUnavailable',
    msg: 'overloaded_error',
    gen: 'UNAVAILABLE',
  },
  timeout: {
    status: 504,
    music: 500,
    media: 'RequestTimeOut',
    msg: 'timeout_error',
    gen: 'DEADLINE_EXCEEDED',
  },
} as const satisfies Record<
  Reason,
  { status: number; music: number; media: string; msg: string; gen: string }
>;

/** A request that is refused; the server answers it in the dialect of the request's family. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: Reason;
  /** The HTTP status; the reason's own unless a fault asks for another. */
  readonly status: number;
  /** Whether a fault asked for this very HTTP status, so that no shape may hide it in a body. */
  readonly forced: boolean;
  /** The media dialect's code, where it is more exact than the reason's. */
  readonly code: string | null;
  constructor(reason: Reason, message: string, exact: { status?: number; code?: string } = {}) {
    super(message);
    this.reason = reason;
    this.status = exact.status ?? reasons[reason].status;
    this.forced = exact.status !== undefined;
    this.code = exact.code ?? null;
  }
}

/** The reason that fits an HTTP status best. */
export function reasonOfStatus(status: number): Reason {
  const known = (Object.keys(reasons) as Reason[]).find((reason) => reasons[reason].status === status);
  if (known !== undefined) return known;
  if (status === 529) return 'unavailable';
  return status >= 500 ? 'internal' : 'invalid';
}

export interface RefusalAnswer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * A refusal in the dialect of a family (public APIs of each style; the contract shows no error body).
 * Music in the shape `sunoapi` answers HTTP 200 with the code in the body, as that API does; a fault's own status stays.
 */
export function answerRefusal(
  refusal: Refusal,
  family: Family,
  shape: Shape,
  requestId: string,
): RefusalAnswer {
  const { message, reason, status, forced } = refusal;
  const words = reasons[reason];
  switch (family) {
    case 'music': {
      const code = forced ? status : words.music;
      switch (shape) {
        case 'sunoapi':
          return { status: forced ? status : 200, body: { code, msg: message, data: null } };
        case 'flat':
          return { status: code, body: { code, msg: message } };
        case 'bare':
          return { status: code, body: { error: message } };
        case 'nested':
          return { status: code, body: { status: 'error', data: null, error: { code, message } } };
        default:
          return shape satisfies never;
      }
    }
    case 'media':
      return { status, body: { code: refusal.code ?? words.media, message, request_id: requestId } };
    case 'msg':
      return { status, body: { type: 'error', error: { type: words.msg, message }, request_id: requestId } };
    case 'gen':
      return { status, body: { error: { code: status, message, status: words.gen } } };
    case 'chat':
    case 'files':
    case 'none': {
      const type =
        status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
      const code = reason === 'unauthenticated' ? 'invalid_api_key' : null;
      return { status, body: { error: { message, type, param: null, code } } };
    }
    default:
      return family satisfies never;
  }
}
