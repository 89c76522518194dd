import * as json from './json.ts';

/** The content of an error body in any of the five dialects. */
export interface Refusal {
  /** The numeric code in the body. */
  number?: number | undefined;
  /** The error names in the body, most specific first, unchanged. */
  names: readonly string[];
  message?: string | undefined;
  retryAfterMs?: number | undefined;
}

const SUCCESS_WORDS = /^(?:ok|success|succeeded|successful|completed?|none|null)$/;
/** Length of a message, in characters. It is shortened further once secrets are removed. */
const LONGEST_MESSAGE = 4_000;
/** Words that don't name a cause. */
const VAGUE_WORDS = /^(?:error|fail|failed|failure)$/;

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
    names: codes.flatMap((code) => (isErrorName(code) ? [code.slice(0, 100)] : [])),
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
      .map((detail) => millisecondsOf(detail('retryDelay')))
      .find((delay) => delay !== undefined),
  };
}

/** Converts a protobuf duration, such as `3.5s`, to milliseconds. */
function millisecondsOf(duration: unknown): number | undefined {
  const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(json.asText(duration) ?? '') ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

function isErrorName(code: unknown): code is string {
  if (typeof code !== 'string' || json.asNumber(code) !== undefined) return false;
  const name = json.normalName(code);
  return name !== '' && !SUCCESS_WORDS.test(name) && !VAGUE_WORDS.test(name);
}

/**
 * True if the body of a successful response is a refusal. Music and media report errors there, with a `code` that is
 * neither 200 nor 0 (https://docs.sunoapi.org/suno-api/quickstart).
 */
export function isRefusal(body: unknown): boolean {
  const { error, type, object, success, code } = json.objectOf(body);
  if (json.isObject(error) ? Object.keys(error).length > 0 : typeof error === 'string' && error !== '')
    return true;
  return type === 'error' || object === 'error' || success === false || isBadCode(code);
}

/** True if a code in a body reports an error. */
export function isBadCode(code: unknown): boolean {
  const number = json.asNumber(code);
  if (number !== undefined) return number !== 0 && (number < 200 || number > 299);
  return typeof code === 'string' && code !== '' && !SUCCESS_WORDS.test(json.normalName(code));
}
