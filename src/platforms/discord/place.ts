import { z } from 'zod';
import type { Address } from '../../command.ts';
import { DEFAULT_FILE_BYTES, LIMITS } from './limits.ts';

/** What this platform keeps in {@link Address.platformData}. */
const placeSchema = z.object({
  interaction: z
    .object({
      application: z.string(),
      token: z.string(),
      /** Milliseconds since the epoch. */
      expiresAt: z.number(),
    })
    .optional(),
  /** The largest file in bytes, as the interaction told. */
  fileBytes: z.number().optional(),
  /** The bot is no member here: only the interaction's token reaches the place. */
  tokenOnly: z.boolean().optional(),
  /** The interaction has another answer already: this goes beside it. */
  beside: z.boolean().optional(),
  /** The message that is answered, for invocations that came by a mention. */
  replyTo: z.string().optional(),
});
export type Place = z.infer<typeof placeSchema>;

export const placeOf = (address: Address): Place =>
  placeSchema.safeParse(address.platformData ?? {}).data ?? {};

export type LiveToken = NonNullable<Place['interaction']>;

/** Requests under way must arrive before Discord closes the token. */
const MARGIN_MS = 20_000;

/** The interaction's token while it lives. */
export function liveToken(place: Place, now: number): LiveToken | undefined {
  return place.interaction && now < place.interaction.expiresAt - MARGIN_MS ? place.interaction : undefined;
}

/** Where something else goes than the answer to the interaction or the message at this address. */
export function beside(address: Address): Address {
  const { replyTo: _, ...data } = address.platformData ?? {};
  return { ...address, platformData: { ...data, beside: true } };
}

/** @param receivedAt milliseconds since the epoch */
export function placeOfInteraction(
  interaction: { application_id: string; token: string; attachment_size_limit?: number | undefined },
  tokenOnly: boolean,
  receivedAt: number,
): Place {
  return {
    interaction: {
      application: interaction.application_id,
      token: interaction.token,
      expiresAt: receivedAt + LIMITS.interactionMs,
    },
    fileBytes: interaction.attachment_size_limit ?? DEFAULT_FILE_BYTES,
    ...(tokenOnly ? { tokenOnly } : {}),
  };
}
