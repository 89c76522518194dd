import { z } from 'zod';

/** Fields that several music routes share, with the bounds of the public API (the contract shows none). */
export const musicModel = z.enum(['V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5'], {
  error: 'must be one of V4, V4_5, V4_5PLUS, V4_5ALL, V5 (V4 or later)',
});
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).max(2048);
export const id = z.string().min(1).max(100);
const share = z.number().min(0).max(1);

/** Optional tuning of the public API; taken, and heard only in the singer's register. */
export const tuning = {
  negativeTags: z.string().max(1000).optional(),
  vocalGender: z.enum(['m', 'f']).optional(),
  styleWeight: share.optional(),
  weirdnessConstraint: share.optional(),
  audioWeight: share.optional(),
} as const;

/** What a song is asked for with, whichever route makes it. */
export const songTexts = {
  prompt: z.string().optional(),
  style: z.string().optional(),
  title: z.string().optional(),
  personaId: id.optional(),
  ...tuning,
} as const;

export type MusicModelName = z.infer<typeof musicModel>;

/** Longest texts by model, in characters. */
export function textLimits(model: MusicModelName): { prompt: number; style: number; title: number } {
  const first = model === 'V4';
  return {
    prompt: first ? 3000 : 5000,
    style: first ? 200 : 1000,
    title: first || model === 'V4_5ALL' ? 80 : 100,
  };
}
/** Longest prompt in simple mode, in characters. */
export const simplePromptLimit = 500;
