import type { z } from 'zod';
import { asList, asNumber, asText, fieldsOf, objectsIn } from './json.ts';
import { readMusicCallback, readTaskId } from './music-callback.ts';
import { holdsSomething } from './music-reading.ts';
import { type AlignedWord, alignedWord, musicResult } from './music-result.ts';
import type { Reply } from './request.ts';
import { id, listOf, maybe, members, text, usable } from './responses.ts';

/**
 * What an asynchronous music route answers: contract, "Music", where it is not shown. Both may be missing: the callback
 * URL carries the job.
 */
const submission = members({
  taskId: maybe(id),
  /** When the answer already holds the work. */
  result: maybe(musicResult),
});
export type Submission = z.infer<typeof submission>;

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
    asText(fieldsOf(data)('id', 'jobId')) ??
    asText(fieldsOf(value)('id', 'jobId')) ??
    bareId(data) ??
    bareId(value);
  return usable(reply, submission, { taskId, result: holdsSomething(result) ? result : undefined });
}

/** An id without a name; a word such as "success" or "accepted" has no digit. */
function bareId(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?=[^\d]*\d)[\w-]{6,128}$/.test(value) ? value : undefined;
}

/** What `POST /music/timestamped-lyrics` returns: contract, "Aligned words". */
const alignedWords = listOf(alignedWord, 20_000)
  .refine((words) => words.length > 0, 'no aligned words')
  .transform((words) => words.sort((one, other) => one.startSeconds - other.startSeconds));

export function readAlignedWords(reply: Reply): AlignedWord[] {
  for (const { fields } of objectsIn({ data: reply.value })) {
    const found = asList(fields('alignedWords', 'words', 'data'));
    const words = found.length === 0 ? undefined : alignedWords.safeParse(found.map(wordIn));
    if (words?.success === true) return words.data;
  }
  throw reply.unusable('no aligned words');
}

function wordIn(item: unknown): object {
  const fields = fieldsOf(item);
  const named = fields('word', 'text', 'lyric', 'token');
  return {
    word: typeof named === 'string' ? named : firstText(item),
    startSeconds: fields('startS', 'start', 'startTime', 'startSeconds') ?? thousandth(fields('startMs')),
    endSeconds: fields('endS', 'end', 'endTime', 'endSeconds') ?? thousandth(fields('endMs')),
  };
}

function thousandth(milliseconds: unknown): number | undefined {
  const number = asNumber(milliseconds);
  return number === undefined ? undefined : number / 1000;
}

function firstText(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  return Object.values(item).find((value) => typeof value === 'string' && asNumber(value) === undefined);
}

/** What `POST /music/style-generate` returns: not shown in the contract; the public API's text is `data.result`. */
const style = text(10_000);

export function readStyle(reply: Reply): string {
  const bare = asText(reply.value) ?? asText(fieldsOf(reply.value)('data', 'result'));
  const named = () =>
    objectsIn(reply.value)
      .map(({ fields }) => asText(fields('result', 'style', 'styleText', 'content', 'text', 'tags')))
      .find((words) => words !== undefined);
  return usable(reply, style, bare ?? named());
}

/** What `POST /music/generate-persona` returns: contract, "Persona"; its envelope is not shown beyond `personaId`. */
const persona = members({
  personaId: id,
  name: maybe(text(1_000)),
  description: maybe(text(10_000)),
});
export type Persona = z.infer<typeof persona>;

export function readPersona(reply: Reply): Persona {
  for (const { fields, key } of objectsIn(reply.value)) {
    const personaId =
      asText(fields('personaId')) ??
      (/^(?:data|persona|result)$/i.test(key) ? asText(fields('id')) : undefined);
    if (personaId === undefined) continue;
    return usable(reply, persona, {
      personaId,
      name: fields('name'),
      description: fields('description'),
    });
  }
  return usable(reply, persona, {
    personaId: bareId(fieldsOf(reply.value)('data', 'persona', 'result')),
  });
}
