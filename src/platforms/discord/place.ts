import { z } from 'zod';
import type { Address } from '../../command.ts';
import { isThread, takesThreads } from './channel-types.ts';
import { DEFAULT_FILE_BYTES, LIMITS } from './limits.ts';
import { mayOpenThreads, missingToAnswer } from './permissions.ts';

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
  /** A message here may have a thread of its own, which the bot may open. */
  threads: z.boolean().optional(),
  /** Permissions that the bot lacked here when it was asked. */
  lacks: z.array(z.string()).optional(),
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

interface AskedAt {
  readonly application_id: string;
  readonly token: string;
  readonly attachment_size_limit?: number | undefined;
  readonly channel?: { readonly type: number } | undefined;
  readonly guild_id?: string | undefined;
  readonly app_permissions?: string | undefined;
}

/** @param receivedAt milliseconds since the epoch */
export function placeOfInteraction(interaction: AskedAt, tokenOnly: boolean, receivedAt: number): Place {
  const { application_id: application, token, channel, app_permissions: granted } = interaction;
  const isMember = interaction.guild_id !== undefined && !tokenOnly;
  const lacks = isMember && channel ? missingToAnswer(granted, isThread(channel.type)) : [];
  const threads = isMember && takesThreads(channel?.type) && mayOpenThreads(granted);
  return {
    interaction: { application, token, expiresAt: receivedAt + LIMITS.interactionMs },
    fileBytes: interaction.attachment_size_limit ?? DEFAULT_FILE_BYTES,
    ...(tokenOnly ? { tokenOnly } : {}),
    ...(threads ? { threads } : {}),
    ...(lacks.length > 0 ? { lacks } : {}),
  };
}
