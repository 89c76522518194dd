import type { MusicShape } from '../shapes.ts';
import type { RouteFamily } from './family.ts';

/** Reasons to refuse a request, with the HTTP status and the codes of the music, media, msg and gen dialects. */
const reasons = {
  invalid: [400, 400, 'InvalidParameter', 'invalid_request_error', 'INVALID_ARGUMENT'],
  unauthenticated: [401, 401, 'InvalidApiKey', 'authentication_error', 'UNAUTHENTICATED'],
  credits: [402, 429, 'Arrearage', 'billing_error', 'RESOURCE_EXHAUSTED'],
  forbidden: [403, 403, 'AccessDenied', 'permission_error', 'PERMISSION_DENIED'],
  'not found': [404, 404, 'ModelNotFound', 'not_found_error', 'NOT_FOUND'],
  conflict: [409, 409, 'Conflict', 'conflict_error', 'ABORTED'],
  'too large': [413, 413, 'InvalidParameter', 'request_too_large', 'INVALID_ARGUMENT'],
  'unsupported media type': [415, 400, 'InvalidParameter', 'invalid_request_error', 'INVALID_ARGUMENT'],
  'rate limited': [429, 430, 'Throttling.RateQuota', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  internal: [500, 500, 'InternalError', 'api_error', 'INTERNAL'],
  unavailable: [503, 455, 'ServiceUnavailable', 'overloaded_error', 'UNAVAILABLE'],
  timeout: [504, 500, 'RequestTimeOut', 'timeout_error', 'DEADLINE_EXCEEDED'],
} as const;
export type Reason = keyof typeof reasons;

/** A request that is refused; the server answers it in the dialect of the request's family. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly reason: Reason;
  /** The HTTP status; the reason's own unless a fault asks for another. */
  readonly status: number;
  /** Whether a fault asked for this very HTTP status, so that no shape may hide it in a body. */
  readonly forced: boolean;
  constructor(reason: Reason, message: string, status?: number) {
    super(message);
    this.reason = reason;
    this.status = status ?? reasons[reason][0];
    this.forced = status !== undefined;
  }
}

/** The reason that fits an HTTP status best. */
export function reasonOfStatus(status: number): Reason {
  const known = (Object.keys(reasons) as Reason[]).find((reason) => reasons[reason][0] === status);
  if (known !== undefined) return known;
  if (status === 529) return 'unavailable';
  return status >= 500 ? 'internal' : 'invalid';
}

/**
 * A refusal in the dialect of a family (public APIs of each style; the contract shows no error body).
 * A status that a fault asked for stays, whatever the shape of the music routes.
 */
export function answerRefusal(
  refusal: RefusedRequest,
  family: RouteFamily,
  shape: MusicShape,
  requestId: string,
): { status: number; body: unknown } {
  const { message, reason, status, forced } = refusal;
  const [, musicCode, mediaCode, msgType, genStatus] = reasons[reason];
  switch (family) {
    case 'music': {
      const refused = shape.refused(forced ? status : musicCode, message);
      return forced ? { ...refused, status } : refused;
    }
    case 'media':
      return { status, body: { code: mediaCode, message, request_id: requestId } };
    case 'msg':
      return { status, body: { type: 'error', error: { type: msgType, message }, request_id: requestId } };
    case 'gen':
      return { status, body: { error: { code: status, message, status: genStatus } } };
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
