import { decideCode, type TaskFailure } from '../transport/error-table.ts';
import * as json from '../transport/json.ts';
import { isBadCode, isRefusal, readRefusal } from '../transport/refusal.ts';
import { type MusicKind, readExpected } from './expected.ts';
import {
  arePlainSongs,
  holdsSomething,
  type MusicResult,
  readMusicResult,
  readPlainSongs,
} from './results.ts';

/** `pending`: the gateway is at work, and brings nothing yet. `unknown`: the body says nothing that can be read. */
type MusicStage = 'pending' | 'text' | 'first' | 'complete' | 'failed' | 'unknown';

/**
 * A call to `callBackUrl`: contract, "Events", and "Music results" for what it brings. The names of its stages and the
 * words for its state are not shown there: `STAGE_WORDS` has the public API's.
 */
export interface MusicCallback {
  taskId?: string;
  stage: MusicStage;
  result: MusicResult;
  /** Present exactly when `stage` is `failed`. */
  failure?: TaskFailure;
}

/** The longest callback that is read as text, in characters; real ones have a few thousand. */
const LONGEST_CALLBACK = 4 * 1024 * 1024;

/**
 * Reads a body that the gateway sent to `callBackUrl`: JSON text, its parsed value, or anything at all. Total: it
 * never throws, and takes bounded time and memory. The contract shows no callback fields beyond those under "Music
 * results"; every shape of https://docs.sunoapi.org is read, nested, flat or bare, in snake and camel case. `expected` is
 * what the task was asked for: then any address or text that may be it counts.
 */
export function readMusicCallback(body: unknown, expected?: MusicKind): MusicCallback {
  try {
    return read(plain(body), expected);
  } catch {
    // Only values that are no JSON can throw when read: revoked proxies, throwing getters.
    return { stage: 'unknown', result: { songs: [], lyrics: [], images: [], stems: [] } };
  }
}

/** The stage alone, as {@link readMusicCallback} finds it. Songs that are written as documented are not read for it. */
export function readMusicStage(body: string): MusicStage {
  const { stage, items = [] } = readPlainEnvelope(plain(body)) ?? {};
  if (stage !== undefined && arePlainSongs(items)) {
    if (stage !== 'complete' || items.some(({ audio_url }) => json.asHttpUrl(audio_url) !== undefined))
      return stage;
  }
  return readMusicCallback(body).stage;
}

/**
 * Reads the answer of a submission, which may hold the work already; otherwise as {@link readMusicCallback}. What may be the
 * address of the task itself is no work.
 */
export function readMusicSubmission(body: unknown, expected: MusicKind): MusicCallback {
  return read(plain(body), expected, true);
}

function plain(body: unknown): unknown {
  const text =
    body instanceof Uint8Array ? new TextDecoder().decode(body.subarray(0, LONGEST_CALLBACK + 1)) : body;
  if (typeof text !== 'string') return text;
  if (text.length > LONGEST_CALLBACK) return undefined;
  // Some callbacks are the address alone.
  return json.parseJson(text.trim()) ?? (json.asHttpUrl(text) === undefined ? undefined : { url: text });
}

/** As https://docs.sunoapi.org/suno-api/generate-music-callbacks has them, in snake case and whole. */
const PLAIN_BODY = new Set(['code', 'msg']);
const PLAIN_DATA = new Set(['callbackType', 'task_id']);
const ITEMS = new Set(['data']);

/** What is around the songs of a callback that is written as documented, which most are. Undefined for others. */
function readPlainEnvelope(body: unknown) {
  if (!json.isPlain(body, PLAIN_BODY, ITEMS) || body.code !== 200) return undefined;
  const { data } = body;
  if (!json.isPlain(data, PLAIN_DATA, ITEMS) || !Array.isArray(data.data)) return undefined;
  const { callbackType: stage, task_id: task } = data;
  if (stage !== 'text' && stage !== 'first' && stage !== 'complete') return undefined;
  const items: readonly unknown[] = data.data;
  return { stage, task, items } as const;
}

/** What {@link readMusicCallback} finds in a callback with songs that is written as documented. Undefined for others. */
function readPlain(body: unknown): MusicCallback | undefined {
  const { stage, task, items = [] } = readPlainEnvelope(body) ?? {};
  const taskId = json.asText(task);
  const songs = readPlainSongs(items);
  if (stage === undefined || taskId === undefined || songs === undefined) return undefined;
  const result = { songs, lyrics: [], images: [], stems: [] };
  return stage === 'complete' && !holdsSomething(result) ? undefined : { taskId, stage, result };
}

function read(body: unknown, expected: MusicKind | undefined, isSubmission = false): MusicCallback {
  const mayBePlain = !isSubmission && (expected === undefined || expected === 'songs');
  const found = mayBePlain ? readPlain(body) : undefined;
  if (found !== undefined) return found;
  const envelopes = envelopesOf(body);
  const fields = envelopes.map((envelope) => envelope.fields);
  const named = readMusicResult(body);
  const isNamed = expected === undefined || (expected === 'songs' && named.songs.length > 0);
  const result = isNamed ? named : readExpected(body, named, expected, isSubmission);
  const { stage, failedWith } = stageOf(body, envelopes, result);
  const failure = stage === 'failed' ? failureOf(body, fields, failedWith) : undefined;
  return json.withoutUndefined({ taskId: readTaskId(body), stage, result, failure });
}

/** The task that a body belongs to, when it says so. */
export function readTaskId(body: unknown): string | undefined {
  for (const { fields, key } of envelopesOf(body)) {
    const taskId =
      json.asText(fields('taskId')) ??
      (json.normalName(key) === 'task' ? json.asText(fields('id')) : undefined);
    if (taskId !== undefined) return taskId;
  }
  for (const { fields } of json.objectsIn(body).take(500)) {
    const taskId = json.asText(fields('taskId'));
    if (taskId !== undefined) return taskId;
  }
  return undefined;
}

function failureOf(body: unknown, envelopes: json.Fields[], failedWith: Verdict['failedWith']): TaskFailure {
  const refusal = readRefusal(body);
  const badCodes = envelopes.flatMap(codesOf).filter(isBadCode);
  const number = badCodes.map(json.asNumber).find((code) => code !== undefined);
  const words = [...badCodes, failedWith?.word].flatMap((word) =>
    typeof word === 'string' && json.asNumber(word) === undefined && !isStageWord(word)
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
    ...json.withoutUndefined({ gatewayCode: words[0] ?? number?.toString(), message }),
  };
}

function envelopesMessage(envelopes: json.Fields[]): string | undefined {
  for (const fields of [...envelopes].reverse()) {
    const error = fields('errorMessage', 'error', 'failReason');
    const message = json.asText(json.isObject(error) ? error.message : error, 500);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Why the single items failed: lyric variants carry their own `errorMessage`. */
function itemMessage(body: unknown): string | undefined {
  for (const { fields, inArray } of json.objectsIn(body).take(200)) {
    const message = inArray ? json.asText(fields('errorMessage'), 500) : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Keys that hold the rest of the same message: `{code, data: {response: {...}}}`. */
const WRAPPERS = /^(?:|data|response|result|output|payload|body|task|callback|event)$/;

/** The objects of a body that speak for the whole of it, outermost first. */
function envelopesOf(body: unknown): json.Visit[] {
  return json
    .objectsIn(body)
    .filter((visit) => !visit.inArray && WRAPPERS.test(json.normalName(visit.key)))
    .take(20)
    .toArray();
}

type SaidStage = 'text' | 'first' | 'complete' | 'failed' | 'pending';

/** https://docs.sunoapi.org/suno-api/get-music-generation-details and the callback pages. */
const STAGE_WORDS: Readonly<Record<SaidStage, RegExp>> = {
  pending: /^(?:pending|queued|generating|running|processing)$/,
  text: /^text(?:success)?$/,
  first: /^first(?:success)?$/,
  complete: /^(?:completed?|success|succeeded|finished|done)$/,
  failed: /^(?:error|fail(?:ed|ure)?)$/,
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

/** How far a task has come, by what its body says and what it holds. */
function stageOf(body: unknown, envelopes: json.Visit[], result: MusicResult): Verdict {
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
      return { stage: result.songs.length > 0 ? songStage(result) : 'pending' };
    default:
      return said.stage satisfies never;
  }
}

function stageByContent(envelopes: json.Visit[], result: MusicResult): MusicStage {
  if (result.songs.length > 0 && result.songs.every((song) => song.audioUrl === undefined))
    return songStage(result);
  if (holdsSomething(result)) return 'complete';
  return saysNothingCame(envelopes) ? 'failed' : 'unknown';
}

function songStage({ songs }: MusicResult): MusicStage {
  if (songs.some((song) => song.audioUrl !== undefined || song.streamUrl !== undefined)) return 'first';
  return songs.length > 0 ? 'text' : 'unknown';
}

/** Whether a word only names a stage, as "error" does, and not a cause. */
function isStageWord(word: string): boolean {
  return json.kindOf(STAGE_WORDS, json.normalName(word)) !== undefined;
}

/** A good code together with a result that is null. */
function saysNothingCame(envelopes: json.Visit[]): boolean {
  const goodCode = envelopes.some(({ fields }) => json.asNumber(fields('code')) === 200);
  const empty = envelopes.some(({ value }) =>
    Object.entries(value)
      .slice(0, 200)
      .some(
        ([name, member]) => RESULT_FIELDS.has(json.normalName(name)) && (member === null || member === ''),
      ),
  );
  return goodCode && empty;
}

/**
 * The word that decides. A field made for it goes before a general one. Among general ones the earliest stage wins: an
 * envelope's "success" says only that the message arrived well, as in `{status: "success", data: {status: "TEXT_SUCCESS"}}`.
 */
function saidStage(envelopes: json.Fields[]): { stage: SaidStage; word: string } | undefined {
  const said = STAGE_FIELDS.map((names) =>
    names.flatMap((name) =>
      envelopes.flatMap((fields) => {
        const word = json.asText(fields(name), 100);
        const stage = word === undefined ? undefined : stageNamed(name, json.normalName(word));
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
  const stage = json.kindOf(STAGE_WORDS, word);
  if (stage !== undefined) return stage;
  return field !== 'type' && /(?:failed|error|exception)$/.test(word) ? 'failed' : undefined;
}

/** What an envelope has for codes, good and bad. */
function codesOf(fields: json.Fields): unknown[] {
  return [fields('code', 'statusCode'), fields('errorCode')].filter((code) => code !== undefined);
}
