import { present } from '../../core/util/present.ts';
import type { TaskFailure } from '../transport/errors.ts';
import * as json from '../transport/json.ts';
import { isBadCode, isRefusal, readRefusal } from '../transport/refusal-body.ts';
import { decideCode } from '../transport/refusals.ts';
import { holdsSomething, type MusicResult, readMusicResult } from './results.ts';

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

/**
 * Reads a body that the gateway sent to `callBackUrl`: JSON text, or its parsed value. Total: it never throws, and takes
 * bounded time and memory. Every shape of https://docs.sunoapi.org is read, nested, flat or bare, in snake and camel case.
 */
export function readMusicCallback(body: unknown): MusicCallback {
  return read(typeof body === 'string' ? json.parseJson(body) : body);
}

/** What was asked, echoed: it holds addresses and texts that are not results. */
const REQUEST_ECHOES = new Set(['param', 'request', 'input']);
/** Keys that hold the rest of the same message: `{code, data: {response: {...}}}`. */
const WRAPPERS = /^(?:|data|response|result|output|payload|body|task|callback|event)$/;

function read(body: unknown): MusicCallback {
  const visits = json.objectsIn(body, REQUEST_ECHOES).toArray();
  /** The objects that speak for the whole of the body, outermost first. */
  const envelopes = visits.filter(({ inArray, key }) => !inArray && WRAPPERS.test(key)).slice(0, 20);
  const result = readMusicResult(visits);
  const { stage, failedWith } = stageOf(body, envelopes, result);
  const failure = stage === 'failed' ? failureOf(body, { visits, envelopes }, failedWith) : undefined;
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
/** A field made for the stage goes before a general one. */
const STAGE_FIELDS = [
  ['callbackType', 'successFlag'],
  ['status', 'state'],
];
const LEAST_FIRST: readonly NamedStage[] = ['pending', 'text', 'first', 'complete'];
/** Results that a route names with null when it has failed: docs.sunoapi.org, wav, mp4, vocal removal, cover. */
const RESULT_FIELDS = new Set(['audiowavurl', 'videourl', 'vocalremovalinfo', 'images', 'vocalurl']);

interface Verdict {
  stage: MusicStage;
  /** Set when the body itself says that the task failed: its word for that, or an empty one. */
  failedWith?: string | undefined;
}

/** How far a task has come, by what its body says and what it holds. */
function stageOf(body: unknown, envelopes: readonly json.Visit[], result: MusicResult): Verdict {
  const { stage, word } = namedStage(envelopes) ?? {};
  if (stage === 'failed') return { stage, failedWith: word };
  if (isRefusal(body) || codesIn(envelopes).some(isBadCode)) return { stage: 'failed', failedWith: '' };
  switch (stage) {
    case undefined:
      return { stage: stageByContent(envelopes, result) };
    case 'text':
    case 'first':
      return { stage };
    case 'complete':
      return { stage: holdsSomething(result) ? 'complete' : 'failed' };
    case 'pending':
      return { stage: result.songs.length > 0 ? songStage(result) : 'pending' };
    default:
      return stage satisfies never;
  }
}

function stageByContent(envelopes: readonly json.Visit[], result: MusicResult): MusicStage {
  const { songs } = result;
  if (songs.length > 0 && songs.every((song) => song.audioUrl === undefined)) return songStage(result);
  if (holdsSomething(result)) return 'complete';
  return saysNothingCame(envelopes) ? 'failed' : 'unknown';
}

function songStage({ songs }: MusicResult): MusicStage {
  return songs.some((song) => song.audioUrl !== undefined || song.streamUrl !== undefined) ? 'first' : 'text';
}

/** A good code together with a result that is null. */
function saysNothingCame(envelopes: readonly json.Visit[]): boolean {
  const isGood = envelopes.some(({ fields }) => json.asNumber(fields('code')) === 200);
  const members = envelopes.flatMap(({ value }) => Object.entries(value).slice(0, 200));
  return (
    isGood &&
    members.some(
      ([name, member]) => RESULT_FIELDS.has(json.normalName(name)) && (member === null || member === ''),
    )
  );
}

/**
 * The word that decides. A failure goes before all; of the others, the earliest stage: an envelope's "success" says only
 * that the message arrived well, as in `{status: "success", data: {status: "TEXT_SUCCESS"}}`.
 */
function namedStage(envelopes: readonly json.Visit[]): { stage: NamedStage; word: string } | undefined {
  const named = STAGE_FIELDS.map((names) =>
    names.flatMap((name) =>
      envelopes.flatMap(({ fields }) => {
        const word = json.asText(fields(name), 100) ?? '';
        const stage = stageNamed(name, json.normalName(word));
        return stage === undefined ? [] : [{ stage, word }];
      }),
    ),
  );
  const failure = named.flat().find(({ stage }) => stage === 'failed');
  const decisive = named.find((words) => words.length > 0) ?? [];
  return (
    failure ?? LEAST_FIRST.map((stage) => decisive.find((each) => each.stage === stage)).find((each) => each)
  );
}

function stageNamed(field: string, word: string): NamedStage | undefined {
  // Cover: 0 pending, 1 done, 2 generating, 3 failed (docs.sunoapi.org/suno-api/get-cover-details).
  if (field === 'successFlag' && /^[0-3]$/.test(word))
    return word === '1' ? 'complete' : word === '3' ? 'failed' : 'pending';
  const isFailure = /(?:failed|error|exception)$/.test(word);
  return json.kindOf(STAGE_WORDS, word) ?? (isFailure ? 'failed' : undefined);
}

/** What envelopes have for codes, good and bad. */
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
  failedWith: Verdict['failedWith'],
): TaskFailure {
  // Why the single items failed: lyric variants carry their own `errorMessage`.
  const itemFailure = firstIn(visits, ({ inArray, fields }) =>
    inArray ? json.asText(fields('errorMessage')) : undefined,
  );
  if (failedWith === undefined && itemFailure === undefined) return { code: 'nonsense' };
  const refusal = readRefusal(body);
  const badCodes = codesIn(envelopes).filter(isBadCode);
  const number = badCodes.map(json.asNumber).find((code) => code !== undefined);
  const words = [...badCodes, failedWith].flatMap((word) =>
    typeof word === 'string' && word !== '' && json.asNumber(word) === undefined && !isStageWord(word)
      ? [word.slice(0, 100)]
      : [],
  );
  const message = (itemFailure ?? envelopesMessage(envelopes) ?? refusal.message)?.slice(0, 500);
  const names = [...words, ...refusal.names];
  return {
    code: decideCode({ family: 'music', route: 'music/callback', number, names, message }),
    ...present({ gatewayCode: words[0] ?? number?.toString(), message }),
  };
}

/** Whether a word only names a stage, as "error" does, and not a cause. */
function isStageWord(word: string): boolean {
  return json.kindOf(STAGE_WORDS, json.normalName(word)) !== undefined;
}

/** The innermost envelope's own words. */
function envelopesMessage(envelopes: readonly json.Visit[]): string | undefined {
  return firstIn(envelopes.toReversed(), ({ fields }) => {
    const error = fields('errorMessage', 'error');
    return json.asText(json.isObject(error) ? error.message : error);
  });
}

/** The names of a body's members with their paths, and never a value: for the operator's log. */
export function keysOf(body: unknown): string[] {
  const names = json.objectsIn(body).flatMap(({ key, value }) =>
    Object.entries(value)
      .slice(0, 50)
      .map(([name, member]) => `${key === '' ? '' : `${key}.`}${name}: ${kindOfValue(member)}`.slice(0, 120)),
  );
  return [...new Set(names.take(200))];
}

function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return json.isObject(value) ? 'object' : json.asHttpUrl(value) === undefined ? typeof value : 'address';
}
