import type { IncomingHttpHeaders } from 'node:http';
import type { MusicShape } from './shapes.ts';

/** The route families of the contract, and `none` for everything else. */
export type RouteFamily = 'music' | 'media' | 'chat' | 'msg' | 'gen' | 'files' | 'none';

/** Returns the family of a path by its leading segments. */
export function routeFamily(path: string): RouteFamily {
  if (path.startsWith('/music/')) return 'music';
  if (path.startsWith('/media/') || path.startsWith('/v1/media/')) return 'media';
  if (path.startsWith('/chat/')) return 'chat';
  if (path.startsWith('/msg/')) return 'msg';
  if (path.startsWith('/gen/') || path.startsWith('/v1beta/')) return 'gen';
  if (path.startsWith('/files/')) return 'files';
  return 'none';
}

/** Returns the path of a request's URL without its query. */
export function pathOf(url: string): string {
  return url.replace(/\?.*$/s, '');
}

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

/** Refuses a request. The server responds in the dialect of the request's family. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly reason: Reason;
  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Returns the best reason for an HTTP status. */
export function reasonOfStatus(status: number): Reason {
  const known = (Object.keys(reasons) as Reason[]).find((reason) => reasons[reason][0] === status);
  if (known !== undefined) return known;
  if (status === 529) return 'unavailable';
  return status >= 500 ? 'internal' : 'invalid';
}

/** Formats a refusal in the dialect of a family, as the public APIs do. The contract shows no error bodies. */
export function answerRefusal(
  { message, reason }: RefusedRequest,
  family: RouteFamily,
  shape: MusicShape,
  requestId: string,
): { status: number; body: unknown } {
  const [status, musicCode, mediaCode, msgType, genStatus] = reasons[reason];
  switch (family) {
    case 'music':
      return shape.refused(musicCode, message);
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

/** The version that the messages dialect requires (contract, Versioning 3). */
const messagesVersion = '2023-06-01';

/**
 * Refuses a request whose headers break the contract's Authentication section: Bearer for music, media, chat and gen;
 * `x-api-key` with `vendor-version` for msg; either for the model list on the chat path.
 */
export function checkHeaders(path: string, headers: IncomingHttpHeaders, apiKey: string): void {
  const family = routeFamily(path);
  if (family === 'files' || family === 'none') return;
  const isMessages = family === 'msg' || (path === '/chat/v1/models' && headers.authorization === undefined);
  const place = isMessages ? 'x-api-key: <API_KEY>' : 'Authorization: Bearer <API_KEY>';
  const key = isMessages ? headers['x-api-key'] : /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  if (key === undefined) throw new RefusedRequest('unauthenticated', `the header "${place}" is missing`);
  if (key !== apiKey) throw new RefusedRequest('unauthenticated', 'the API key is invalid');
  if (isMessages && headers['vendor-version'] !== messagesVersion)
    throw new RefusedRequest('invalid', `the header "vendor-version: ${messagesVersion}" is missing`);
}
