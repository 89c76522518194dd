/** Maps the codes and messages of the gateway's refusals to error codes. */
import { present } from '../../core/util/present.ts';
import { DIALECTS } from '../models/hints.ts';
import { type GatewayFamily, type GatewayRoute, ROUTES, type RouteName } from '../routes.ts';
import {
  ERROR_CODES,
  GatewayError,
  type GatewayErrorCode,
  isReadRoute,
  type Taken,
  type TaskFailure,
} from './errors.ts';
import { normalName } from './json.ts';
import type { Redact } from './redact.ts';
import type { Refusal } from './refusal-body.ts';

/** Redirects before any work. 302 and 303 may follow completed work. */
const UNPROCESSED_REDIRECTS = new Set([301, 307, 308]);

/** Error names that only repeat the status 503: its reason phrase, and the default problem type (RFC 9457 section 4.2.1). */
const REPEATS_503 = /^(?:serviceunavailable|aboutblank)$/;

/**
 * True if the gateway refused the request before any work: with 529 (overloaded:
 * https://platform.claude.com/docs/en/api/errors), or with a 503 that has an error name or a retry delay. Any other 503
 * may be from a proxy that lost its connection after it forwarded the request
 * (https://github.com/envoyproxy/envoy/issues/14981). Proxies send JSON with numeric codes too.
 */
function isRefusedBeforeWork(status: number, { names }: Refusal, retryAfterMs: number | undefined): boolean {
  if (status !== 503) return status === 529;
  return retryAfterMs !== undefined || names.some((name) => !REPEATS_503.test(normalName(name)));
}

interface RefusedWith {
  status: number;
  refusal: Refusal;
  /** From the headers. Takes precedence over the body. */
  retryAfterMs?: number | undefined;
  text: string;
  /** True if the stream had begun, so work was done. */
  midStream?: boolean;
}

/** Creates an error for a refusal by the gateway. */
export function refused(route: RouteName, answer: RefusedWith, redact: Redact): GatewayError {
  const { status, refusal, midStream = false } = answer;
  const { family } = ROUTES[route];
  const retryAfterMs = answer.retryAfterMs ?? refusal.retryAfterMs;
  const message = refusal.message === undefined ? undefined : redact(refusal.message);
  const decidedCode = decideCode({ family, route, status, ...refusal, message, retryAfterMs });
  const code = isWebPage(answer.text) && PAGE_CODES.has(decidedCode) ? 'no-api' : decidedCode;
  const hasSuccessStatus = status < 300;
  const isRedirect = status >= 300 && status < 400;
  const isExplicit =
    ERROR_CODES[decidedCode].refuses ||
    hasSuccessStatus ||
    UNPROCESSED_REDIRECTS.has(status) ||
    isRefusedBeforeWork(status, refusal, retryAfterMs);
  const taken: Taken = isReadRoute(route) || (isExplicit && !midStream) ? 'no' : 'unknown';
  // "Server error" in the body of a successful response: not accepted, but a retry may cost credits.
  const isVague = hasSuccessStatus && decidedCode !== 'rate' && decidedCode !== 'maintenance';
  return new GatewayError({
    code,
    route,
    status,
    taken,
    retryable:
      ERROR_CODES[decidedCode].passes && !isRedirect && (isReadRoute(route) || (taken === 'no' && !isVague)),
    gatewayCode: refusal.names[0] === undefined ? refusal.number?.toString() : redact(refusal.names[0]),
    gatewayMessage: message,
    retryAfterMs,
    explanation: isRedirect ? 'the gateway redirected the request: check its base URL' : undefined,
  });
}

/** Codes that, on a web page, describe the page and not the work. */
const PAGE_CODES: ReadonlySet<GatewayErrorCode> = new Set(['not-found', 'forbidden', 'invalid']);

/** True if a body is a web page, which the gateway never sends. */
export function isWebPage(text: string): boolean {
  return /^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text);
}

/** The properties of a refusal that decide its code. */
interface Evidence {
  family: GatewayFamily;
  /** Absent for the report of a failed task. */
  route?: RouteName;
  status?: number | undefined;
  /** The numeric code in the body. */
  number?: number | undefined;
  names: readonly string[];
  message?: string | undefined;
  retryAfterMs?: number | undefined;
}

/** Applies if all its conditions hold. `numbers` are body codes, or HTTP statuses if the body has no code. */
interface Rule {
  code: GatewayErrorCode;
  numbers?: readonly number[];
  /** Matches one of the names, normalised by `normalName`. */
  names?: RegExp;
  families?: readonly GatewayFamily[];
  /** The evidence is the report of a failed task. */
  inTask?: true;
  /** The route has `rateIs429`. */
  rateIs429?: true;
  message?: RegExp;
  /** The number is from the body (true) or the HTTP status (false). */
  inBody?: boolean;
  /** The gateway sent a retry delay. */
  hasRetryDelay?: true;
}

const SAYS_CREDITS =
  /\bcredits?\b|\bbalance\b|insufficient (?:funds|quota)|\btop[- ]?up\b|\brecharge\b|arrear|spend(?:ing)? limit|余额|积分不足|欠费/i;
/** Narrow, because a text may contain the word, such as film credits. */
const SAYS_NO_CREDITS =
  /(?:insufficient|not enough|no|out of|run out|more|add|buy|exceed(?:s|ed|ing)?|low on) .{0,30}\bcredits?\b|\bcredits?\b.{0,40}(?:insufficient|exhaust|exceed|too low|used up|run out|required|depleted)|insufficient (?:funds|quota|balance)|balance .{0,30}(?:low|insufficient|not enough)|\btop[- ]?up\b|\brecharge\b|arrear|spend(?:ing)? limit|余额|积分不足|欠费/i;
/** Not "531: failed, credits refunded". */
const SAYS_CREDITS_SHORT = /insufficient|not enough|余额|积分不足|欠费/i;
const SAYS_RATE =
  /\brate\b|too many|too (?:often|frequent|high)|frequen|throttl|concurren|slow down|per (?:second|minute|hour)|频率|请求过/i;
const SAYS_TOO_LONG =
  /too (?:long|large|big|many (?:tokens|characters|words))|(?:length|characters?|tokens?|size|words)\b.{0,60}\b(?:exceed|limit|over|at most|maximum)|(?:exceed|maximum|limit).{0,60}\b(?:length|characters?|tokens?|context|size|words)/i;
const SAYS_BLOCKED =
  /copyright|sensitive|moderat|inappropriate|violat|prohibited|content (?:polic|filter)|safety|not allowed to (?:use|mention)|artist(?:'s)? name|matches existing|green net|敏感|违规/i;
const SAYS_COPYRIGHT = /copyright|matches existing/i;
/** “Song Description contained artist name: …” */
const SAYS_ARTIST =
  /\bartist(?:['’]?s)? names?\b|\bnames? of (?:an )?artist|\b(?:known|specific) artists?\b/i;
/** “Can't fetch the uploaded audio”, “Unable to download the media resource …”. */
const SAYS_UNFETCHED =
  /\b(?:failed to|unable to|can(?:['’]|no)t|could(?:n['’]t| not)) (?:download|fetch|find the requested media)|\bdownload\b.{0,60}\btimed out/i;
/** A limit of the answer, not of the question. */
const SAYS_BOUND = /max_?(?:completion_|output_)?tokens|stream_options/i;
const SAYS_NO_MODEL = /\bmodel\b.{0,60}(?:not exist|not found)|no such model|unknown model/i;
const SAYS_NO_IMAGES =
  /(?:not support|unsupported|not accept|cannot process).{0,60}\bimages?\b|\bimages?\b.{0,40}(?:not supported|unsupported|not accepted)|\bimage_url is only supported by certain models/i;
/** one-api and new-api, for a model without a provider: https://github.com/songquanpeng/one-api */
const SAYS_NO_CHANNEL = /no available channels?|无可用渠道/i;
const SAYS_EXISTS = /already (?:exists?|been|generated|created|has)|duplicate|已存在/i;
const SAYS_MAINTENANCE = /maintenance|维护/i;
const SAYS_BAD_KEY =
  /api key (?:is |was )?(?:not valid|invalid|expired|not found|reported as leaked)|invalid api[- ]?key|unregistered callers/i;
/** OpenAI and Google do not serve every country. */
const SAYS_NOT_HERE =
  /\b(?:country|region|territory|location)\b.{0,40}not (?:supported|available)|not (?:supported|available) in your (?:country|region)/i;

const BAD_REQUEST = [400, 413, 422];
const BAD_REQUEST_NAMES = /^(?:invalidrequesterror|invalidargument|invalidparameter.*|failedprecondition)$/;
const MUSIC = ['music'] as const;
/** The families that download files from the bot. */
const DOWNLOADING = ['music', 'media'] as const;

/** A reason that a bad request or a failed task gives in its message. */
const declined = (
  code: GatewayErrorCode,
  message: RegExp,
  families?: readonly GatewayFamily[],
): readonly Rule[] => {
  const rule = { code, message, ...(families === undefined ? {} : { families }) };
  return [
    { ...rule, numbers: [400, 403, 422, 451] },
    { ...rule, inTask: true },
  ];
};

/**
 * The first matching rule wins. Sources: docs.sunoapi.org (codes of every route; cover-suno), docs.kie.ai/suno-api (also
 * upload-and-extend-audio-callbacks), platform.openai.com/docs/guides/error-codes and openai-node src/resources/shared.ts,
 * platform.claude.com/docs/en/api/errors, ai.google.dev/gemini-api/docs/generate-content/api-errors,
 * help.aliyun.com/en/model-studio/error-code, RFC 9110 section 15.
 */
const RULES: readonly Rule[] = [
  // A failed download has the code of the inspection that it was for.
  ...declined('unfetched', SAYS_UNFETCHED, DOWNLOADING),

  { code: 'auth', numbers: [400, 403], message: SAYS_BAD_KEY },

  // Unambiguous names.
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
      /^(?:datainspectionfailed.*|ipinfringementsuspect|content(?:policyviolation|filter)|sensitiveworderror|moderationblocked)$/,
  },
  { code: 'not-found', names: /^(?:modelnotfound|notfounderror|notfound)$/ },
  { code: 'forbidden', names: /^(?:accessdenied.*|permissionerror|permissiondenied)$/ },
  { code: 'exists', names: /^(?:alreadyexists|conflicterror)$/ },
  { code: 'timeout', names: /^(?:timeouterror|deadlineexceeded|requesttimeout.*)$/ },
  { code: 'unavailable', names: /^overloadederror$/ },

  // 402, 405, 429 and 430: credits or rate limit.
  { code: 'credits', numbers: [402] },
  { code: 'rate', numbers: [430] },
  // Waiting does not add credits.
  { code: 'rate', numbers: [429], hasRetryDelay: true },
  { code: 'credits', numbers: [429], families: MUSIC, message: SAYS_CREDITS },
  { code: 'rate', numbers: [429], families: MUSIC, message: SAYS_RATE },
  { code: 'rate', numbers: [429], rateIs429: true },
  { code: 'credits', numbers: [429], families: MUSIC, inBody: true },
  // A 429 without a code in the body is from a proxy.
  { code: 'rate', numbers: [429] },
  { code: 'rate', numbers: [405], families: MUSIC, inBody: true },
  { code: 'rate', numbers: [405], families: MUSIC, message: SAYS_RATE },

  { code: 'not-found', message: SAYS_NO_CHANNEL },

  // A bad request may be too long, blocked, repeated, or unpaid.
  { code: 'invalid', numbers: BAD_REQUEST, families: DIALECTS, message: SAYS_BOUND },
  { code: 'no-images', numbers: BAD_REQUEST, families: DIALECTS, message: SAYS_NO_IMAGES },
  { code: 'not-found', numbers: BAD_REQUEST, message: SAYS_NO_MODEL },
  { code: 'forbidden', numbers: [400], families: DIALECTS, message: SAYS_NOT_HERE },
  { code: 'credits', numbers: [400, 403], message: SAYS_NO_CREDITS },
  { code: 'exists', numbers: [400], families: MUSIC, message: SAYS_EXISTS },
  ...declined('artist', SAYS_ARTIST, MUSIC),
  ...declined('copyright', SAYS_COPYRIGHT, MUSIC),
  { code: 'copyright', numbers: [413], families: MUSIC, inTask: true },
  ...declined('blocked', SAYS_BLOCKED),
  { code: 'credits', inTask: true, message: SAYS_CREDITS_SHORT },
  // “Music generation failed”, without a reason.
  { code: 'not-made', numbers: [400], families: MUSIC, inTask: true, message: /\bfailed\b/i },
  { code: 'too-long', numbers: BAD_REQUEST, message: SAYS_TOO_LONG },
  { code: 'too-long', numbers: [413] },
  { code: 'credits', names: BAD_REQUEST_NAMES, message: SAYS_NO_CREDITS },
  { code: 'blocked', names: BAD_REQUEST_NAMES, message: SAYS_BLOCKED },
  { code: 'too-long', names: BAD_REQUEST_NAMES, message: SAYS_TOO_LONG },

  // Unambiguous numbers.
  { code: 'auth', numbers: [401] },
  { code: 'forbidden', numbers: [403] },
  { code: 'not-found', numbers: [404, 410] },
  { code: 'exists', numbers: [409] },
  { code: 'unfetched', numbers: [451], families: MUSIC },
  { code: 'not-made', numbers: [501], families: MUSIC, inBody: true },
  { code: 'refunded', numbers: [531], families: MUSIC },
  { code: 'blocked', numbers: [451] },
  { code: 'maintenance', numbers: [455] },
  { code: 'maintenance', numbers: [503], message: SAYS_MAINTENANCE },
  { code: 'timeout', numbers: [408, 504, 524] },
  { code: 'unavailable', numbers: [500, 501, 502, 503, 520, 521, 522, 523, 529] },
  { code: 'invalid', numbers: [400, 405, 406, 411, 414, 415, 416, 417, 422] },

  // Names that are less specific than numbers.
  { code: 'rate', names: /^resourceexhausted$/ },
  { code: 'invalid', names: BAD_REQUEST_NAMES },
  { code: 'invalid', names: /^badrequest/ },
  { code: 'unavailable', names: /^(?:apierror|internal.*|unavailable|servererror|serviceunavailable)$/ },
  { code: 'unavailable', names: /^(?:createtaskfailed|generate.*failed|callbackexception)$/ },
];

/**
 * Decides the error code by body, route and family: first by the code in the body, then by the HTTP status. Codes are
 * ambiguous between routes, some except by their message, so only this table reads messages.
 */
function decideCode(evidence: Evidence): GatewayErrorCode {
  const numbers = [
    ...(evidence.number === undefined ? [] : [{ number: evidence.number, inBody: true }]),
    ...(evidence.status !== undefined && evidence.status >= 300
      ? [{ number: evidence.status, inBody: false }]
      : []),
  ];
  const candidates = numbers.length === 0 ? [undefined] : numbers;
  for (const candidate of candidates) {
    const rule = RULES.find((each) => matches(each, evidence, candidate));
    if (rule !== undefined) return rule.code;
  }
  if (evidence.status !== undefined && evidence.status >= 300 && evidence.status < 400) return 'no-api';
  if (evidence.status !== undefined && evidence.status >= 400 && evidence.status < 500) return 'invalid';
  return 'unavailable';
}

/** Explains why an accepted task failed. Outages and timeouts count as failures of the work itself. */
export function taskFailure(evidence: Omit<Evidence, 'route' | 'status'>): TaskFailure {
  const code = decideCode(evidence);
  const { names, number, message } = evidence;
  return {
    code: ERROR_CODES[code].refuses ? code : 'not-made',
    ...present({ gatewayCode: names[0] ?? number?.toString(), message }),
  };
}

function matches(
  rule: Rule,
  evidence: Evidence,
  candidate: { number: number; inBody: boolean } | undefined,
): boolean {
  if (rule.families !== undefined && !rule.families.includes(evidence.family)) return false;
  const route: GatewayRoute | undefined = evidence.route && ROUTES[evidence.route];
  if (rule.inTask === true && route !== undefined) return false;
  if (rule.rateIs429 === true && route?.rateIs429 !== true) return false;
  if (rule.numbers !== undefined) {
    if (candidate === undefined || !rule.numbers.includes(candidate.number)) return false;
    if (rule.inBody !== undefined && rule.inBody !== candidate.inBody) return false;
  }
  if (rule.hasRetryDelay === true && evidence.retryAfterMs === undefined) return false;
  if (rule.message !== undefined && !rule.message.test(evidence.message ?? '')) return false;
  const { names } = rule;
  return names === undefined || evidence.names.some((name) => names.test(normalName(name)));
}
