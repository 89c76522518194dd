/** What this platform keeps of an address. */
import { z } from 'zod';
import type { Address } from '../../core/invocation.ts';

/** What this platform keeps in {@link Address.platformData}. It is stored: names and meanings must stay. */
const addressDataSchema = z.object({
  /** Expires in milliseconds since the epoch. */
  interaction: z.object({ application: z.string(), token: z.string(), expiresAt: z.number() }).optional(),
  /** The largest file in bytes, as the interaction told. */
  fileBytes: z.number().optional(),
  /** The bot is no member here: only the interaction's token reaches the channel. */
  tokenOnly: z.boolean().optional(),
  /** The interaction has another answer already: this is a further message in its channel. */
  beside: z.boolean().optional(),
  /** A message here may have a thread of its own, which the bot may open. */
  threads: z.boolean().optional(),
  /** Permissions that the bot did not have here when it was asked. */
  lacks: z.array(z.string()).optional(),
  /** The message that is answered, for invocations that came by a mention. */
  replyTo: z.string().optional(),
});
export type AddressData = z.infer<typeof addressDataSchema>;

export const addressDataOf = (address: Address): AddressData =>
  addressDataSchema.safeParse(address.platformData ?? {}).data ?? {};

export type LiveToken = NonNullable<AddressData['interaction']>;

/** Requests that were sent must arrive before Discord closes the token. */
const MARGIN_MS = 20_000;

/** The interaction's token, unless it has expired or is about to. */
export function liveToken({ interaction }: AddressData, now: number): LiveToken | undefined {
  return interaction && now < interaction.expiresAt - MARGIN_MS ? interaction : undefined;
}

/** See Platform.sameChannel: neither the answer to the interaction nor a reply to the message. */
export function sameChannel(address: Address): Address {
  const { replyTo: _, ...data } = address.platformData ?? {};
  return { ...address, platformData: { ...data, beside: true } };
}
