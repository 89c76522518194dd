import type { GatewayFamily, RouteName } from '../routes.ts';
import { normalName } from './json.ts';

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
  routes?: readonly Evidence['route'][];
  says?: RegExp;
  /** The number is the body's own (true), or only the HTTP status (false). */
  inBody?: boolean;
  /** The gateway named a time to wait. */
  waits?: true;
  source: string;
}

const SUNO = 'docs.sunoapi.org, status codes of every route';
const COVER = 'docs.sunoapi.org/suno-api/cover-suno: 402 credits, 409 exists, 429 rate';
const KIE = 'docs.kie.ai/suno-api: 402 credits, 429 rate, 451 file not fetched';
const KIE_CALLBACK = 'docs.kie.ai/suno-api/upload-and-extend-audio-callbacks';
const OPENAI = 'platform.openai.com/docs/guides/error-codes; openai-node src/resources/shared.ts';
const ANTHROPIC = 'platform.claude.com/docs/en/api/errors';
const GEMINI = 'ai.google.dev/gemini-api/docs/generate-content/api-errors';
const DASHSCOPE = 'help.aliyun.com/en/model-studio/error-code';
const HTTP = 'RFC 9110 section 15';

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
/** The music routes whose 429 means rate: their pages give 402 for credits. */
const RATE_429_ROUTES = [
  'music/generate-cover',
  'music/add-vocals',
  'music/add-instrumental',
  'music/generate-persona',
] as const;

/** The first rule that holds decides. */
const RULES: readonly Rule[] = [
  // Names that mean one thing in every context.
  {
    code: 'credits',
    names: /^(?:insufficient(?:quota|credits|balance)|billing.*|arrearage|paymentrequired)$/,
    source: `${OPENAI}; ${ANTHROPIC}; ${DASHSCOPE}`,
  },
  {
    code: 'rate',
    names: /^(?:ratelimit.*|throttling.*|toomanyrequests|limitrequests|limitburstrate)$/,
    source: `${OPENAI}; ${ANTHROPIC}; ${DASHSCOPE}`,
  },
  {
    code: 'auth',
    names: /^(?:(?:invalid|incorrect)apikey|apikeyinvalid|authenticationerror|unauthenticated|unauthorized)$/,
    source: `${OPENAI}; ${ANTHROPIC}; ${GEMINI}; ${DASHSCOPE}`,
  },
  {
    code: 'too-long',
    names: /^(?:contextlengthexceeded|requesttoolarge|stringabovemaxlength|payloadtoolarge)$/,
    source: `${OPENAI}; ${ANTHROPIC}`,
  },
  {
    code: 'blocked',
    names:
      /^(?:datainspectionfailed.*|content(?:policyviolation|filter)|sensitiveworderror|moderationblocked)$/,
    source: `${OPENAI}; ${DASHSCOPE}; docs.sunoapi.org/suno-api/get-music-generation-details`,
  },
  {
    code: 'not-found',
    names: /^(?:modelnotfound|notfounderror|notfound)$/,
    source: `${ANTHROPIC}; ${GEMINI}; ${DASHSCOPE}`,
  },
  {
    code: 'forbidden',
    names: /^(?:accessdenied.*|permissionerror|permissiondenied)$/,
    source: `${ANTHROPIC}; ${GEMINI}; ${DASHSCOPE}`,
  },
  { code: 'exists', names: /^(?:alreadyexists|conflicterror)$/, source: `${ANTHROPIC}; ${GEMINI}` },
  {
    code: 'timeout',
    names: /^(?:timeouterror|deadlineexceeded|requesttimeout.*)$/,
    source: `${ANTHROPIC}; ${GEMINI}; ${DASHSCOPE}`,
  },
  { code: 'unavailable', names: /^overloadederror$/, source: ANTHROPIC },

  // 402, 405, 429 and 430: money, or speed?
  { code: 'credits', numbers: [402], source: `${COVER}; ${KIE}; ${ANTHROPIC}; ${GEMINI}` },
  { code: 'rate', numbers: [430], source: SUNO },
  { code: 'rate', numbers: [429], waits: true, source: 'RFC 6585: a time to wait does not bring credits' },
  { code: 'credits', numbers: [429], families: ['music'], says: SAYS_CREDITS, source: SUNO },
  { code: 'rate', numbers: [429], families: ['music'], says: SAYS_RATE, source: `${COVER}; ${KIE}` },
  { code: 'rate', numbers: [429], routes: RATE_429_ROUTES, source: `${COVER}; ${KIE}` },
  { code: 'credits', numbers: [429], families: ['music'], inBody: true, source: SUNO },
  {
    code: 'rate',
    numbers: [429],
    source: `${OPENAI}; ${ANTHROPIC}; ${GEMINI}; ${DASHSCOPE}; a bare HTTP 429 is a proxy's`,
  },
  { code: 'rate', numbers: [405], families: ['music'], inBody: true, source: SUNO },
  { code: 'rate', numbers: [405], families: ['music'], says: SAYS_RATE, source: SUNO },

  // A bad request may be too long, blocked, repeated, or unpaid.
  { code: 'auth', numbers: [400], says: SAYS_BAD_KEY, source: GEMINI },
  {
    code: 'credits',
    numbers: [400, 403],
    says: SAYS_CREDITS,
    source: `${ANTHROPIC}: "credit balance is too low" is a 400`,
  },
  { code: 'exists', numbers: [400], families: ['music'], says: SAYS_EXISTS, source: COVER },
  { code: 'blocked', numbers: [413], routes: ['music/callback'], source: KIE_CALLBACK },
  {
    code: 'blocked',
    numbers: [400, 422, 451],
    says: SAYS_BLOCKED,
    source: `${SUNO}; ${KIE_CALLBACK}; ${OPENAI}`,
  },
  { code: 'blocked', routes: ['music/callback'], says: SAYS_BLOCKED, source: KIE_CALLBACK },
  { code: 'credits', routes: ['music/callback'], says: SAYS_CREDITS_SHORT, source: SUNO },
  { code: 'too-long', numbers: BAD_REQUEST, says: SAYS_TOO_LONG, source: `${SUNO}; ${ANTHROPIC}; ${GEMINI}` },
  { code: 'too-long', numbers: [413], source: `${SUNO}; ${ANTHROPIC}` },
  { code: 'credits', names: BAD_REQUEST_NAMES, says: SAYS_CREDITS, source: ANTHROPIC },
  { code: 'blocked', names: BAD_REQUEST_NAMES, says: SAYS_BLOCKED, source: OPENAI },
  { code: 'too-long', names: BAD_REQUEST_NAMES, says: SAYS_TOO_LONG, source: ANTHROPIC },

  // Numbers that mean one thing.
  { code: 'auth', numbers: [401], source: HTTP },
  { code: 'forbidden', numbers: [403], source: HTTP },
  { code: 'not-found', numbers: [404, 410], source: HTTP },
  { code: 'exists', numbers: [409], source: `${SUNO} (wav-generate); ${COVER}` },
  { code: 'unfetched', numbers: [451], families: ['music'], source: `${KIE}; ${SUNO} (callbacks)` },
  { code: 'not-made', numbers: [501], families: ['music'], inBody: true, source: KIE_CALLBACK },
  { code: 'refunded', numbers: [531], families: ['music'], source: KIE_CALLBACK },
  { code: 'blocked', numbers: [451], source: HTTP },
  { code: 'maintenance', numbers: [455], source: SUNO },
  { code: 'maintenance', numbers: [503], says: SAYS_MAINTENANCE, source: HTTP },
  { code: 'timeout', numbers: [408, 504, 524], source: `${KIE_CALLBACK}; ${ANTHROPIC}; ${GEMINI}` },
  {
    code: 'unavailable',
    numbers: [500, 501, 502, 503, 520, 521, 522, 523, 529],
    source: `${SUNO}; ${KIE_CALLBACK}; ${ANTHROPIC}`,
  },
  { code: 'invalid', numbers: [400, 405, 406, 411, 414, 415, 416, 417, 422], source: HTTP },

  // Words too general to come before a number.
  { code: 'rate', names: /^resourceexhausted$/, source: GEMINI },
  { code: 'invalid', names: BAD_REQUEST_NAMES, source: `${OPENAI}; ${GEMINI}` },
  { code: 'invalid', names: /^badrequest/, source: DASHSCOPE },
  {
    code: 'unavailable',
    names: /^(?:apierror|internal.*|unavailable|servererror|serviceunavailable)$/,
    source: `${ANTHROPIC}; ${GEMINI}; ${DASHSCOPE}`,
  },
  {
    code: 'unavailable',
    names: /^(?:createtaskfailed|generate.*failed|callbackexception)$/,
    source: 'docs.sunoapi.org/suno-api/get-music-generation-details',
  },
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
  if (rule.routes !== undefined && !rule.routes.includes(evidence.route)) return false;
  if (rule.numbers !== undefined) {
    if (candidate === undefined || !rule.numbers.includes(candidate.number)) return false;
    if (rule.inBody !== undefined && rule.inBody !== candidate.inBody) return false;
  }
  if (rule.waits === true && evidence.retryAfterMs === undefined) return false;
  if (rule.says !== undefined && !rule.says.test(evidence.message ?? '')) return false;
  const { names } = rule;
  return names === undefined || evidence.names.some((name) => names.test(normalName(name)));
}
