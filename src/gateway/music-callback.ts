import { z } from 'zod';
import { decideCode } from './error-table.ts';
import { asNumber, asText, type Fields, isObject, normalName, objectsIn, parseJson } from './json.ts';
import { readMusicResult } from './music-reading.ts';
import { musicResult } from './music-result.ts';
import { codesOf, envelopesOf, isStageWord, MUSIC_STAGES, stageOf, type Verdict } from './music-stage.ts';
import { isBadCode, readRefusal } from './refusal.ts';
import { id, maybe, members, withoutUndefined } from './responses.ts';
import { type TaskFailure, taskFailure } from './task-failure.ts';

/**
 * A call to `callBackUrl`: contract, "Events", and "Music results" for what it brings. The names of its stages and the
 * words for its state are not shown there: `music-stage.ts`.
 */
const musicCallback = members({
  taskId: maybe(id),
  stage: z.enum(MUSIC_STAGES),
  result: musicResult,
  /** Present exactly when `stage` is `failed`. */
  failure: maybe(taskFailure),
});
export type MusicCallback = z.infer<typeof musicCallback>;

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
  const { stage, failedWith } = stageOf(body, envelopes, result);
  return musicCallback.parse({
    taskId: readTaskId(body),
    stage,
    result,
    failure: stage === 'failed' ? failureOf(body, fields, failedWith) : undefined,
  });
}

/** The task that a body belongs to, when it says so. */
export function readTaskId(body: unknown): string | undefined {
  for (const { fields, key } of envelopesOf(body)) {
    const taskId =
      asText(fields('taskId')) ?? (normalName(key) === 'task' ? asText(fields('id')) : undefined);
    if (taskId !== undefined) return taskId;
  }
  for (const { fields } of objectsIn(body).take(500)) {
    const taskId = asText(fields('taskId'));
    if (taskId !== undefined) return taskId;
  }
  return undefined;
}

function failureOf(body: unknown, envelopes: Fields[], failedWith: Verdict['failedWith']): TaskFailure {
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
  return {
    code: decideCode({
      family: 'music',
      route: 'music/callback',
      number,
      names: [...words, ...refusal.names],
      message,
    }),
    ...withoutUndefined({ gatewayCode: words[0] ?? number?.toString(), message }),
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
