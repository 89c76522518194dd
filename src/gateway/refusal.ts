import type { z } from 'zod';
import { asList, asNumber, asText, fieldsOf, isObject, normalName } from './json.ts';
import { listOf, maybe, members, notNegative, number, text } from './responses.ts';

/**
 * What a refusing body says, in whichever of the five dialects it is written: contract, "Errors", where the body's
 * shape and its codes are not shown.
 */
const refusalBody = members({
  /** The body's own numeric code. */
  number: maybe(number),
  /** The body's own words for the error, most specific first, as written. */
  names: listOf(text(100), 50),
  message: maybe(text(500)),
  retryAfterMs: maybe(notNegative),
});
export type Refusal = z.infer<typeof refusalBody>;

const SAYS_WELL = new Set([
  'ok',
  'success',
  'succeeded',
  'successful',
  'complete',
  'completed',
  'none',
  'null',
]);
/** Says that something is wrong, not what. */
const SAYS_NOTHING = new Set(['error', 'fail', 'failed', 'failure']);

/**
 * Reads an error body. The dialects, with their sources:
 * music `{code, msg, data}` (https://docs.sunoapi.org/suno-api/quickstart),
 * media `{code: "Word", message, request_id}` (https://help.aliyun.com/en/model-studio/error-code),
 * chat `{error: {message, type, param, code}}` (openai-node src/resources/shared.ts; vLLM `{object: "error"}`),
 * msg `{type: "error", error: {type, message}}` (https://platform.claude.com/docs/en/api/errors),
 * gen `{error: {code, message, status, details}}` (https://ai.google.dev/gemini-api/docs/generate-content/api-errors).
 */
export function readRefusal(body: unknown): Refusal {
  const root = fieldsOf(Array.isArray(body) ? body[0] : body);
  const nested = root('error', 'err');
  const error = isObject(nested) ? nested : undefined;
  const inner = fieldsOf(error);
  const details = asList(inner('details')).slice(0, 20).map(fieldsOf);

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
    (code): code is string => typeof code === 'string' && asNumber(code) === undefined,
  );
  const retryDelays = details.map((detail) => secondsOf(asText(detail('retryDelay'), 40)));
  const retryDelay = retryDelays.findLast((seconds) => seconds !== undefined);

  return refusalBody.parse({
    number: codes.map(asNumber).find((code) => code !== undefined),
    names: words.filter(namesAnError),
    message:
      asText(inner('message', 'msg', 'detail')) ??
      asText(nested) ??
      asText(root('msg', 'message', 'errorMessage', 'detail', 'error_description')) ??
      asText(fieldsOf(asList(root('detail'))[0])('msg', 'message')) ??
      asText(fieldsOf(root('data'))('errorMessage', 'error', 'message')),
    retryAfterMs: retryDelay === undefined ? undefined : Math.ceil(retryDelay * 1000),
  });
}

/** As protobuf writes a duration: `3.5s`. */
function secondsOf(duration: string | undefined): number | undefined {
  return asNumber(/^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(duration ?? '')?.[1]);
}

function namesAnError(code: string): boolean {
  const name = normalName(code.slice(0, 100));
  return !SAYS_WELL.has(name) && !SAYS_NOTHING.has(name);
}

/**
 * Whether a body that came with a good status refuses all the same. Music and media put their errors there: a `code`
 * that is neither 200 nor 0 (https://docs.sunoapi.org/suno-api/quickstart).
 */
export function isRefusal(body: unknown): boolean {
  const root = fieldsOf(body);
  const error = root('error', 'err');
  if (isObject(error) ? Object.keys(error).length > 0 : typeof error === 'string') return true;
  if (root('type') === 'error' || root('object') === 'error' || root('success') === false) return true;
  return isBadCode(root('code', 'statusCode'));
}

/** Whether a body's own code says that something went wrong. */
export function isBadCode(code: unknown): boolean {
  const number = asNumber(code);
  if (number !== undefined) return number !== 0 && (number < 200 || number > 299);
  return typeof code === 'string' && !SAYS_WELL.has(normalName(code));
}
