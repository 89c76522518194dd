import { z } from 'zod';

/** Fields that several music routes share, with the bounds of the public API (the contract shows none). */
const musicModel = z.enum(['V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5'], {
  error: 'must be one of V4, V4_5, V4_5PLUS, V4_5ALL, V5 (V4 or later)',
});
export const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).max(2048);
export const shortId = z.string().min(1).max(100);
const share = z.number().min(0).max(1);

/** Optional tuning of the public API; taken, and heard only in the singer's register. */
export const tuning = {
  vocalGender: z.enum(['m', 'f']).optional(),
  styleWeight: share.optional(),
  weirdnessConstraint: share.optional(),
  audioWeight: share.optional(),
} as const;

export const songFields = {
  model: musicModel,
  callBackUrl: webUrl,
  prompt: z.string().optional(),
  style: z.string().optional(),
  title: z.string().optional(),
  personaId: shortId.optional(),
  negativeTags: z.string().max(1000).optional(),
  ...tuning,
} as const;

/** What every song is asked for with. */
export type SongFields = z.output<z.ZodObject<typeof songFields>>;
