import type { z } from 'zod';
import { present } from '../../core/util/present.ts';
import type { CallOptions } from '../answers.ts';
import type { RouteName } from '../routes.ts';
import * as json from '../transport/json.ts';
import { checked, type Reply, type Requester, type RequestInput } from '../transport/request.ts';
import { readMusicCallback } from './callback.ts';
import * as requests from './requests.ts';
import { hasResult, type MusicResult } from './results.ts';

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
    generate: route('music/generate', requests.generateRequest, readSubmission),
    extend: route('music/extend', requests.extendRequest, readSubmission),
    generateLyrics: route('music/generate-lyrics', requests.generateLyricsRequest, readSubmission),
    /** Returns the words in the order they are sung. Empty for a take without words. */
    timestampedLyrics: route('music/timestamped-lyrics', requests.timestampedLyricsRequest, readAlignedWords),
    /** Returns the improved style. */
    styleGenerate: route('music/style-generate', requests.styleGenerateRequest, readStyle, {
      plainText: true,
    }),
    generateCover: route('music/generate-cover', requests.generateCoverRequest, readSubmission),
    uploadCover: route('music/upload-cover', requests.uploadCoverRequest, readSubmission),
    uploadExtend: route('music/upload-extend', requests.uploadExtendRequest, readSubmission),
    addVocals: route('music/add-vocals', requests.addVocalsRequest, readSubmission),
    addInstrumental: route('music/add-instrumental', requests.addInstrumentalRequest, readSubmission),
    generatePersona: route('music/generate-persona', requests.generatePersonaRequest, readPersona),
    vocalRemoval: route('music/vocal-removal', requests.vocalRemovalRequest, readSubmission),
    wavGenerate: route('music/wav-generate', requests.wavGenerateRequest, readSubmission),
    mp4Generate: route('music/mp4-generate', requests.mp4GenerateRequest, readSubmission),
  };
}

/**
 * The response of an asynchronous music route, which the contract doesn't show. Both members may be missing, because the
 * callback URL identifies the job.
 */
export interface Submission {
  taskId?: string;
  /** Present if the response already contains the result. */
  result?: MusicResult;
}

/** Usually `{code: 200, msg, data: {taskId}}`. May also be flat, contain the result, or be empty. */
function readSubmission(reply: Reply): Submission {
  const { taskId, stage, result, failure } = readMusicCallback(reply.value);
  if (stage === 'failed' && failure !== undefined && failure.code !== 'nonsense') {
    const { gatewayCode, message } = failure;
    throw reply.refused({ names: gatewayCode === undefined ? [] : [gatewayCode], message });
  }
  return present({ taskId, result: hasResult(result) ? result : undefined });
}

/** One sung word: contract, "Aligned words (timestamped-lyrics response)". Seconds from the start of the song. */
export interface AlignedWord {
  /** Not trimmed. May contain a section tag and line breaks. */
  word: string;
  startSeconds: number;
  endSeconds: number;
}

/** Returns an empty list for a take without words, whose `alignedWords` is empty. */
function readAlignedWords(reply: Reply): AlignedWord[] {
  const list: unknown = json
    .objectsIn(reply.value)
    .map(({ fields }) => fields('alignedWords'))
    .find(Array.isArray);
  const items = json.asList(list).slice(0, 20_000);
  const words = items.flatMap(wordIn);
  if (list === undefined || (items.length > 0 && words.length === 0))
    throw reply.unusable('the response has no aligned words');
  return words.sort((a, b) => a.startSeconds - b.startSeconds);
}

/** The contract doesn't name the member for the text; the public API calls it `word`. */
function wordIn(item: unknown): AlignedWord[] {
  const fields = json.fieldsOf(item);
  const named =
    fields('word', 'text') ?? Object.values(json.objectOf(item)).find((value) => typeof value === 'string');
  const startSeconds = json.asNonNegative(fields('startS'));
  if (typeof named !== 'string' || startSeconds === undefined) return [];
  const endSeconds = Math.max(startSeconds, json.asNonNegative(fields('endS')) ?? 0);
  return [{ word: named.slice(0, 1_000), startSeconds, endSeconds }];
}

/** The contract doesn't show the response of `POST /music/style-generate`; the public API's text is `data.result`. */
function readStyle(reply: Reply): string {
  const named = () =>
    json
      .objectsIn(reply.value)
      .map(({ fields }) => json.asText(fields('result', 'style'), 10_000))
      .find((words) => words !== undefined);
  const style =
    json.asText(reply.value, 10_000) ?? named() ?? json.asText(json.fieldsOf(reply.value)('data'), 10_000);
  if (style === undefined) throw reply.unusable('the response has no style');
  return style;
}

/** The response of `POST /music/generate-persona`: contract, "Persona", which shows only `personaId`. */
export interface Persona {
  personaId: string;
}

function readPersona(reply: Reply): Persona {
  const personaId = json
    .objectsIn(reply.value)
    .map(({ fields }) => json.asId(fields('personaId')))
    .find((id) => id !== undefined);
  if (personaId === undefined) throw reply.unusable('the response has no persona');
  return { personaId };
}
