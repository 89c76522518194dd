/** Limits of the song routes, checked before anything is spent. */
import type { SongModel } from '../work.ts';

/**
 * Limits that the contract doesn't state ("Limits": not shown), from the public API, using the strictest where sources differ:
 * https://docs.sunoapi.org/suno-api/generate-music (characters),
 * https://docs.sunoapi.org/suno-api/generate-lyrics (words),
 * https://docs.kie.ai/cn/suno-api/generate-persona (seconds),
 * https://docs.sunoapi.org/suno-api/upload-and-cover-audio (seconds).
 */
interface SongModelLimits {
  /** Characters of `prompt` in simple mode. */
  simplePrompt: number;
  /** Characters of `prompt` (the lyrics) in custom mode. */
  customPrompt: number;
  /** Characters of `style`. */
  style: number;
  /** Characters of `title`. */
  title: number;
  /** Uploaded audio for upload-cover, upload-extend, add-vocals and add-instrumental, in seconds. */
  uploadSeconds: number;
}

export const LONGEST_UPLOAD_SECONDS = 480;
const NEWEST: SongModelLimits = {
  simplePrompt: 500,
  customPrompt: 5000,
  style: 1000,
  title: 80,
  uploadSeconds: LONGEST_UPLOAD_SECONDS,
};
const OLDER: ReadonlyMap<SongModel, SongModelLimits> = new Map([
  ['V4', { ...NEWEST, customPrompt: 3000, style: 200 }],
  ['V4_5ALL', { ...NEWEST, uploadSeconds: 60 }],
]);

export function songModelLimits(model: SongModel): SongModelLimits {
  return OLDER.get(model) ?? NEWEST;
}

export const SONG_LIMITS = {
  /** Words in the `prompt` of generate-lyrics. */
  lyricsPromptWords: 200,
  /** Vocal segment of a persona, in seconds. */
  personaSeconds: { shortest: 10, longest: 30, defaultStart: 0, defaultEnd: 30 },
} as const;
