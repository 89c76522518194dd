import { asNumber, asText, type Fields, lookUp, normalName, objectsIn, type Visit } from './json.ts';
import { holdsSomething } from './music-reading.ts';
import type { MusicResult } from './music-result.ts';
import { isBadCode, isRefusal } from './refusal.ts';

export const MUSIC_STAGES = ['text', 'first', 'complete', 'failed', 'unknown'] as const;
export type MusicStage = (typeof MUSIC_STAGES)[number];

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

/** The objects of a body that speak for the whole of it, outermost first. */
export function envelopesOf(body: unknown): Visit[] {
  return objectsIn(body)
    .filter((visit) => !visit.inArray && WRAPPERS.has(normalName(visit.key)))
    .take(20)
    .toArray();
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

export interface Verdict {
  stage: MusicStage;
  /** Set when the body itself says that the task failed, and with the word it uses. */
  failedWith?: { word?: string };
}

/** How far a task has come, by what its body says and what it holds. */
export function stageOf(body: unknown, envelopes: Visit[], result: MusicResult): Verdict {
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

/** Whether a word only names a stage, as "error" does, and not a cause. */
export function isStageWord(word: string): boolean {
  return Object.hasOwn(STAGE_WORDS, normalName(word));
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
  const stage = lookUp(STAGE_WORDS, word);
  if (stage !== undefined) return stage;
  return field !== 'type' && /(?:failed|error|exception)$/.test(word) ? 'failed' : undefined;
}

/** What an envelope has for codes, good and bad. */
export function codesOf(fields: Fields): unknown[] {
  return [fields('code', 'statusCode'), fields('errorCode')].filter((code) => code !== undefined);
}
