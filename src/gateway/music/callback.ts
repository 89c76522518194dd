import { present } from '../../core/util/present.ts';
import type { TaskFailure } from '../transport/errors.ts';
import * as json from '../transport/json.ts';
import { isBadCode, isRefusal, readRefusal } from '../transport/refusal-body.ts';
import { taskFailure } from '../transport/refusals.ts';
import { hasResult, type MusicResult, readMusicResult } from './results.ts';

/** `pending`: the task is running and has no results yet. `unknown`: the body cannot be interpreted. */
type MusicStage = 'pending' | 'text' | 'first' | 'complete' | 'failed' | 'unknown';

/**
 * A call to `callBackUrl`: contract, "Events" and "Music results". The contract doesn't show the words for stages and
 * states; `STAGE_WORDS` has the public API's.
 */
export interface MusicCallback {
  taskId?: string;
  stage: MusicStage;
  result: MusicResult;
  /** Present only if `stage` is `failed`. */
  failure?: TaskFailure;
}

/**
 * Reads a body sent to `callBackUrl`, as JSON text or parsed. Never throws, and uses bounded time and memory. Accepts every
 * shape of https://docs.sunoapi.org: nested, flat or bare, in snake or camel case.
 */
export function readMusicCallback(body: unknown): MusicCallback {
  return read(typeof body === 'string' ? json.parseJson(body) : body);
}

/** Keys of the echoed request, whose URLs and texts are not results. */
const REQUEST_ECHOES = new Set(['param', 'request', 'input']);
/** Keys that wrap the message: `{code, data: {response: {...}}}`. */
const WRAPPERS = /^(?:|data|response|result|output|payload|body|task|callback|event)$/;

function read(body: unknown): MusicCallback {
  const visits = json.objectsIn(body, REQUEST_ECHOES).toArray();
  /** The objects that describe the whole task, outermost first. */
  const envelopes = visits.filter(({ inArray, key }) => !inArray && WRAPPERS.test(key)).slice(0, 20);
  const result = readMusicResult(visits);
  const { stage, failureWord } = stageOf(body, envelopes, result);
  const failure = stage === 'failed' ? failureOf(body, { visits, envelopes }, failureWord) : undefined;
  const taskId = firstIn(visits, ({ fields, key }) =>
    json.asId(fields('taskId') ?? (key === 'task' ? fields('id') : undefined)),
  );
  return present({ taskId, stage, result, failure });
}

function firstIn(
  visits: readonly json.Visit[],
  read: (visit: json.Visit) => string | undefined,
): string | undefined {
  for (const visit of visits) {
    const found = read(visit);
    if (found !== undefined) return found;
  }
  return undefined;
}

type NamedStage = Exclude<MusicStage, 'unknown'>;

/** https://docs.sunoapi.org/suno-api/get-music-generation-details and the callback pages. */
const STAGE_WORDS: Readonly<Record<NamedStage, RegExp>> = {
  pending: /^(?:pending|queued|generating|running|processing)$/,
  text: /^text(?:success)?$/,
  first: /^first(?:success)?$/,
  complete: /^(?:completed?|success|succeeded|finished|done)$/,
  failed: /^(?:error|fail(?:ed|ure)?)$/,
};
/** Fields made for the stage take precedence over general ones. */
const STAGE_FIELDS = [
  ['callbackType', 'successFlag'],
  ['status', 'state'],
];
const STAGE_ORDER: readonly NamedStage[] = ['pending', 'text', 'first', 'complete'];
/** Result fields that are null after a failure: docs.sunoapi.org, wav, mp4, vocal removal, cover. */
const RESULT_FIELDS = new Set([
  'audiowavurl',
  'videourl',
  'vocalremovalinfo',
  'vocalseparationinfo',
  'images',
  'vocalurl',
]);

interface Verdict {
  stage: MusicStage;
  /** Set if the body reports a failure: its word for that, or an empty string. */
  failureWord?: string | undefined;
}

/** Determines the stage of a task from the words, codes and results of a body. */
function stageOf(body: unknown, envelopes: readonly json.Visit[], result: MusicResult): Verdict {
  const { stage, word } = decisiveStage(envelopes) ?? {};
  if (stage === 'failed') return { stage, failureWord: word };
  if (isRefusal(body) || codesIn(envelopes).some(isBadCode)) return { stage: 'failed', failureWord: '' };
  switch (stage) {
    case undefined:
      return { stage: stageByContent(envelopes, result) };
    case 'text':
    case 'first':
      return { stage };
    case 'complete':
      return { stage: hasResult(result) ? 'complete' : 'failed' };
    case 'pending':
      return { stage: result.songs.length > 0 ? songStage(result) : 'pending' };
    default:
      return stage satisfies never;
  }
}

function stageByContent(envelopes: readonly json.Visit[], result: MusicResult): MusicStage {
  const { songs } = result;
  if (songs.length > 0 && songs.every((song) => song.audioUrl === undefined)) return songStage(result);
  if (hasResult(result)) return 'complete';
  return hasEmptyResult(envelopes) ? 'failed' : 'unknown';
}

function songStage({ songs }: MusicResult): MusicStage {
  return songs.some((song) => song.audioUrl !== undefined || song.streamUrl !== undefined) ? 'first' : 'text';
}

/** True if the code reports success and the result is null. */
function hasEmptyResult(envelopes: readonly json.Visit[]): boolean {
  const isGood = envelopes.some(({ fields }) => json.asNumber(fields('code')) === 200);
  const members = envelopes.flatMap(({ members }) => members.slice(0, 200));
  return (
    isGood &&
    members.some(
      ([name, member]) => RESULT_FIELDS.has(json.normalName(name)) && (member === null || member === ''),
    )
  );
}

/**
 * Finds the decisive word. A failure wins, then the earliest stage: an envelope's "success" may only mean that the message
 * is valid, as in `{status: "success", data: {status: "TEXT_SUCCESS"}}`.
 */
function decisiveStage(envelopes: readonly json.Visit[]): { stage: NamedStage; word: string } | undefined {
  const named = STAGE_FIELDS.map((names) =>
    names.flatMap((name) =>
      envelopes.flatMap(({ fields }) => {
        const word = json.asText(fields(name), 100) ?? '';
        const stage = stageOfWord(name, json.normalName(word));
        return stage === undefined ? [] : [{ stage, word }];
      }),
    ),
  );
  const failure = named.flat().find(({ stage }) => stage === 'failed');
  const decisive = named.find((words) => words.length > 0) ?? [];
  return (
    failure ?? STAGE_ORDER.map((stage) => decisive.find((each) => each.stage === stage)).find((each) => each)
  );
}

function stageOfWord(field: string, word: string): NamedStage | undefined {
  // Cover: 0 pending, 1 done, 2 generating, 3 failed (docs.sunoapi.org/suno-api/get-cover-details).
  if (field === 'successFlag' && /^[0-3]$/.test(word))
    return word === '1' ? 'complete' : word === '3' ? 'failed' : 'pending';
  const isFailure = /(?:failed|error|exception)$/.test(word);
  return json.kindOf(STAGE_WORDS, word) ?? (isFailure ? 'failed' : undefined);
}

/** The codes of all envelopes, for success and failure. */
function codesIn(envelopes: readonly json.Visit[]): unknown[] {
  return envelopes
    .flatMap(({ fields }) => [fields('code'), fields('errorCode')])
    .filter((code) => code !== undefined);
}

function failureOf(
  body: unknown,
  {
    visits,
    envelopes,
  }: { readonly visits: readonly json.Visit[]; readonly envelopes: readonly json.Visit[] },
  failureWord: Verdict['failureWord'],
): TaskFailure {
  // Lyric variants have an `errorMessage` each.
  const itemFailure = firstIn(visits, ({ inArray, fields }) =>
    inArray ? json.asText(fields('errorMessage')) : undefined,
  );
  if (failureWord === undefined && itemFailure === undefined) return { code: 'nonsense' };
  const refusal = readRefusal(body);
  const badCodes = codesIn(envelopes).filter(isBadCode);
  const number = badCodes.map(json.asNumber).find((code) => code !== undefined);
  const words = [...badCodes, failureWord].flatMap((word) =>
    typeof word === 'string' && word !== '' && json.asNumber(word) === undefined && !isStageWord(word)
      ? [word.slice(0, 100)]
      : [],
  );
  const message = (itemFailure ?? messageOf(envelopes) ?? refusal.message)?.slice(0, 500);
  const names = [...words, ...refusal.names];
  return taskFailure({ family: 'music', number, names, message });
}

/** True if a word names a stage, such as "error", and not a cause. */
function isStageWord(word: string): boolean {
  return json.kindOf(STAGE_WORDS, json.normalName(word)) !== undefined;
}

/** The error message of the innermost envelope. */
function messageOf(envelopes: readonly json.Visit[]): string | undefined {
  return firstIn(envelopes.toReversed(), ({ fields }) => {
    const error = fields('errorMessage', 'error');
    return json.asText(json.isObject(error) ? error.message : error);
  });
}

/** Lists the paths and types of a body's members, without values, for the log. */
export function keysOf(body: unknown): string[] {
  const names = json
    .objectsIn(body)
    .flatMap(({ key, members }) =>
      members
        .slice(0, 50)
        .map(([name, member]) =>
          `${key === '' ? '' : `${key}.`}${name}: ${kindOfValue(member)}`.slice(0, 120),
        ),
    );
  return [...new Set(names.take(200))];
}

function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return json.isObject(value) ? 'object' : json.asHttpUrl(value) === undefined ? typeof value : 'address';
}
