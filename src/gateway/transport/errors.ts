import { type GatewayFamily, type GatewayRoute, ROUTES, type RouteName } from '../routes.ts';
import { isObject, normalName } from './json.ts';
import type { Refusal } from './refusal.ts';

/**
 * What happened. `passes`: it may pass by itself, so that the same request may be sent again if that costs nothing.
 * `refuses`: the gateway says plainly that it did not take the work.
 */
export const ERROR_CODES = {
  credits: { passes: false, refuses: true },
  rate: { passes: true, refuses: true },
  auth: { passes: false, refuses: true },
  forbidden: { passes: false, refuses: true },
  invalid: { passes: false, refuses: true },
  'too-long': { passes: false, refuses: true },
  blocked: { passes: false, refuses: true },
  'not-found': { passes: false, refuses: true },
  exists: { passes: false, refuses: true },
  maintenance: { passes: true, refuses: true },
  /** The gateway could not fetch a file that it was given. */
  unfetched: { passes: false, refuses: true },
  /** The gateway tried, and could not make it. */
  'not-made': { passes: false, refuses: true },
  /** The same, and the credits were given back. */
  refunded: { passes: false, refuses: true },
  unavailable: { passes: true, refuses: false },
  timeout: { passes: true, refuses: false },
  network: { passes: true, refuses: false },
  nonsense: { passes: true, refuses: false },
  /** A web page or a redirect: what answers is not the gateway. */
  'no-api': { passes: true, refuses: false },
  aborted: { passes: false, refuses: false },
  'broken-stream': { passes: true, refuses: false },
  stalled: { passes: true, refuses: false },
} as const satisfies Record<string, { passes: boolean; refuses: boolean }>;
export type GatewayErrorCode = keyof typeof ERROR_CODES;

/** Why a task failed that the gateway had taken, from a callback or a task query. */
export interface TaskFailure {
  code: GatewayErrorCode;
  gatewayCode?: string;
  /** The gateway's own words: escape them before showing them. */
  message?: string;
}

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
  const code = isWebPage(answer.text) && CODES_OF_PAGES.has(decided) ? 'no-api' : decided;
  const inGoodAnswer = status < 300;
  const redirected = status >= 300 && status < 400;
  const plainly =
    ERROR_CODES[decided].refuses ||
    inGoodAnswer ||
    SENT_ELSEWHERE.has(status) ||
    isTurnedAway(status, refusal, retryAfterMs);
  const taken: Taken = isRead(route) || (plainly && !midStream) ? 'no' : 'unknown';
  // "Server error" in the body of a good answer: not taken, but nothing says that a second try is free.
  const vague = inGoodAnswer && decided !== 'rate' && decided !== 'maintenance';
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
const CODES_OF_PAGES: ReadonlySet<GatewayErrorCode> = new Set(['not-found', 'forbidden', 'invalid']);

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
/** Of what a gateway says, in characters. */
const LONGEST_MESSAGE = 500;

export type Redact = (text: string) => string;

/**
 * Cuts a gateway's text for the log, and takes out what must not be in it: the API key, the signed addresses that the
 * request itself carried, also as JSON and addresses escape them, and the query of every other address, which may hold a
 * signature.
 */
export function redactor(apiKey: string, requestBody: unknown): Redact {
  const secrets = [apiKey, ...signedAddresses(requestBody)].flatMap((secret) => [
    secret,
    secret.replaceAll('/', '\\/'),
    encodeURIComponent(secret),
  ]);
  // Cut last, so that no half of a secret is left at the end.
  return (text) =>
    secrets
      .reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text)
      .replace(/[^\s"'<>]+/g, withoutQuery)
      .slice(0, LONGEST_MESSAGE);
}

/** A run of characters without the query of the address in it. */
function withoutQuery(run: string): string {
  const address = run.search(/https?:[\\/]{2}/i);
  const query = address < 0 ? -1 : run.indexOf('?', address);
  return query < 0 ? run : `${run.slice(0, query)}?[removed]`;
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

/** What is known about a refusal when its code is decided. */
export interface Evidence {
  family: GatewayFamily;
  /** `music/callback` is a failure reported by a callback. */
  route: RouteName | 'music/callback';
  status?: number | undefined;
  /** The body's own numeric code. */
  number?: number | undefined;
  names: readonly string[];
  message?: string | undefined;
  retryAfterMs?: number | undefined;
}

/** All that is given must hold. `numbers` are body codes, or HTTP statuses where the body has no code. */
interface Rule {
  code: GatewayErrorCode;
  numbers?: readonly number[];
  /** One of the names, as `normalName` writes them. */
  names?: RegExp;
  families?: readonly GatewayFamily[];
  inCallback?: true;
  /** Of the route. */
  rateIs429?: true;
  says?: RegExp;
  /** The number is the body's own (true), or only the HTTP status (false). */
  inBody?: boolean;
  /** The gateway named a time to wait. */
  waits?: true;
}

const SAYS_CREDITS =
  /\bcredits?\b|\bbalance\b|insufficient (?:funds|quota)|\btop[- ]?up\b|\brecharge\b|arrear|spend(?:ing)? limit|余额|积分不足|欠费/i;
/** Not "531: failed, credits refunded". */
const SAYS_CREDITS_SHORT = /insufficient|not enough|余额|积分不足|欠费/i;
const SAYS_RATE =
  /\brate\b|too many|too (?:often|frequent|high)|frequen|throttl|concurren|slow down|per (?:second|minute|hour)|频率|请求过/i;
const SAYS_TOO_LONG =
  /too (?:long|large|big|many (?:tokens|characters|words))|(?:length|characters?|tokens?|size|words)\b.{0,60}\b(?:exceed|limit|over|at most|maximum)|(?:exceed|maximum|limit).{0,60}\b(?:length|characters?|tokens?|context|size|words)/i;
const SAYS_BLOCKED =
  /copyright|sensitive|moderat|inappropriate|violat|prohibited|content polic|safety|not allowed to (?:use|mention)|artist(?:'s)? name|matches existing|敏感|违规/i;
const SAYS_EXISTS = /already (?:exists?|been|generated|created|has)|duplicate|已存在/i;
const SAYS_MAINTENANCE = /maintenance|维护/i;
const SAYS_BAD_KEY = /api key (?:is )?(?:not valid|invalid|expired|not found)|invalid api[- ]?key/i;

const BAD_REQUEST = [400, 413, 422];
const BAD_REQUEST_NAMES = /^(?:invalidrequesterror|invalidargument|invalidparameter.*|failedprecondition)$/;
const MUSIC = ['music'] as const;
/**
 * The first rule that holds decides. Sources: docs.sunoapi.org (codes of every route; cover-suno), docs.kie.ai/suno-api (also
 * upload-and-extend-audio-callbacks), platform.openai.com/docs/guides/error-codes and openai-node src/resources/shared.ts,
 * platform.claude.com/docs/en/api/errors, ai.google.dev/gemini-api/docs/generate-content/api-errors,
 * help.aliyun.com/en/model-studio/error-code, RFC 9110 section 15.
 */
const RULES: readonly Rule[] = [
  // Names that mean one thing in every context.
  {
    code: 'credits',
    names: /^(?:insufficient(?:quota|credits|balance)|billing.*|arrearage|paymentrequired)$/,
  },
  { code: 'rate', names: /^(?:ratelimit.*|throttling.*|toomanyrequests|limitrequests|limitburstrate)$/ },
  {
    code: 'auth',
    names: /^(?:(?:invalid|incorrect)apikey|apikeyinvalid|authenticationerror|unauthenticated|unauthorized)$/,
  },
  {
    code: 'too-long',
    names: /^(?:contextlengthexceeded|requesttoolarge|stringabovemaxlength|payloadtoolarge)$/,
  },
  {
    code: 'blocked',
    names:
      /^(?:datainspectionfailed.*|content(?:policyviolation|filter)|sensitiveworderror|moderationblocked)$/,
  },
  { code: 'not-found', names: /^(?:modelnotfound|notfounderror|notfound)$/ },
  { code: 'forbidden', names: /^(?:accessdenied.*|permissionerror|permissiondenied)$/ },
  { code: 'exists', names: /^(?:alreadyexists|conflicterror)$/ },
  { code: 'timeout', names: /^(?:timeouterror|deadlineexceeded|requesttimeout.*)$/ },
  { code: 'unavailable', names: /^overloadederror$/ },

  // 402, 405, 429 and 430: money, or speed?
  { code: 'credits', numbers: [402] },
  { code: 'rate', numbers: [430] },
  // A time to wait does not bring credits.
  { code: 'rate', numbers: [429], waits: true },
  { code: 'credits', numbers: [429], families: MUSIC, says: SAYS_CREDITS },
  { code: 'rate', numbers: [429], families: MUSIC, says: SAYS_RATE },
  { code: 'rate', numbers: [429], rateIs429: true },
  { code: 'credits', numbers: [429], families: MUSIC, inBody: true },
  // A bare HTTP 429 is a proxy's.
  { code: 'rate', numbers: [429] },
  { code: 'rate', numbers: [405], families: MUSIC, inBody: true },
  { code: 'rate', numbers: [405], families: MUSIC, says: SAYS_RATE },

  // A bad request may be too long, blocked, repeated, or unpaid.
  { code: 'auth', numbers: [400], says: SAYS_BAD_KEY },
  { code: 'credits', numbers: [400, 403], says: SAYS_CREDITS },
  { code: 'exists', numbers: [400], families: MUSIC, says: SAYS_EXISTS },
  { code: 'blocked', numbers: [413], inCallback: true },
  { code: 'blocked', numbers: [400, 422, 451], says: SAYS_BLOCKED },
  { code: 'blocked', inCallback: true, says: SAYS_BLOCKED },
  { code: 'credits', inCallback: true, says: SAYS_CREDITS_SHORT },
  { code: 'too-long', numbers: BAD_REQUEST, says: SAYS_TOO_LONG },
  { code: 'too-long', numbers: [413] },
  { code: 'credits', names: BAD_REQUEST_NAMES, says: SAYS_CREDITS },
  { code: 'blocked', names: BAD_REQUEST_NAMES, says: SAYS_BLOCKED },
  { code: 'too-long', names: BAD_REQUEST_NAMES, says: SAYS_TOO_LONG },

  // Numbers that mean one thing.
  { code: 'auth', numbers: [401] },
  { code: 'forbidden', numbers: [403] },
  { code: 'not-found', numbers: [404, 410] },
  { code: 'exists', numbers: [409] },
  { code: 'unfetched', numbers: [451], families: MUSIC },
  { code: 'not-made', numbers: [501], families: MUSIC, inBody: true },
  { code: 'refunded', numbers: [531], families: MUSIC },
  { code: 'blocked', numbers: [451] },
  { code: 'maintenance', numbers: [455] },
  { code: 'maintenance', numbers: [503], says: SAYS_MAINTENANCE },
  { code: 'timeout', numbers: [408, 504, 524] },
  { code: 'unavailable', numbers: [500, 501, 502, 503, 520, 521, 522, 523, 529] },
  { code: 'invalid', numbers: [400, 405, 406, 411, 414, 415, 416, 417, 422] },

  // Words too general to come before a number.
  { code: 'rate', names: /^resourceexhausted$/ },
  { code: 'invalid', names: BAD_REQUEST_NAMES },
  { code: 'invalid', names: /^badrequest/ },
  { code: 'unavailable', names: /^(?:apierror|internal.*|unavailable|servererror|serviceunavailable)$/ },
  { code: 'unavailable', names: /^(?:createtaskfailed|generate.*failed|callbackexception)$/ },
];

/**
 * Decides what a refusal means, by its body, route and family: the body's own code first, then the HTTP status. Codes
 * are ambiguous between routes, and some only by their message, so only this table reads messages.
 */
export function decideCode(evidence: Evidence): GatewayErrorCode {
  const numbers = [
    ...(evidence.number === undefined ? [] : [{ number: evidence.number, inBody: true }]),
    ...(evidence.status !== undefined && evidence.status >= 300
      ? [{ number: evidence.status, inBody: false }]
      : []),
  ];
  const candidates = numbers.length === 0 ? [undefined] : numbers;
  for (const candidate of candidates) {
    const rule = RULES.find((each) => holds(each, evidence, candidate));
    if (rule !== undefined) return rule.code;
  }
  if (evidence.status !== undefined && evidence.status >= 300 && evidence.status < 400) return 'no-api';
  if (evidence.status !== undefined && evidence.status >= 400 && evidence.status < 500) return 'invalid';
  return 'unavailable';
}

function holds(
  rule: Rule,
  evidence: Evidence,
  candidate: { number: number; inBody: boolean } | undefined,
): boolean {
  if (rule.families !== undefined && !rule.families.includes(evidence.family)) return false;
  const route: GatewayRoute | undefined =
    evidence.route === 'music/callback' ? undefined : ROUTES[evidence.route];
  if (rule.inCallback === true && route !== undefined) return false;
  if (rule.rateIs429 === true && route?.rateIs429 !== true) return false;
  if (rule.numbers !== undefined) {
    if (candidate === undefined || !rule.numbers.includes(candidate.number)) return false;
    if (rule.inBody !== undefined && rule.inBody !== candidate.inBody) return false;
  }
  if (rule.waits === true && evidence.retryAfterMs === undefined) return false;
  if (rule.says !== undefined && !rule.says.test(evidence.message ?? '')) return false;
  const { names } = rule;
  return names === undefined || evidence.names.some((name) => names.test(normalName(name)));
}
