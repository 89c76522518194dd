import type { z } from 'zod';
import type { CallOptions } from './answers.ts';
import {
  type Persona,
  readAlignedWords,
  readPersona,
  readStyle,
  readSubmission,
  type Submission,
} from './music-answers.ts';
import type {
  AddInstrumentalRequest,
  AddVocalsRequest,
  ExtendRequest,
  GenerateCoverRequest,
  GenerateLyricsRequest,
  GeneratePersonaRequest,
  GenerateRequest,
  Mp4GenerateRequest,
  StyleGenerateRequest,
  TimestampedLyricsRequest,
  UploadCoverRequest,
  UploadExtendRequest,
  VocalRemovalRequest,
  WavGenerateRequest,
} from './music-requests.ts';
import * as requests from './music-requests.ts';
import type { AlignedWord } from './music-result.ts';
import { checked, type Reply, type Requester } from './request.ts';
import type { RouteName } from './routes.ts';

export type { Submission } from './music-answers.ts';
export { type MusicCallback, readMusicCallback } from './music-callback.ts';
export * from './music-limits.ts';
export * from './music-requests.ts';
export type * from './music-result.ts';

/** The fourteen music routes: contract, "Music ({base_url}/music/...)". Every method throws GatewayError only. */
export interface Music {
  generate(request: GenerateRequest, options?: CallOptions): Promise<Submission>;
  extend(request: ExtendRequest, options?: CallOptions): Promise<Submission>;
  generateLyrics(request: GenerateLyricsRequest, options?: CallOptions): Promise<Submission>;
  /** In the order in which they are sung. */
  timestampedLyrics(request: TimestampedLyricsRequest, options?: CallOptions): Promise<AlignedWord[]>;
  /** The polished style. */
  styleGenerate(request: StyleGenerateRequest, options?: CallOptions): Promise<string>;
  generateCover(request: GenerateCoverRequest, options?: CallOptions): Promise<Submission>;
  uploadCover(request: UploadCoverRequest, options?: CallOptions): Promise<Submission>;
  uploadExtend(request: UploadExtendRequest, options?: CallOptions): Promise<Submission>;
  addVocals(request: AddVocalsRequest, options?: CallOptions): Promise<Submission>;
  addInstrumental(request: AddInstrumentalRequest, options?: CallOptions): Promise<Submission>;
  generatePersona(request: GeneratePersonaRequest, options?: CallOptions): Promise<Persona>;
  vocalRemoval(request: VocalRemovalRequest, options?: CallOptions): Promise<Submission>;
  wavGenerate(request: WavGenerateRequest, options?: CallOptions): Promise<Submission>;
  mp4Generate(request: Mp4GenerateRequest, options?: CallOptions): Promise<Submission>;
}

/** The music routes over a requester. */
export function createMusic(requester: Requester): Music {
  const submit =
    <T extends object>(route: RouteName, schema: z.ZodType<T>) =>
    async (request: T, { signal }: CallOptions = {}): Promise<Submission> =>
      readSubmission(await requester.call(route, { body: checked(route, schema, request), signal }));
  const ask =
    <T extends object, R>(route: RouteName, schema: z.ZodType<T>, readAnswer: (reply: Reply) => R) =>
    async (request: T, { signal }: CallOptions = {}): Promise<R> =>
      readAnswer(await requester.call(route, { body: checked(route, schema, request), signal }));

  return {
    generate: submit('music/generate', requests.generateRequest),
    extend: submit('music/extend', requests.extendRequest),
    generateLyrics: submit('music/generate-lyrics', requests.generateLyricsRequest),
    timestampedLyrics: ask('music/timestamped-lyrics', requests.timestampedLyricsRequest, readAlignedWords),
    styleGenerate: ask('music/style-generate', requests.styleGenerateRequest, readStyle),
    generateCover: submit('music/generate-cover', requests.generateCoverRequest),
    uploadCover: submit('music/upload-cover', requests.uploadCoverRequest),
    uploadExtend: submit('music/upload-extend', requests.uploadExtendRequest),
    addVocals: submit('music/add-vocals', requests.addVocalsRequest),
    addInstrumental: submit('music/add-instrumental', requests.addInstrumentalRequest),
    generatePersona: ask('music/generate-persona', requests.generatePersonaRequest, readPersona),
    vocalRemoval: submit('music/vocal-removal', requests.vocalRemovalRequest),
    wavGenerate: submit('music/wav-generate', requests.wavGenerateRequest),
    mp4Generate: submit('music/mp4-generate', requests.mp4GenerateRequest),
  };
}
