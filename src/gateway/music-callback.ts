import { decideCode } from './error-table.ts';
import type { GatewayErrorCode } from './errors.ts';
import {
  asNumber,
  asText,
  type Fields,
  isObject,
  normalName,
  objectsIn,
  parseJson,
  type Visit,
} from './json.ts';
import { holdsSomething, readMusicResult } from './music-reading.ts';
import type { MusicResult } from './music-result.ts';
import { isBadCode, isRefusal, readRefusal } from './refusal.ts';

type MusicStage = 'text' | 'first' | 'complete' | 'failed' | 'unknown';

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

/** Keys under which the same message goes on: `{code, data: {response: {...}}}`. */
const WRAPPERS = new Set([
  '',
  'data',
  'response',
  'result',
  'output',
  'payload',
  'body',
  'task',
  'callback',
  'event',
]);

function envelopesOf(body: unknown): Visit[] {
  return objectsIn(body)
    .filter((visit) => !visit.inArray && WRAPPERS.has(normalName(visit.key)))
    .take(20)
    .toArray();
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

type SaidStage = 'text' | 'first' | 'complete' | 'failed' | 'pending';

/** https://docs.sunoapi.org/suno-api/get-music-generation-details and the callback pages. */
const STAGE_WORDS: Readonly<Record<string, SaidStage>> = {
  text: 'text',
  textsuccess: 'text',
  first: 'first',
  firstsuccess: 'first',
  complete: 'complete',
  completed: 'complete',
  success: 'complete',
  succeeded: 'complete',
  finished: 'complete',
  done: 'complete',
  error: 'failed',
  failed: 'failed',
  fail: 'failed',
  failure: 'failed',
  pending: 'pending',
  queued: 'pending',
  generating: 'pending',
  running: 'pending',
  processing: 'pending',
};
const STAGE_FIELDS = [
  ['callbackType', 'stage', 'successFlag'],
  ['taskStatus', 'status', 'state'],
  ['event'],
  ['type'],
];
const LEAST_FIRST: readonly SaidStage[] = ['pending', 'text', 'first', 'complete'];
/** Results that a route names with null when it has failed: docs.sunoapi.org, wav, mp4, vocal removal, cover. */
const RESULT_FIELDS = new Set(['audiowavurl', 'videourl', 'vocalremovalinfo', 'images', 'vocalurl']);

interface Verdict {
  stage: MusicStage;
  /** Set when the body itself says that the task failed, and with the word it uses. */
  failedWith?: { word?: string };
}

function stageOf(body: unknown, envelopes: Visit[], result: MusicResult): Verdict {
  const said = saidStage(envelopes.map(({ fields }) => fields));
  if (said?.stage === 'failed') return { stage: 'failed', failedWith: { word: said.word } };
  if (isRefusal(body) || envelopes.some(({ fields }) => codesOf(fields).some(isBadCode))) {
    return { stage: 'failed', failedWith: {} };
  }
  if (said === undefined) return { stage: stageByContent(envelopes, result) };
  switch (said.stage) {
    case 'text':
    case 'first':
      return { stage: said.stage };
    case 'complete':
      return { stage: holdsSomething(result) ? 'complete' : 'failed' };
    case 'pending':
      return { stage: songStage(result) };
    default:
      return said.stage satisfies never;
  }
}

function stageByContent(envelopes: Visit[], result: MusicResult): MusicStage {
  if (result.songs.length > 0 && result.songs.every((song) => song.audioUrl === undefined))
    return songStage(result);
  if (holdsSomething(result)) return 'complete';
  return saysNothingCame(envelopes) ? 'failed' : 'unknown';
}

function songStage({ songs }: MusicResult): MusicStage {
  if (songs.some((song) => song.audioUrl !== undefined || song.streamUrl !== undefined)) return 'first';
  return songs.length > 0 ? 'text' : 'unknown';
}

/** A good code beside a result that is null. */
function saysNothingCame(envelopes: Visit[]): boolean {
  const goodCode = envelopes.some(({ fields }) => asNumber(fields('code')) === 200);
  const empty = envelopes.some(({ value }) =>
    Object.entries(value)
      .slice(0, 200)
      .some(([name, member]) => RESULT_FIELDS.has(normalName(name)) && (member === null || member === '')),
  );
  return goodCode && empty;
}

/**
 * The word that decides. A field made for it goes before a general one; among general ones the one that promises
 * least, since an envelope's "success" only says that the message is well: `{status: "success", data: {status:
 * "TEXT_SUCCESS"}}`.
 */
function saidStage(envelopes: Fields[]): { stage: SaidStage; word: string } | undefined {
  const said = STAGE_FIELDS.map((names) =>
    names.flatMap((name) =>
      envelopes.flatMap((fields) => {
        const word = asText(fields(name), 100);
        const stage = word === undefined ? undefined : stageNamed(name, normalName(word));
        return word === undefined || stage === undefined ? [] : [{ stage, word }];
      }),
    ),
  );
  const failure = said.flat().find(({ stage }) => stage === 'failed');
  if (failure !== undefined) return failure;
  const decisive = said.find((words) => words.length > 0) ?? [];
  return decisive.toSorted(
    (one, other) => LEAST_FIRST.indexOf(one.stage) - LEAST_FIRST.indexOf(other.stage),
  )[0];
}

function stageNamed(field: string, word: string): SaidStage | undefined {
  // Cover: 0 pending, 1 done, 2 generating, 3 failed (docs.sunoapi.org/suno-api/get-cover-details).
  if (field === 'successFlag' && /^[0-3]$/.test(word)) {
    return word === '1' ? 'complete' : word === '3' ? 'failed' : 'pending';
  }
  if (Object.hasOwn(STAGE_WORDS, word)) return STAGE_WORDS[word];
  return field !== 'type' && /(?:failed|error|exception)$/.test(word) ? 'failed' : undefined;
}

function codesOf(fields: Fields): unknown[] {
  return [fields('code', 'statusCode'), fields('errorCode')].filter((code) => code !== undefined);
}

function failureOf(body: unknown, envelopes: Fields[], failedWith: Verdict['failedWith']): MusicFailure {
  const refusal = readRefusal(body);
  const badCodes = envelopes.flatMap(codesOf).filter(isBadCode);
  const number = badCodes.map(asNumber).find((code) => code !== undefined);
  const words = [...badCodes, failedWith?.word].flatMap((word) =>
    typeof word === 'string' && asNumber(word) === undefined && !Object.hasOwn(STAGE_WORDS, normalName(word))
      ? [word.slice(0, 100)]
      : [],
  );
  const itemFailure = itemMessage(body);
  const message = itemFailure ?? envelopesMessage(envelopes) ?? refusal.message;
  const says = failedWith !== undefined || itemFailure !== undefined;
  const gatewayCode = words[0] ?? (number === undefined ? undefined : String(number));
  return {
    code: says
      ? decideCode({
          family: 'music',
          route: 'music/callback',
          number,
          names: [...words, ...refusal.names],
          message,
        })
      : 'nonsense',
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
