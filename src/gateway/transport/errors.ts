import type { AnswerSoFar } from '../answers.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { decideCode, ERROR_CODES, type GatewayErrorCode } from './error-table.ts';
import { isObject, normalName } from './json.ts';
import type { Refusal } from './refusal.ts';

/** Whether the gateway may have accepted the work, and so may spend credits on it or call back. */
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
  partial?: AnswerSoFar | undefined;
  /** For the log: what was wrong, in our words. */
  explanation?: string | undefined;
  cause?: unknown;
}

/** The one error that the gateway client throws. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;
  readonly route: RouteName;
  /** Whether the same request may be sent again without risk of paying twice. */
  readonly retryable: boolean;
  readonly taken: Taken;
  /** The HTTP status, when an answer came. */
  readonly status: number | undefined;
  /** The gateway's own code, number or word, as text. */
  readonly gatewayCode: string | undefined;
  /** What the gateway asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** For the log: what was wrong, in our words. */
  readonly explanation: string | undefined;
  /** Not a plain member: no logger may write people's answers out. */
  #partial: AnswerSoFar | undefined;

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
    this.#partial = init.partial;
  }

  /** What had come of an answer before it broke off. */
  get partial(): AnswerSoFar | undefined {
    return this.#partial;
  }

  set partial(partial: AnswerSoFar | undefined) {
    this.#partial = partial;
  }
}

function describe(init: GatewayErrorInit): string {
  const facts = [
    init.status === undefined ? undefined : `HTTP ${init.status}`,
    init.gatewayCode === undefined ? undefined : `gateway code ${init.gatewayCode}`,
  ].filter((fact) => fact !== undefined);
  const aside = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const reason = init.gatewayMessage ?? init.explanation;
  return `${init.route}: ${init.code}${aside}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The request is to be sent to another address, so nothing was done with it here; 302 and 303 may follow done work. */
const SENT_ELSEWHERE = new Set([301, 307, 308]);

/** Names that only repeat a status of 503: its reason phrase, and the type of a problem without one (RFC 9457 section 4.2.1). */
const REPEATS_503 = /^(?:serviceunavailable|aboutblank)$/;

/**
 * Whether a refusal of this status comes before any work: 529 (overloaded:
 * https://platform.claude.com/docs/en/api/errors) does, and a 503 that names its error or a time to wait. Any other 503
 * may be a proxy's whose connection broke after the request was passed on
 * (https://github.com/envoyproxy/envoy/issues/14981); proxies write JSON with numbers, too.
 */
function isTurnedAway(status: number, { names }: Refusal, retryAfterMs: number | undefined): boolean {
  if (status !== 503) return status === 529;
  return retryAfterMs !== undefined || names.some((name) => !REPEATS_503.test(normalName(name)));
}

interface RefusedWith {
  status: number;
  refusal: Refusal;
  /** From the headers; goes before what the body says. */
  retryAfterMs?: number | undefined;
  text: string;
  /** The refusal came in a stream that had begun, so work was done. */
  midStream?: boolean;
}

/** The gateway answered with a refusal. */
export function refused(route: RouteName, answer: RefusedWith, redact: Redact): GatewayError {
  const { status, refusal, midStream = false } = answer;
  const { family } = ROUTES[route];
  const retryAfterMs = answer.retryAfterMs ?? refusal.retryAfterMs;
  const message = refusal.message === undefined ? undefined : redact(refusal.message);
  const decided = decideCode({ family, route, status, ...refusal, message, retryAfterMs });
  const code = isWebPage(answer.text) && SAID_BY_PAGES.has(decided) ? 'no-api' : decided;
  const saidInBody = status < 300;
  const redirected = status >= 300 && status < 400;
  const plainly =
    ERROR_CODES[decided].refuses ||
    saidInBody ||
    SENT_ELSEWHERE.has(status) ||
    isTurnedAway(status, refusal, retryAfterMs);
  const taken: Taken = isRead(route) || (plainly && !midStream) ? 'no' : 'unknown';
  // "Server error" in the body of a good answer: not taken, but nothing says that a second try is free.
  const vague = saidInBody && decided !== 'rate' && decided !== 'maintenance';
  return new GatewayError({
    code,
    route,
    status,
    taken,
    retryable: ERROR_CODES[decided].passes && !redirected && (isRead(route) || (taken === 'no' && !vague)),
    gatewayCode: refusal.names[0] === undefined ? refusal.number?.toString() : redact(refusal.names[0]),
    gatewayMessage: message,
    retryAfterMs,
    explanation: redirected ? 'the gateway redirects: its base URL is not the right one' : undefined,
  });
}

/** What a web page says of itself, and not of the work. */
const SAID_BY_PAGES: ReadonlySet<GatewayErrorCode> = new Set(['not-found', 'forbidden', 'invalid']);

/** Whether a body is a web page, which the gateway never sends. */
export function isWebPage(text: string): boolean {
  return /^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text);
}

function isRead(route: RouteName): boolean {
  return ROUTES[route].kind === 'read';
}

interface Failure extends Pick<GatewayErrorInit, 'code' | 'status' | 'cause'> {
  /** Whether the request surely never reached the gateway. */
  neverSent?: boolean;
  explanation: string;
}

/** No answer, or none that can be used. */
export function failed(route: RouteName, { neverSent = false, ...failure }: Failure): GatewayError {
  const taken: Taken = isRead(route) || neverSent ? 'no' : 'unknown';
  return new GatewayError({
    ...failure,
    route,
    taken,
    retryable: ERROR_CODES[failure.code].passes && taken === 'no',
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
  const codes = chainOf(cause).flatMap((link) => codeOf(link) ?? []);
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

function surelyBeforeSending(error: unknown): boolean {
  return chainOf(error).some((link) => {
    // Several addresses were tried (RFC 8305): all of them must have failed before sending.
    if (link instanceof AggregateError)
      return link.errors.length > 0 && link.errors.every(surelyBeforeSending);
    const connecting = 'syscall' in link && link.syscall === 'connect';
    return connecting || BEFORE_SENDING.has(codeOf(link) ?? '');
  });
}

const ADDRESS_FIELDS = new Set(['callBackUrl', 'uploadUrl', 'img_url', 'audio_url']);

export type Redact = (text: string) => string;

/** The shortest beginning of a secret that is taken out where a text ends with it. */
const SHORTEST_HALF = 4;

/**
 * Takes out of a gateway's text what must not be logged: the API key, the signed addresses that the request itself
 * carried, also as JSON and addresses escape them or cut at the text's end, and the query of every other address, which
 * may hold a signature.
 */
export function redactor(apiKey: string, requestBody: unknown): Redact {
  const secrets = [apiKey, ...signedAddresses(requestBody)].flatMap((secret) => [
    secret,
    secret.replaceAll('/', '\\/'),
    encodeURIComponent(secret),
  ]);
  return (text) => {
    const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text);
    const whole = secrets.reduce(withoutHalfAtEnd, clean);
    return whole.replace(/(https?:[\\/]{2,8}[^\s"'<>?]{1,2000})\?[^\s"'<>]*/gi, '$1?[removed]');
  };
}

function withoutHalfAtEnd(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST_HALF; length--) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}[removed]`;
  }
  return text;
}

function signedAddresses(requestBody: unknown): string[] {
  if (!isObject(requestBody)) return [];
  return [requestBody, requestBody.input]
    .filter(isObject)
    .flatMap((fields) =>
      Object.entries(fields).flatMap(([name, value]) =>
        ADDRESS_FIELDS.has(name) && typeof value === 'string' ? [value] : [],
      ),
    );
}
