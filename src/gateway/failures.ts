import { decideCode } from './error-table.ts';
import { GatewayError, type GatewayErrorCode, type Taken } from './errors.ts';
import { keptBody, type Redact } from './redact.ts';
import type { Refusal } from './refusal.ts';
import { ROUTES, type RouteName } from './routes.ts';

/** The codes that may go away by themselves, so that the same request may be sent again if it costs nothing. */
const PASSING: ReadonlySet<GatewayErrorCode> = new Set([
  'rate',
  'maintenance',
  'unavailable',
  'timeout',
  'network',
  'nonsense',
  'broken-stream',
  'stalled',
]);

/** Codes that say plainly that the gateway did not take the work. */
const REFUSING: ReadonlySet<GatewayErrorCode> = new Set([
  'credits',
  'rate',
  'auth',
  'forbidden',
  'invalid',
  'too-long',
  'blocked',
  'not-found',
  'exists',
  'maintenance',
]);

/** 503 and 529 (overloaded: https://platform.claude.com/docs/en/api/errors) are said before any work is done. */
const TURNED_AWAY = new Set([503, 529]);

export interface RefusedWith {
  status: number;
  refusal: Refusal;
  /** From the headers; goes before what the body says. */
  retryAfterMs?: number | undefined;
  text: string;
  /** The refusal came in a stream that had begun, so work was done. */
  midStream?: boolean;
}

/** The gateway answered, and said no. */
export function refused(route: RouteName, answer: RefusedWith, redact: Redact): GatewayError {
  const { status, refusal, midStream = false } = answer;
  const { family } = ROUTES[route];
  const retryAfterMs = answer.retryAfterMs ?? refusal.retryAfterMs;
  const message = refusal.message === undefined ? undefined : redact(refusal.message);
  const code = decideCode({ family, route, status, ...refusal, message, retryAfterMs });
  const saidInBody = status < 300;
  const redirected = status >= 300 && status < 400;
  const plainly = REFUSING.has(code) || saidInBody || redirected || TURNED_AWAY.has(status);
  const taken = takenOf(route, midStream, plainly);
  // "Server error" in the body of a good answer: not taken, but nothing says that a second try is free.
  const vague = saidInBody && code !== 'rate' && code !== 'maintenance';
  return new GatewayError({
    code,
    family,
    route,
    status,
    taken,
    retryable: PASSING.has(code) && !redirected && (isRead(route) || (taken === 'no' && !vague)),
    gatewayCode: refusal.names[0] ?? (refusal.number === undefined ? undefined : String(refusal.number)),
    gatewayMessage: message,
    retryAfterMs,
    body: keptBody(redact, answer.text),
    explanation: redirected ? 'the gateway redirects: its base URL is not the right one' : undefined,
  });
}

function takenOf(route: RouteName, begun: boolean, plainRefusal: boolean): Taken {
  if (isRead(route)) return 'no';
  return plainRefusal && !begun ? 'no' : 'unknown';
}

function isRead(route: RouteName): boolean {
  return ROUTES[route].kind === 'read';
}

export interface FailedWith {
  code: GatewayErrorCode;
  /** Whether the request surely never reached the gateway. */
  neverSent?: boolean;
  explanation: string;
  status?: number | undefined;
  /** Of the body, redacted and bounded already. */
  body?: string | undefined;
  cause?: unknown;
}

/** No answer, or none that can be used. */
export function failed(route: RouteName, failure: FailedWith): GatewayError {
  const { code, neverSent = false } = failure;
  const taken: Taken = isRead(route) || neverSent ? 'no' : 'unknown';
  return new GatewayError({
    code,
    family: ROUTES[route].family,
    route,
    taken,
    retryable: PASSING.has(code) && taken === 'no',
    explanation: failure.explanation,
    status: failure.status,
    body: failure.body,
    cause: failure.cause,
  });
}

/** The request itself is wrong; nothing was sent. */
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
const TOO_SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** `fetch`, or the reading of a body, threw. */
export function transportFailed(route: RouteName, cause: unknown): GatewayError {
  const codes = errorCodes(cause);
  const tooSlow = codes.some((code) => TOO_SLOW.has(code));
  return failed(route, {
    code: tooSlow ? 'timeout' : 'network',
    neverSent: surelyBeforeSending(cause),
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

function errorCodes(error: unknown): string[] {
  return chainOf(error).flatMap((link) => codeOf(link) ?? []);
}

function surelyBeforeSending(error: unknown): boolean {
  return chainOf(error).some((link) => {
    // Several addresses were tried (RFC 8305): all of them must have failed before sending.
    if (link instanceof AggregateError)
      return link.errors.length > 0 && link.errors.every(surelyBeforeSending);
    const connecting = 'syscall' in link && link.syscall === 'connect';
    return connecting || BEFORE_SENDING.has(codeOf(link) ?? '');
  });
}
