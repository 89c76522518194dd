import { z } from 'zod';
import type { CallOptions } from '../answers.ts';
import type { RouteName } from '../routes.ts';
import * as json from '../transport/json.ts';
import { checked, type Reply, type Requester, type RequestInput } from '../transport/request.ts';
import { readMusicSubmission, readTaskId } from './callback.ts';
import type { MusicKind } from './expected.ts';
import * as requests from './requests.ts';
import { holdsSomething, musicResult } from './results.ts';

/** The fourteen music routes: contract, "Music ({base_url}/music/...)". Every method throws GatewayError only. */
export function createMusic(requester: Requester) {
  const route =
    <Request extends object, Result>(
      name: RouteName,
      schema: z.ZodType<Request>,
      read: (reply: Reply) => Result,
      options: Pick<RequestInput, 'plainText'> = {},
    ) =>
    async (request: Request, { signal }: CallOptions = {}): Promise<Result> =>
      read(await requester.call(name, { body: checked(name, schema, request), signal, ...options }));

  return {
    generate: route('music/generate', requests.generateRequest, readSubmission('songs')),
    extend: route('music/extend', requests.extendRequest, readSubmission('songs')),
    generateLyrics: route('music/generate-lyrics', requests.generateLyricsRequest, readSubmission('lyrics')),
    /** In the order in which they are sung; empty for a take without words. */
    timestampedLyrics: route('music/timestamped-lyrics', requests.timestampedLyricsRequest, readAlignedWords),
    /** The polished style. */
    styleGenerate: route('music/style-generate', requests.styleGenerateRequest, readStyle, {
      plainText: true,
    }),
    generateCover: route('music/generate-cover', requests.generateCoverRequest, readSubmission('images')),
    uploadCover: route('music/upload-cover', requests.uploadCoverRequest, readSubmission('songs')),
    uploadExtend: route('music/upload-extend', requests.uploadExtendRequest, readSubmission('songs')),
    addVocals: route('music/add-vocals', requests.addVocalsRequest, readSubmission('songs')),
    addInstrumental: route(
      'music/add-instrumental',
      requests.addInstrumentalRequest,
      readSubmission('songs'),
    ),
    generatePersona: route('music/generate-persona', requests.generatePersonaRequest, readPersona),
    vocalRemoval: route('music/vocal-removal', requests.vocalRemovalRequest, readSubmission('stems')),
    wavGenerate: route('music/wav-generate', requests.wavGenerateRequest, readSubmission('wav')),
    mp4Generate: route('music/mp4-generate', requests.mp4GenerateRequest, readSubmission('video')),
  };
}

/**
 * What an asynchronous music route answers: contract, "Music", where it is not shown. Both may be missing: the callback
 * URL carries the job.
 */
const submission = json.members({
  taskId: json.maybe(json.id),
  /** When the answer already holds the work. */
  result: json.maybe(musicResult),
});
export type Submission = z.infer<typeof submission>;

/** Usually `{code: 200, msg, data: {taskId}}`; also flat, bare (`"id"`), with the work itself, or empty. */
const readSubmission =
  (kind: MusicKind) =>
  (reply: Reply): Submission => {
    const { value } = reply;
    const { stage, result, failure } = readMusicSubmission(value, kind);
    if (stage === 'failed' && failure !== undefined && failure.code !== 'nonsense') {
      throw reply.refused({
        names: failure.gatewayCode === undefined ? [] : [failure.gatewayCode],
        ...(failure.message === undefined ? {} : { message: failure.message }),
      });
    }
    const data = json.fieldsOf(value)('data', 'result', 'task');
    const taskId =
      readTaskId(value) ??
      json.asText(json.fieldsOf(data)('id', 'jobId')) ??
      json.asText(json.fieldsOf(value)('id', 'jobId')) ??
      bareId(data) ??
      bareId(value);
    return json.usable(reply, submission, { taskId, result: holdsSomething(result) ? result : undefined });
  };

/** An id without a name; a word such as "success" or "accepted" has no digit. */
function bareId(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?=[^\d]*\d)[\w-]{6,128}$/.test(value) ? value : undefined;
}

/** One sung word: contract, "Aligned words (timestamped-lyrics response)". Seconds from the start of the song. */
export const alignedWord = json
  .members({
    /** As it came, not trimmed; may hold a section tag and line breaks. Its name is not shown in the contract. */
    word: z.string().transform((word) => word.slice(0, 1_000)),
    startSeconds: json.notNegative,
    endSeconds: json.maybe(json.notNegative),
  })
  .transform(({ word, startSeconds, endSeconds = startSeconds }) => ({
    word,
    startSeconds,
    endSeconds: Math.max(startSeconds, endSeconds),
  }));
export type AlignedWord = z.infer<typeof alignedWord>;

/** What `POST /music/timestamped-lyrics` returns: contract, "Aligned words". */
const alignedWords = json
  .listOf(alignedWord, 20_000)
  .refine((words) => words.length > 0, 'no aligned words')
  .transform((words) => words.sort((one, other) => one.startSeconds - other.startSeconds));

/** No words for a take in which none are sung: a list under its name, and nothing in it. */
function readAlignedWords(reply: Reply): AlignedWord[] {
  const lists: unknown[][] = [];
  for (const { fields } of json.objectsIn({ data: reply.value })) {
    const named = fields('alignedWords', 'words');
    if (Array.isArray(named)) lists.push(named);
    const found = json.asList(named ?? fields('data'));
    const words = found.length === 0 ? undefined : alignedWords.safeParse(found.map(wordIn));
    if (words?.success === true) return words.data;
  }
  if (lists.length > 0 && lists.every(({ length }) => length === 0)) return [];
  throw reply.unusable('no aligned words');
}

function wordIn(item: unknown): object {
  const fields = json.fieldsOf(item);
  const named = fields('word', 'text', 'lyric', 'token');
  return {
    word: typeof named === 'string' ? named : firstText(item),
    startSeconds: fields('startS', 'start', 'startTime', 'startSeconds') ?? thousandth(fields('startMs')),
    endSeconds: fields('endS', 'end', 'endTime', 'endSeconds') ?? thousandth(fields('endMs')),
  };
}

function thousandth(milliseconds: unknown): number | undefined {
  const number = json.asNumber(milliseconds);
  return number === undefined ? undefined : number / 1000;
}

function firstText(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  return Object.values(item).find((value) => typeof value === 'string' && json.asNumber(value) === undefined);
}

/** What `POST /music/style-generate` returns: not shown in the contract; the public API's text is `data.result`. */
const style = json.text(10_000);

function readStyle(reply: Reply): string {
  const bare = json.asText(reply.value) ?? json.asText(json.fieldsOf(reply.value)('data', 'result'));
  const named = () =>
    json
      .objectsIn(reply.value)
      .map(({ fields }) => json.asText(fields('result', 'style', 'styleText', 'content', 'text', 'tags')))
      .find((words) => words !== undefined);
  return json.usable(reply, style, bare ?? named());
}

/** What `POST /music/generate-persona` returns: contract, "Persona"; its envelope is not shown beyond `personaId`. */
const persona = json.members({
  personaId: json.id,
  name: json.maybe(json.text(1_000)),
  description: json.maybe(json.text(10_000)),
});
export type Persona = z.infer<typeof persona>;

function readPersona(reply: Reply): Persona {
  for (const { fields, key } of json.objectsIn(reply.value)) {
    const personaId =
      json.asText(fields('personaId')) ??
      (/^(?:data|persona|result)$/i.test(key) ? json.asText(fields('id')) : undefined);
    if (personaId === undefined) continue;
    return json.usable(reply, persona, {
      personaId,
      name: fields('name'),
      description: fields('description'),
    });
  }
  return json.usable(reply, persona, {
    personaId: bareId(json.fieldsOf(reply.value)('data', 'persona', 'result')),
  });
}
