import { decideCode } from './error-table.ts';
import type { GatewayErrorCode } from './errors.ts';
import { asNumber, asText, type Fields, isObject, normalName, objectsIn, parseJson } from './json.ts';
import { readMusicResult } from './music-reading.ts';
import type { MusicResult } from './music-result.ts';
import { codesOf, envelopesOf, isStageWord, type MusicStage, stageOf, type Verdict } from './music-stage.ts';
import { isBadCode, readRefusal } from './refusal.ts';

interface MusicFailure {
  code: GatewayErrorCode;
  gatewayCode?: string;
  /** The gateway's own words: escape them before showing them. */
  message?: string;
}

export interface MusicCallback {
  taskId?: string;
  stage: MusicStage;
  result: MusicResult;
  /** Present exactly when `stage` is `failed`. */
  failure?: MusicFailure;
}

/** The longest callback that is read as text, in characters; real ones have a few thousand. */
const LONGEST_CALLBACK = 4 * 1024 * 1024;

/**
 * Reads a body that the gateway sent to `callBackUrl`: JSON text, its parsed value, or anything at all. Total: it
 * never throws, and takes bounded time and memory. The contract shows no callback fields beyond those under "Music
 * results"; every shape of https://docs.sunoapi.org is read, nested, flat or bare, in snake and camel case.
 */
export function readMusicCallback(body: unknown): MusicCallback {
  try {
    return read(plain(body));
  } catch {
    // Only values that are no JSON can throw when read: revoked proxies, throwing getters.
    return { stage: 'unknown', result: { songs: [], lyrics: [], images: [], stems: [] } };
  }
}

function plain(body: unknown): unknown {
  const text =
    body instanceof Uint8Array ? new TextDecoder().decode(body.subarray(0, LONGEST_CALLBACK + 1)) : body;
  if (typeof text !== 'string') return text;
  if (text.length > LONGEST_CALLBACK) return undefined;
  const parsed = parseJson(text.trim());
  return parsed.ok ? parsed.value : undefined;
}

function read(body: unknown): MusicCallback {
  const envelopes = envelopesOf(body);
  const fields = envelopes.map((envelope) => envelope.fields);
  const result = readMusicResult(body);
  const taskId = readTaskId(body);
  const { stage, failedWith } = stageOf(body, envelopes, result);
  const callback: MusicCallback = { ...(taskId === undefined ? {} : { taskId }), stage, result };
  if (stage === 'failed') callback.failure = failureOf(body, fields, failedWith);
  return callback;
}

/** The task that a body belongs to, when it says so. */
export function readTaskId(body: unknown): string | undefined {
  for (const { fields, key } of envelopesOf(body)) {
    const taskId =
      asText(fields('taskId'), 512) ?? (normalName(key) === 'task' ? asText(fields('id'), 512) : undefined);
    if (taskId !== undefined) return taskId;
  }
  for (const { fields } of objectsIn(body).take(500)) {
    const taskId = asText(fields('taskId'), 512);
    if (taskId !== undefined) return taskId;
  }
  return undefined;
}

function failureOf(body: unknown, envelopes: Fields[], failedWith: Verdict['failedWith']): MusicFailure {
  const refusal = readRefusal(body);
  const badCodes = envelopes.flatMap(codesOf).filter(isBadCode);
  const number = badCodes.map(asNumber).find((code) => code !== undefined);
  const words = [...badCodes, failedWith?.word].flatMap((word) =>
    typeof word === 'string' && asNumber(word) === undefined && !isStageWord(word)
      ? [word.slice(0, 100)]
      : [],
  );
  const itemFailure = itemMessage(body);
  if (failedWith === undefined && itemFailure === undefined) return { code: 'nonsense' };
  const message = itemFailure ?? envelopesMessage(envelopes) ?? refusal.message;
  const gatewayCode = words[0] ?? (number === undefined ? undefined : String(number));
  return {
    code: decideCode({
      family: 'music',
      route: 'music/callback',
      number,
      names: [...words, ...refusal.names],
      message,
    }),
    ...(gatewayCode === undefined ? {} : { gatewayCode }),
    ...(message === undefined ? {} : { message }),
  };
}

function envelopesMessage(envelopes: Fields[]): string | undefined {
  for (const fields of [...envelopes].reverse()) {
    const error = fields('errorMessage', 'error', 'failReason');
    const message = asText(isObject(error) ? error.message : error, 500);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Why the single items failed: lyric variants carry their own `errorMessage`. */
function itemMessage(body: unknown): string | undefined {
  for (const { fields, inArray } of objectsIn(body).take(200)) {
    const message = inArray ? asText(fields('errorMessage'), 500) : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}
