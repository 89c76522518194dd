/** Discord's part of an address, and the interaction token in it. */
import { z } from 'zod';
import type { Address } from '../../core/invocation.ts';

/** The schema of {@link Address.platformData}. It is stored, so names and meanings must not change. */
const addressDataSchema = z.object({
  /** `expiresAt` is in milliseconds since the epoch. */
  interaction: z.object({ application: z.string(), token: z.string(), expiresAt: z.number() }).optional(),
  /** The largest file that the interaction allows, in bytes. */
  fileBytes: z.number().optional(),
  /** The bot is not a member here: only the interaction's token can write to the channel. */
  tokenOnly: z.boolean().optional(),
  /** Posts a new message in the channel, because the interaction already has its response. */
  beside: z.boolean().optional(),
  /** The bot may open a thread on a message here. */
  threads: z.boolean().optional(),
  /** Permissions that the bot was missing here at the time of the request. */
  missing: z.array(z.string()).optional(),
  /** The message to reply to, for requests made by mention. */
  replyTo: z.string().optional(),
});
export type AddressData = z.infer<typeof addressDataSchema>;

export const addressDataOf = (address: Address): AddressData =>
  addressDataSchema.safeParse(address.platformData ?? {}).data ?? {};

export type LiveToken = NonNullable<AddressData['interaction']>;

/** Leaves requests time to arrive before the token expires. */
const MARGIN_MS = 20_000;

/** Returns the interaction's token, unless it has expired or is about to. */
export function liveToken({ interaction }: AddressData, now: number): LiveToken | undefined {
  return interaction && now < interaction.expiresAt - MARGIN_MS ? interaction : undefined;
}

/** See Platform.sameChannel. Messages there are neither the interaction's response nor a reply. */
export function sameChannel(address: Address): Address {
  const { replyTo: _, ...data } = address.platformData ?? {};
  return { ...address, platformData: { ...data, beside: true } };
}
