import * as json from './json.ts';

/** What a refusing body says, in whichever of the five dialects it is written. */
export interface Refusal {
  /** The body's own numeric code. */
  number?: number | undefined;
  /** The body's own words for the error, most specific first, as written. */
  names: readonly string[];
  message?: string | undefined;
  retryAfterMs?: number | undefined;
}

const SAYS_WELL = /^(?:ok|success|succeeded|successful|completed?|none|null)$/;
/** Of a message, in characters. Shorter than this it is cut where secrets have been taken out. */
const LONGEST_MESSAGE = 4_000;
/** Says that something is wrong, not what. */
const SAYS_NOTHING = /^(?:error|fail|failed|failure)$/;

/**
 * Reads an error body. The contract, "Errors", shows neither its shape nor its codes; the dialects, with their sources:
 * music `{code, msg, data}` (https://docs.sunoapi.org/suno-api/quickstart),
 * media `{code: "Word", message, request_id}` (https://help.aliyun.com/en/model-studio/error-code),
 * chat `{error: {message, type, param, code}}` (openai-node src/resources/shared.ts; vLLM `{object: "error"}`),
 * msg `{type: "error", error: {type, message}}` (https://platform.claude.com/docs/en/api/errors),
 * gen `{error: {code, message, status, details}}` (https://ai.google.dev/gemini-api/docs/generate-content/api-errors).
 */
export function readRefusal(body: unknown): Refusal {
  const root = json.fieldsOf(Array.isArray(body) ? body[0] : body);
  const nested = root('error');
  const error = json.fieldsOf(nested);
  const details = json.asList(error('details')).slice(0, 20).map(json.fieldsOf);

  const codes = [
    ...details.map((detail) => detail('reason')),
    error('code'),
    error('status'),
    error('type'),
    root('code', 'errorCode', 'statusCode'),
    root('type'),
    typeof nested === 'string' && /^[\w.-]{1,60}$/.test(nested) ? nested : undefined,
    root('status'),
  ];
  return {
    number: codes.map(json.asNumber).find((code) => code !== undefined),
    names: codes.flatMap((code) => (namesAnError(code) ? [code.slice(0, 100)] : [])),
    message: [
      error('message'),
      nested,
      root('msg', 'message', 'errorMessage', 'detail'),
      json.fieldsOf(json.asList(root('detail'))[0])('msg', 'message'),
      json.fieldsOf(root('data'))('errorMessage', 'error', 'message'),
    ]
      .map((words) => json.asText(words, LONGEST_MESSAGE))
      .find((words) => words !== undefined),
    retryAfterMs: details
      .map((detail) => secondsOf(detail('retryDelay')))
      .find((delay) => delay !== undefined),
  };
}

/** As protobuf writes a duration, `3.5s`, in milliseconds. */
function secondsOf(duration: unknown): number | undefined {
  const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(json.asText(duration) ?? '') ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

function namesAnError(code: unknown): code is string {
  if (typeof code !== 'string' || json.asNumber(code) !== undefined) return false;
  const name = json.normalName(code);
  return name !== '' && !SAYS_WELL.test(name) && !SAYS_NOTHING.test(name);
}

/**
 * Whether a body that came with a good status refuses all the same. Music and media put their errors there: a `code`
 * that is neither 200 nor 0 (https://docs.sunoapi.org/suno-api/quickstart).
 */
export function isRefusal(body: unknown): boolean {
  const { error, type, object, success, code } = json.objectOf(body);
  if (json.isObject(error) ? Object.keys(error).length > 0 : typeof error === 'string' && error !== '')
    return true;
  return type === 'error' || object === 'error' || success === false || isBadCode(code);
}

/** Whether a body's own code says that something went wrong. */
export function isBadCode(code: unknown): boolean {
  const number = json.asNumber(code);
  if (number !== undefined) return number !== 0 && (number < 200 || number > 299);
  return typeof code === 'string' && code !== '' && !SAYS_WELL.test(json.normalName(code));
}
