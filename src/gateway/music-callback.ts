import type { GatewayErrorCode } from './errors.ts';
import type { MusicResult } from './music-result.ts';

export type MusicStage = 'text' | 'first' | 'complete' | 'failed' | 'unknown';

export interface MusicCallback {
  taskId?: string;
  stage: MusicStage;
  result: MusicResult;
  /** Present when `stage` is `failed`. */
  failure?: MusicFailure;
}

export interface MusicFailure {
  code: GatewayErrorCode;
  gatewayCode?: string;
  /** The gateway's own words: escape them before showing them. */
  message?: string;
}

export function readMusicCallback(_body: unknown): MusicCallback {
  return { stage: 'unknown', result: { songs: [], lyrics: [], images: [], stems: [] } };
}
