/** Voices saved from songs. */
import { z } from 'zod';
import { actorSchema } from '../moderation.ts';

/** A voice saved for a server. */
export const voiceSchema = z.object({
  personaId: z.string(),
  name: z.string(),
  description: z.string().exactOptional(),
  /** The song it was saved from, as a text for people. */
  savedFrom: z.string().exactOptional(),
  /** The id of the person who created that song. */
  songBy: z.string().exactOptional(),
  /** The audio it was saved from. Each audio yields one voice only (contract, "Limits" 1). */
  audioId: z.string().exactOptional(),
  savedBy: actorSchema,
  /** Milliseconds since the epoch. */
  savedAt: z.number(),
});
export type Voice = Readonly<z.infer<typeof voiceSchema>>;

/** A removed voice that the gateway still has. */
export const removedVoiceSchema = z.object({ personaId: z.string(), audioId: z.string() });
export type RemovedVoice = Readonly<z.infer<typeof removedVoiceSchema>>;
