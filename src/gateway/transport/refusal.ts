import type { z } from 'zod';
import * as json from './json.ts';

/**
 * What a refusing body says, in whichever of the five dialects it is written: contract, "Errors", where the body's
 * shape and its codes are not shown.
 */
const refusalBody = json.members({
  /** The body's own numeric code. */
  number: json.maybe(json.number),
  /** The body's own words for the error, most specific first, as written. */
  names: json.listOf(json.text(100), 50),
  message: json.maybe(json.text(500)),
  retryAfterMs: json.maybe(json.notNegative),
});
export type Refusal = z.infer<typeof refusalBody>;

const SAYS_WELL = /^(?:ok|success|succeeded|successful|completed?|none|null)$/;
/** Says that something is wrong, not what. */
const SAYS_NOTHING = /^(?:error|fail|failed|failure)$/;

/**
 * Reads an error body. The dialects, with their sources:
 * music `{code, msg, data}` (https://docs.sunoapi.org/suno-api/quickstart),
 * media `{code: "Word", message, request_id}` (https://help.aliyun.com/en/model-studio/error-code),
 * chat `{error: {message, type, param, code}}` (openai-node src/resources/shared.ts; vLLM `{object: "error"}`),
 * msg `{type: "error", error: {type, message}}` (https://platform.claude.com/docs/en/api/errors),
 * gen `{error: {code, message, status, details}}` (https://ai.google.dev/gemini-api/docs/generate-content/api-errors).
 */
export function readRefusal(body: unknown): Refusal {
  const root = json.fieldsOf(Array.isArray(body) ? body[0] : body);
  const nested = root('error', 'err');
  const error = json.isObject(nested) ? nested : undefined;
  const inner = json.fieldsOf(error);
  const details = json.asList(inner('details')).slice(0, 20).map(json.fieldsOf);

  const codes = [
    ...details.map((detail) => detail('reason')),
    inner('code'),
    inner('status'),
    inner('type'),
    root('code', 'errorCode', 'statusCode'),
    root('type'),
    error === undefined && typeof nested === 'string' && /^[\w.-]{1,60}$/.test(nested) ? nested : undefined,
    root('status'),
  ];
  const words = codes.filter(
    (code): code is string => typeof code === 'string' && json.asNumber(code) === undefined,
  );
  const retryDelays = details.map((detail) => secondsOf(json.asText(detail('retryDelay'), 40)));
  const retryDelay = retryDelays.findLast((seconds) => seconds !== undefined);

  return refusalBody.parse({
    number: codes.map(json.asNumber).find((code) => code !== undefined),
    names: words.filter(namesAnError),
    message:
      json.asText(inner('message', 'msg', 'detail')) ??
      json.asText(nested) ??
      json.asText(root('msg', 'message', 'errorMessage', 'detail', 'error_description')) ??
      json.asText(json.fieldsOf(json.asList(root('detail'))[0])('msg', 'message')) ??
      json.asText(json.fieldsOf(root('data'))('errorMessage', 'error', 'message')),
    retryAfterMs: retryDelay === undefined ? undefined : Math.ceil(retryDelay * 1000),
  });
}

/** As protobuf writes a duration: `3.5s`. */
function secondsOf(duration: string | undefined): number | undefined {
  return json.asNumber(/^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(duration ?? '')?.[1]);
}

function namesAnError(code: string): boolean {
  const name = json.normalName(code.slice(0, 100));
  return !SAYS_WELL.test(name) && !SAYS_NOTHING.test(name);
}

/**
 * Whether a body that came with a good status refuses all the same. Music and media put their errors there: a `code`
 * that is neither 200 nor 0 (https://docs.sunoapi.org/suno-api/quickstart).
 */
export function isRefusal(body: unknown): boolean {
  const root = json.fieldsOf(body);
  const error = root('error', 'err');
  if (json.isObject(error) ? Object.keys(error).length > 0 : typeof error === 'string') return true;
  if (root('type') === 'error' || root('object') === 'error' || root('success') === false) return true;
  return isBadCode(root('code', 'statusCode'));
}

/** Whether a body's own code says that something went wrong. */
export function isBadCode(code: unknown): boolean {
  const number = json.asNumber(code);
  if (number !== undefined) return number !== 0 && (number < 200 || number > 299);
  return typeof code === 'string' && !SAYS_WELL.test(json.normalName(code));
}
