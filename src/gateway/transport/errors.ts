/** The error that the gateway client throws, and failures without a response. */
import { ROUTES, type RouteName } from '../routes.ts';

/**
 * Error codes. `passes`: temporary, so the request may be repeated if that costs nothing. `refuses`: the gateway reported
 * that it did not accept the work.
 */
export const ERROR_CODES = {
  credits: { passes: false, refuses: true },
  rate: { passes: true, refuses: true },
  auth: { passes: false, refuses: true },
  forbidden: { passes: false, refuses: true },
  invalid: { passes: false, refuses: true },
  'too-long': { passes: false, refuses: true },
  /** The model does not accept images. */
  'no-images': { passes: false, refuses: true },
  /** Against the content rules. */
  blocked: { passes: false, refuses: true },
  /** The same, because the lyrics or the recording belong to someone else. */
  copyright: { passes: false, refuses: true },
  /** The same, because the request names an artist. */
  artist: { passes: false, refuses: true },
  'not-found': { passes: false, refuses: true },
  exists: { passes: false, refuses: true },
  maintenance: { passes: true, refuses: true },
  /** The gateway could not fetch a file of the request. */
  unfetched: { passes: false, refuses: true },
  /** The gateway failed to create the result. */
  'not-made': { passes: false, refuses: true },
  /** The same, with the credits refunded. */
  refunded: { passes: false, refuses: true },
  /** The gateway cancelled the task. */
  cancelled: { passes: false, refuses: true },
  /** The operator has set no service for this family. */
  'no-service': { passes: false, refuses: true },
  /** The bot could not read a file of the request, so it sent nothing. */
  unread: { passes: true, refuses: true },
  unavailable: { passes: true, refuses: false },
  timeout: { passes: true, refuses: false },
  network: { passes: true, refuses: false },
  nonsense: { passes: true, refuses: false },
  /** A web page or a redirect: the server is not the gateway. */
  'no-api': { passes: true, refuses: false },
  aborted: { passes: false, refuses: false },
  'broken-stream': { passes: true, refuses: false },
  stalled: { passes: true, refuses: false },
} as const satisfies Record<string, { passes: boolean; refuses: boolean }>;
export type GatewayErrorCode = keyof typeof ERROR_CODES;

/** The reason why an accepted task failed, from a callback or a task query. */
export interface TaskFailure {
  code: GatewayErrorCode;
  gatewayCode?: string;
  /** The gateway's message. Escape it before showing it. */
  message?: string;
}

/** `unknown`: the gateway may have accepted the work, so it may spend credits on it or call back. */
export type Taken = 'no' | 'unknown';

interface GatewayErrorInit {
  code: GatewayErrorCode;
  route: RouteName;
  taken: Taken;
  retryable: boolean;
  status?: number | undefined;
  gatewayCode?: string | undefined;
  gatewayMessage?: string | undefined;
  retryAfterMs?: number | undefined;
  /** Our explanation, for the log. */
  explanation?: string | undefined;
  cause?: unknown;
}

/** The only error that the gateway client throws. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;
  readonly route: RouteName;
  /** True if the request can be repeated without the risk of paying twice. */
  readonly retryable: boolean;
  readonly taken: Taken;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** The gateway's error code, a number or a word, as text. */
  readonly gatewayCode: string | undefined;
  /** The delay that the gateway requested, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Our explanation, for the log. */
  readonly explanation: string | undefined;

  constructor(init: GatewayErrorInit) {
    super(describe(init), init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.route = init.route;
    this.retryable = init.retryable;
    this.taken = init.taken;
    this.status = init.status;
    this.gatewayCode = init.gatewayCode;
    this.retryAfterMs = init.retryAfterMs;
    this.explanation = init.explanation;
  }
}

function describe(init: GatewayErrorInit): string {
  const facts = [
    init.status === undefined ? undefined : `HTTP ${init.status}`,
    init.gatewayCode === undefined ? undefined : `gateway code ${init.gatewayCode}`,
  ].filter((fact) => fact !== undefined);
  const details = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const reason = init.gatewayMessage ?? init.explanation;
  return `${init.route}: ${init.code}${details}${reason === undefined ? '' : `: ${reason}`}`;
}

export function isReadRoute(route: RouteName): boolean {
  return ROUTES[route].kind === 'read';
}

interface Failure extends Pick<GatewayErrorInit, 'code' | 'status' | 'cause'> {
  /** True if the request certainly did not reach the gateway. */
  neverSent?: boolean;
  explanation: string;
}

/** Creates an error for a missing or unusable response. */
export function failed(route: RouteName, { neverSent = false, ...failure }: Failure): GatewayError {
  const taken: Taken = isReadRoute(route) || neverSent ? 'no' : 'unknown';
  return new GatewayError({
    ...failure,
    route,
    taken,
    retryable: ERROR_CODES[failure.code].passes && taken === 'no',
  });
}

/** Creates an error for an invalid request, which is not sent. */
export function invalid(route: RouteName, explanation: string): GatewayError {
  return failed(route, { code: 'invalid', neverSent: true, explanation });
}

/** Codes of Node and undici (docs/docs/api/Errors.md) that occur before a request's first byte is sent. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'CERT_REVOKED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_NO_PROTOCOLS_AVAILABLE',
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
]);
const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Creates an error for an exception of `fetch` or of a body that is being read. */
export function transportError(route: RouteName, cause: unknown): GatewayError {
  const codes = chainOf(cause).flatMap((link) => codeOf(link) ?? []);
  const hasTimedOut = codes.some((code) => TIMEOUT_CODES.has(code));
  return failed(route, {
    code: hasTimedOut ? 'timeout' : 'network',
    neverSent: failedBeforeSending(cause),
    explanation: codes.join(', ') || 'the connection failed',
    cause,
  });
}

/** The error and its causes, outermost first. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let link: unknown = error; link instanceof Error && chain.length < 8; link = link.cause)
    chain.push(link);
  return chain;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function failedBeforeSending(error: unknown): boolean {
  return chainOf(error).some((link) => {
    // With several addresses (RFC 8305), all attempts must have failed before sending.
    if (link instanceof AggregateError)
      return link.errors.length > 0 && link.errors.every(failedBeforeSending);
    const isConnecting = 'syscall' in link && link.syscall === 'connect';
    return isConnecting || BEFORE_SENDING.has(codeOf(link) ?? '');
  });
}
