import { asList, asNumber, asText, fieldsOf, objectsIn } from './json.ts';
import { readMusicCallback, readTaskId } from './music-callback.ts';
import { holdsSomething } from './music-reading.ts';
import type { AlignedWord, MusicResult } from './music-result.ts';
import type { Reply } from './request.ts';

/**
 * What an asynchronous music route answered. Both may be missing: the gateway's immediate response is not shown in
 * the contract, and the callback URL carries the job.
 */
export interface Submission {
  taskId?: string;
  /** When the answer already holds the work. */
  result?: MusicResult;
}

export interface Persona {
  personaId: string;
  name?: string;
  description?: string;
}

/** Usually `{code: 200, msg, data: {taskId}}`; also flat, bare (`"id"`), with the work itself, or empty. */
export function readSubmission(reply: Reply): Submission {
  const { value } = reply;
  const { stage, result, failure } = readMusicCallback(value);
  if (stage === 'failed' && failure !== undefined && failure.code !== 'nonsense') {
    throw reply.refused({
      names: failure.gatewayCode === undefined ? [] : [failure.gatewayCode],
      ...(failure.message === undefined ? {} : { message: failure.message }),
    });
  }
  const data = fieldsOf(value)('data', 'result', 'task');
  const taskId =
    readTaskId(value) ??
    asText(fieldsOf(data)('id', 'jobId'), 512) ??
    asText(fieldsOf(value)('id', 'jobId'), 512) ??
    bareId(data) ??
    bareId(value);
  return { ...(taskId === undefined ? {} : { taskId }), ...(holdsSomething(result) ? { result } : {}) };
}

/** An id without a name; a word such as "success" or "accepted" has no digit. */
function bareId(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?=[^\d]*\d)[\w-]{6,128}$/.test(value) ? value : undefined;
}

const MOST_WORDS = 20_000;

/** Contract, "Aligned words": `startS` and `endS`; the name of the word's own field is not shown there. */
export function readAlignedWords(reply: Reply): AlignedWord[] {
  for (const { fields } of objectsIn({ data: reply.value })) {
    const list = asList(fields('alignedWords', 'words', 'data')).slice(0, MOST_WORDS);
    const words = list.flatMap((item) => alignedWord(item) ?? []);
    if (words.length > 0) return words.sort((one, other) => one.startSeconds - other.startSeconds);
  }
  throw reply.unusable('no aligned words');
}

function alignedWord(item: unknown): AlignedWord | undefined {
  const fields = fieldsOf(item);
  const start = secondsOf(fields('startS', 'start', 'startTime', 'startSeconds'), fields('startMs'));
  const end = secondsOf(fields('endS', 'end', 'endTime', 'endSeconds'), fields('endMs'));
  const named = fields('word', 'text', 'lyric', 'token');
  // Not trimmed: spaces and line breaks in it are the lyrics' own.
  const word = typeof named === 'string' ? named : firstText(item);
  if (word === undefined || start === undefined) return undefined;
  return { word: word.slice(0, 1_000), startSeconds: start, endSeconds: Math.max(start, end ?? start) };
}

function secondsOf(seconds: unknown, milliseconds: unknown): number | undefined {
  const thousandths = asNumber(milliseconds);
  const value = asNumber(seconds) ?? (thousandths === undefined ? undefined : thousandths / 1000);
  return value !== undefined && value >= 0 ? value : undefined;
}

function firstText(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  return Object.values(item).find((value) => typeof value === 'string' && asNumber(value) === undefined);
}

/** The response of style-generate is not shown in the contract; the public API's text is `data.result`. */
export function readStyle(reply: Reply): string {
  const bare = asText(reply.value, 10_000) ?? asText(fieldsOf(reply.value)('data', 'result'), 10_000);
  if (bare !== undefined) return bare;
  for (const { fields } of objectsIn(reply.value)) {
    const style = asText(fields('result', 'style', 'styleText', 'content', 'text', 'tags'), 10_000);
    if (style !== undefined) return style;
  }
  throw reply.unusable('no style');
}

/** The envelope of generate-persona is not shown in the contract beyond `personaId`. */
export function readPersona(reply: Reply): Persona {
  for (const { fields, key } of objectsIn(reply.value)) {
    const personaId =
      asText(fields('personaId'), 512) ??
      (/^(?:data|persona|result)$/i.test(key) ? asText(fields('id'), 512) : undefined);
    if (personaId === undefined) continue;
    const name = asText(fields('name'), 1_000);
    const description = asText(fields('description'), 10_000);
    return {
      personaId,
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
    };
  }
  const bare = bareId(fieldsOf(reply.value)('data', 'persona', 'result'));
  if (bare !== undefined) return { personaId: bare };
  throw reply.unusable('no persona id');
}
