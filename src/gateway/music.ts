import type { CallOptions } from './answers.ts';
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
import type { AlignedWord, MusicResult } from './music-result.ts';

export {
  type MusicCallback,
  type MusicFailure,
  type MusicStage,
  readMusicCallback,
} from './music-callback.ts';
export * from './music-limits.ts';
export * from './music-requests.ts';
export type * from './music-result.ts';

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
