import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { call, type SlackTools } from './client.ts';

const channelSchema = z.object({
  is_private: z.boolean(),
  is_im: z.boolean().optional(),
  is_mpim: z.boolean().optional(),
});

/** Whether everybody in the workspace can read there. Throws the SDK's errors, as where `channels:read` is missing. */
export async function isPublicChannel({ channel }: Address, tools: SlackTools): Promise<boolean> {
  if (!/^[CG]/.test(channel)) return false;
  const answer = await call(() => tools.web.conversations.info({ channel }), { repeatable: true }, tools);
  const { is_private, is_im = false, is_mpim = false } = channelSchema.parse(answer.channel);
  return !is_private && !is_im && !is_mpim;
}
