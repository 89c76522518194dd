import { z } from 'zod';
import type { Address } from '../../command.ts';
import type { Posted } from '../platform.ts';

const standingSchema = z.object({ messages: z.array(z.object({ id: z.string(), channel: z.string() })) });

/** https://docs.discord.com/developers/reference: message links; `@me` stands for direct messages. */
export async function linkTo({ guild }: Address, posted: Posted): Promise<string | undefined> {
  const [first] = standingSchema.safeParse(posted).data?.messages ?? [];
  return first && `https://discord.com/channels/${guild ?? '@me'}/${first.channel}/${first.id}`;
}
